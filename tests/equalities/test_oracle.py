"""The oracle itself: its vocabulary is fit for it, its postings are those of the index, its numbers are hand-worked."""

from itertools import product

import pytest
from hypothesis import given

from shards import impacts
from shards.analyzer import analyze_query, name_key, terms_of
from shards.record import Access, Kind, Record
from shards.scope import Scope
from tests.depth import examples
from tests.oracle import Asked, Mentioned, Mix, Oracle, fits_any, postings_of, squeezed, terms_asked, tokens_in, worth
from tests.worlds import (
    NAMESPACES,
    SENTINEL_WORD,
    UNKNOWN_WORD,
    WIDE,
    WORDS,
    Question,
    World,
    questions,
    worlds,
)


def test_analysis_is_the_identity_on_the_vocabulary() -> None:
    alone = [*WORDS, UNKNOWN_WORD, SENTINEL_WORD, *(part for text in NAMESPACES for part in text.split("/"))]
    joined = [one + two for one, two in product(WORDS, repeat=2)]
    assert [terms_of(word) for word in alone + joined] == [(word,) for word in alone + joined]


@pytest.mark.parametrize("text", ["dapo veku", "dapo_veku", "dapo_dapo, molo", "srv/one", "_dapo_", "hutu_jomo_peku"])
def test_identifiers_part_and_keep_their_joined_form_in_the_order_of_the_analyzer(text: str) -> None:
    assert tuple(tokens_in(text)) == terms_of(text)


@examples(100)
@given(questions())
def test_questions_are_read_as_the_analyzer_reads_them(question: Question) -> None:
    assert list(analyze_query(question.text).terms) == terms_asked(question.text)


@examples(100)
@given(worlds(max_size=5))
def test_postings_equal_those_of_the_index_for_every_field(world: World) -> None:
    for record in world.records:
        assert postings_of(record) == impacts.postings_of(record)


def test_names_meet_under_the_same_keys_as_in_the_index() -> None:
    names = ["dapo veku", "dapo_veku", "Dapo-Veku", "dapoveku", "dapo"]
    assert {squeezed(one) == squeezed(two) for one, two in product(names[:4], repeat=2)} == {True}
    for one, two in product(names, repeat=2):
        assert (squeezed(one) == squeezed(two)) == (name_key(one) == name_key(two))


def test_worth_is_worked_by_hand() -> None:
    # 3 records, 1 holds it: ln(1 + 2.5/1.5) = 0.98083; · 128 = 125.5
    assert worth(3, 1, 256) == 126
    assert worth(3, 1, 128) == 63
    assert worth(3, 0, 256) == 0
    assert worth(3, 3, 1) == 1  # ln(1 + 0.5/3.5) · 128 / 256 = 0.067: never below 1 for a term that is held


def tool(name: str, number: int, text: str = "", capability: str = "") -> Record:
    return Record(
        id=f"r{number}",
        kind=Kind.TOOL,
        name=name,
        namespace="",
        description=text,
        access=Access(tenant="*"),
        capability=capability,
    )


def test_a_verdict_is_worked_by_hand() -> None:
    records = [tool("dapo", 1), tool("veku", 2, "dapo"), tool("veku", 3, capability="goli")]
    oracle = Oracle(records, {})
    mentions = [Mentioned(field="name", key="Dapo", bonus=7), Mentioned(field="capability", key="goli", bonus=5)]
    asked = Asked(terms=["dapo"], weights=[256], mentions=mentions, mix=Mix(impact=1, name=0, presence=10))
    verdict = oracle.judge(Scope(grants=(WIDE,)), asked)
    impact = {record.id: postings_of(record)["dapo"][0] for record in records[:2]}
    weight = 60  # ln(1 + 1.5/2.5) = 0.47; · 128 = 60.16
    assert verdict.frequencies == (2,)
    assert verdict.ranking == (
        ("r1", 7 + weight * (impact["r1"] + 10)),
        ("r2", weight * (impact["r2"] + 10)),
        ("r3", 5),
    )


def test_namespace_patterns_are_exact_or_a_prefix_with_a_star() -> None:
    assert fits_any({"srv"}, "srv")
    assert not fits_any({"srv"}, "srv/one")
    assert fits_any({"srv*"}, "srv")
    assert not fits_any({"srv/*"}, "srv")
    assert fits_any({"*"}, "")
    assert not fits_any((), "srv")
