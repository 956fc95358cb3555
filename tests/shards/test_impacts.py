"""Static values: hand-worked numbers, ranges, and independence from everything but the record itself."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.impacts import (
    ACTION,
    CONCEPT_SHARE,
    EXAMPLE,
    LABEL,
    LONGEST_RECORD,
    NAME,
    NAMESPACE,
    PROPERTY_NAMES,
    RECORD,
    RECORD_TERMS,
    SATURATION,
    SUMMARY,
    postings_of,
)
from shards.record import Access, Kind, Record


def _record(**values: object) -> Record:
    base = Record(id="t", kind=Kind.TOOL, name="?", namespace="", description="", access=Access(tenant="*"))
    return replace(base, **values)


def _impact(weighted: float, words: int) -> int:
    weighted *= RECORD.occurrence(words)
    return round(255 * weighted / (weighted + SATURATION))


def test_a_name_of_usual_length_gives_its_weight_and_a_share_of_the_name() -> None:
    values = postings_of(_record(name="one two three four five"))
    assert values["one"] == (_impact(NAME.weight, words=5), 51)
    assert set(values) == {"one", "two", "three", "four", "five"}


def test_a_term_in_two_fields_adds_up_before_it_saturates() -> None:
    values = postings_of(_record(name="invoice", description="invoice"))
    name = NAME.weight / (1 - NAME.slope + NAME.slope / NAME.usual_length)
    summary = SUMMARY.weight / (1 - SUMMARY.slope + SUMMARY.slope / SUMMARY.usual_length)
    assert values["invoic"] == (_impact(name + summary, words=2), 255)
    assert values["≈invoice"] == (_impact(CONCEPT_SHARE * (name + summary), words=2), 0)


def test_the_best_alias_decides_how_much_of_a_name_a_term_is() -> None:
    values = postings_of(_record(name="create new invoice document", aliases=("invoice maker",)))
    assert values["invoic"][1] == 128
    assert values["document"][1] == 64


def test_namespace_tags_capability_domain_and_examples_are_indexed() -> None:
    record = _record(
        name="x1", namespace="acme/billing-eu", tags=("فاکتور",), keywords=("tax",), capability="send_email",
        domain="finance", examples=("pay my bill",), section="Refunds",
    )  # fmt: skip
    values = postings_of(record)
    assert {"acm", "bill", "eu", "billingeu", "فاکتور", "tax", "send", "email", "financ", "pay", "refund"} <= set(
        values
    )
    assert values["acm"][1] == 0
    assert values["financ"][0] == _impact(LABEL.occurrence(1), words=14)
    assert {"≈invoice", "≈tax", "≈email", "≈finance", "≈payment"} <= set(values)


def test_of_several_examples_a_term_counts_in_the_best_and_the_longest_makes_the_length() -> None:
    two = postings_of(_record(name="x1", examples=("bill", "pay my bill in town")))
    one = postings_of(_record(name="x1", examples=("bill",)))
    assert two["bill"][0] == _impact(EXAMPLE.occurrence(1), words=1 + 3)
    assert one["bill"][0] == _impact(EXAMPLE.occurrence(1), words=1 + 1)
    assert {"pay", "town", "→create"} & set(two) == {"pay", "town"}
    assert "→delete" in postings_of(_record(name="x1", examples=("erase all",)))


def test_more_aliases_do_not_make_a_record_more_about_their_common_word() -> None:
    one = postings_of(_record(name="x1", aliases=("pay bill",)))
    three = postings_of(_record(name="x1", aliases=("pay bill", "bill payer", "settle bill")))
    assert three["bill"] == one["bill"]


def test_concepts_of_the_detail_and_of_parameters_are_not_indexed() -> None:
    schema = {"properties": {"invoice": {"description": "An invoice"}}}
    record = _record(name="x1", description="Does a thing for all of us here. It may need an invoice.")
    values = postings_of(replace(record, parameters=orjson.dumps(schema).decode()))
    assert "invoic" in values
    assert "≈invoice" not in values


def test_parameters_count_less_than_the_name_and_stop_words_in_them_not_at_all() -> None:
    schema = {"properties": {"currency": {"description": "The code of the currency", "enum": ["EUR"]}}}
    values = postings_of(_record(name="pay", parameters=orjson.dumps(schema).decode()))
    assert {"pay", "currenc", "code", "eur"} <= set(values)
    assert "the" not in values
    assert PROPERTY_NAMES.weight < NAMESPACE.weight < NAME.weight
    assert values["code"][0] < values["pay"][0]


def test_the_name_and_the_opening_of_the_summary_say_the_action() -> None:
    assert postings_of(_record(name="DescribeRooms"))["→read"] == (_impact(ACTION, words=3), 0)
    assert "→delete" in postings_of(_record(name="rooms", description="Removes a room."))
    assert "→delete" not in postings_of(_record(name="rooms", description="Lists what you may later remove."))


def test_a_record_that_speaks_of_much_is_less_about_each_word_up_to_a_limit() -> None:
    def zebra(examples: int) -> int:
        return postings_of(_record(name="zebra", examples=("stripe " * examples,)))["zebra"][0]

    assert zebra(0) > zebra(LONGEST_RECORD // 2) > zebra(LONGEST_RECORD) == zebra(5 * LONGEST_RECORD)


def test_of_too_many_terms_the_weightiest_stay_and_ties_go_by_term() -> None:
    words = sorted(f"zq{number:05}" for number in range(RECORD_TERMS + 500))
    values = postings_of(_record(name="invoice", description="Invoice. " + " ".join(words)))
    assert len(values) == RECORD_TERMS
    assert "invoic" in values
    assert values["invoic"][1] == 255
    assert [term for term in values if term.startswith("zq")] == words[: len(values) - len({"invoic", "≈invoice"})]


def test_a_record_of_signs_only_has_no_terms() -> None:
    assert postings_of(_record(name="🙂")) == {}


@pytest.mark.parametrize("field", ["id", "product", "locale", "release", "source_url"])
def test_fields_outside_the_text_hash_change_nothing(field: str) -> None:
    record = _record(name="list rooms", description="Lists rooms.")
    assert postings_of(replace(record, **{field: "zebra"})) == postings_of(record)


_texts = st.text(max_size=60)


@given(name=_texts, description=_texts, namespace=_texts, tags=st.lists(_texts, max_size=3), parameters=_texts)
def test_channels_stay_in_range_and_a_name_share_needs_a_name(
    name: str, description: str, namespace: str, tags: list[str], parameters: str
) -> None:
    record = _record(
        name=name or "?", description=description, namespace=namespace, tags=tuple(tags), parameters=parameters
    )
    for impact, share in postings_of(record).values():
        assert 1 <= impact <= 255
        assert 0 <= share <= 255
    assert all(share == 0 for _, share in postings_of(replace(record, name="?")).values())
