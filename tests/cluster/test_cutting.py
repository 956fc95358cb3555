"""Records cut at their boundaries: what stays, what the answer says of the rest, and that no ceiling is ever broken."""

import time
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from cluster.budget import Budget
from cluster.contract import Cut, EvidenceForm
from cluster.cutting import LEAST_TEXT_TOKENS, SUMMARY_TOKENS, cut_of
from cluster.evidence import assemble, evidence_cost, piece_of
from cluster.schema_cut import MOST_NEEDED, MOST_PROPERTIES, cut_schema, parts_of
from cluster.text_cut import cut_text
from cluster.tokens import ESTIMATE, estimate_tokens
from shards.record import Kind, Record
from tests.cluster.rig import tool

PLENTY = 10**9
SENTENCES = "Moves money between accounts. " * 12


def property_of(words: int) -> dict[str, object]:
    return {"type": "string", "description": "word " * words}


SCHEMA: dict[str, Any] = {
    "$defs": {
        "Amount": {"type": "object", "properties": {"currency": {"$ref": "#/$defs/Currency"}}},
        "Currency": {"enum": ["EUR", "USD"]},
        "Unused": property_of(300),
    },
    "additionalProperties": False,
    "properties": {
        "amount": {"$ref": "#/$defs/Amount"},
        "essay": property_of(900),
        "note": property_of(20),
        "target": property_of(10),
        "twin": {"$ref": "#/properties/essay"},
    },
    "required": ["target", "amount"],
    "type": "object",
}


def transfer(schema: dict[str, Any] = SCHEMA, description: str = SENTENCES) -> Record:
    parameters = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()
    return tool("bank:transfer", "transfer", description, parameters=parameters)


def passage(text: str) -> Record:
    return Record(
        id="kb:refunds#1",
        kind=Kind.PASSAGE,
        name="Refunds",
        namespace="kb",
        description=text,
        source_url="https://example.com/refunds",
        section="Billing",
        access=tool("t", "x").access,
    )


def cut(record: Record, tokens: int, json_bytes: int = PLENTY) -> tuple[Cut, dict[str, Any]] | None:
    found = cut_of(piece_of(record.to_json()), tokens, json_bytes, ESTIMATE)
    return None if found is None else (found, orjson.loads(found.form.json))


def budget(tokens: int, json_bytes: int = 2**20, k: int = 10) -> Budget:
    return Budget(
        candidate_k=100, rerank_k=100, evidence_k=k, evidence_tokens=tokens, evidence_bytes=json_bytes, timeout_ms=1
    )


def test_required_properties_come_first_and_whole_with_the_definitions_they_need() -> None:
    found = cut(transfer(), 260)
    assert found is not None
    schema = found[1]["parameters"]
    # The essay is too long and leaves its place to the note.
    assert set(schema["properties"]) == {"target", "amount", "note"}
    assert schema["properties"]["target"] == SCHEMA["properties"]["target"]
    assert set(schema["$defs"]) == {"Amount", "Currency"}
    assert found[0].properties_left_out == 2


def test_a_cut_schema_is_valid_says_what_is_required_and_closes_nothing() -> None:
    found = cut(transfer(), 200)
    assert found is not None
    schema = found[1]["parameters"]
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == SCHEMA["required"]
    assert "additionalProperties" not in schema
    # A call that the whole schema takes is one that the cut takes.
    Draft202012Validator(schema).validate({"target": "x", "amount": {"currency": "EUR"}, "essay": "y"})


def test_a_property_that_refers_to_one_that_may_be_missing_is_left_out_with_it() -> None:
    parts = parts_of(SCHEMA, estimate_tokens)
    assert parts is not None
    assert [one.name for one in parts.properties] == ["target", "amount", "essay", "note"]
    assert parts.total == 5


def test_a_schema_without_properties_has_no_boundary_to_be_cut_at() -> None:
    for schema in ({"type": "object"}, {"properties": {}}, {"properties": [1]}, {"oneOf": [{}, {}]}):
        assert parts_of(schema, estimate_tokens) is None
    found = cut(transfer({"oneOf": [SCHEMA, SCHEMA]}), 200)
    assert found is not None
    assert "parameters" not in found[1]


def test_a_description_gets_the_room_that_properties_leave() -> None:
    description = "One sentence more. " * 100
    short, long = (cut(transfer(SCHEMA, description), tokens) for tokens in (220, 500))
    assert short is not None
    assert long is not None
    assert len(long[1]["parameters"]["properties"]) == 3
    assert estimate_tokens(long[1]["description"]) > SUMMARY_TOKENS[Kind.TOOL]
    assert len(long[1]["description"]) > len(short[1]["description"])
    assert long[1]["description"].endswith("sentence more.")


def test_a_passage_keeps_title_and_source_and_ends_at_a_paragraph() -> None:
    text = "First paragraph, which is longer than the second one is.\n\nSecond one. It goes on. " + "And on " * 400
    found = cut(passage(text), 55)
    assert found is not None
    view = found[1]
    assert (view["title"], view["source_url"], view["section"]) == ("Refunds", "https://example.com/refunds", "Billing")
    assert view["text"] == "First paragraph, which is longer than the second one is."
    assert view["search_text_hash"] == passage(text).search_text_hash


def test_a_full_stop_inside_of_a_word_ends_no_sentence() -> None:
    text = "See all of the docs right here. Go to a.com and look"
    assert cut_text(text, 11, estimate_tokens) == "See all of the docs right here."
    assert cut_text("价格是多少。请查询余额和汇率并回答", 8, estimate_tokens) == "价格是多少。"


def test_what_is_too_short_to_say_anything_is_no_cut() -> None:
    head = evidence_cost(orjson.loads(passage("").to_json()))
    text = "words " * 100
    assert cut(passage(text), head + LEAST_TEXT_TOKENS) is None
    assert cut(passage(text), head + LEAST_TEXT_TOKENS + 4) is not None
    assert cut(transfer(), 5) is None


def test_the_tokens_of_a_cut_are_those_of_its_fields() -> None:
    found = cut(transfer(), 260)
    assert found is not None
    fields = {"source_url": "", "section": ""} | found[1]
    parameters = orjson.dumps(fields["parameters"], option=orjson.OPT_SORT_KEYS).decode()
    assert found[0].form.tokens == evidence_cost(fields | {"parameters": parameters}) <= 260


@pytest.mark.parametrize("json_bytes", [400, 700, 1500])
def test_bytes_bound_a_cut_as_tokens_do(json_bytes: int) -> None:
    found = cut(transfer(), PLENTY, json_bytes)
    assert found is not None
    assert len(found[0].form.json) <= json_bytes


def test_what_is_left_of_the_tokens_becomes_parts_of_the_first_record_that_is_not_whole() -> None:
    pieces = [piece_of(transfer().to_json()), *[piece_of(tool(f"t{n}", "send", "Sends.").to_json()) for n in range(9)]]
    evidence = assemble(dict(enumerate(pieces)), (), budget(400))
    assert list(evidence.forms.values()) == [EvidenceForm.CUT, *[EvidenceForm.FULL] * 9]
    assert evidence.tokens == evidence.cuts[0].form.tokens + sum(piece.full.tokens for piece in pieces[1:]) <= 400
    assert evidence.dropped_tokens == pieces[0].full.tokens - evidence.cuts[0].form.tokens > 0
    assert evidence.dropped == 0


def test_where_schemas_are_loaded_as_needed_later_hits_stay_summaries() -> None:
    pieces = {rank: piece_of(replace(transfer(), id=f"t{rank}").to_json()) for rank in range(3)}
    evidence = assemble(pieces, (), budget(900), full_hits=1)
    assert list(evidence.forms.values()) == [EvidenceForm.CUT, EvidenceForm.SUMMARY, EvidenceForm.SUMMARY]


def test_a_passage_too_long_for_any_summary_is_cut_rather_than_dropped() -> None:
    pieces = {0: piece_of(passage("A sentence of a passage. " * 100).to_json())}
    evidence = assemble(pieces, (), budget(90))
    assert evidence.forms == {0: EvidenceForm.CUT}
    assert evidence.dropped == 0
    assert orjson.loads(evidence.cuts[0].form.json)["text"].endswith("passage.")


texts = st.lists(
    st.sampled_from(["word", "one two.", "three\n\n", "查询余额。", "سند جدید", "{}[]", "1.5", "\n"]), max_size=120
).map(" ".join)
schemas = st.recursive(
    st.builds(lambda text: {"type": "string", "description": text}, texts) | st.just({"$ref": "#/$defs/d0"}),
    lambda inner: st.builds(
        lambda held: {"type": "object", "properties": held}, st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=6,
)
roots = st.builds(
    lambda properties, required, definition: {
        "$defs": {"d0": definition},
        "properties": properties,
        "required": sorted(required),
        "type": "object",
    },
    st.dictionaries(st.sampled_from("abcdefgh"), schemas, max_size=8),
    st.sets(st.sampled_from("abcdefgh"), max_size=3),
    schemas,
)
records = st.one_of(st.builds(transfer, roots, texts), st.builds(passage, texts))


@given(record=records, tokens=st.integers(0, 800), json_bytes=st.integers(0, 3000))
def test_no_cut_breaks_a_ceiling_or_a_schema(record: Record, tokens: int, json_bytes: int) -> None:
    found = cut(record, tokens, json_bytes)
    if found is None:
        return
    assert found[0].form.tokens <= tokens
    assert len(found[0].form.json) <= json_bytes
    whole = orjson.loads(piece_of(record.to_json()).full.json)
    text_key = "text" if record.kind is Kind.PASSAGE else "description"
    assert whole[text_key].startswith(found[1][text_key])
    if "parameters" in found[1]:
        schema = found[1]["parameters"]
        Draft202012Validator.check_schema(schema)
        assert schema["properties"].items() <= whole["parameters"]["properties"].items()
        assert found[0].properties_left_out == len(whole["parameters"]["properties"]) - len(schema["properties"])
        if '"$ref"' in orjson.dumps(schema["properties"]).decode():
            assert "d0" in schema["$defs"]
    same = {text_key, "parameters"}
    assert {key: value for key, value in found[1].items() if key not in same} == {
        key: value for key, value in whole.items() if key not in same
    }


@given(
    held=st.lists(records, min_size=1, max_size=6),
    ceilings=st.builds(budget, st.integers(1, 1200), st.integers(1, 6000), st.integers(1, 6)),
    full_hits=st.none() | st.integers(0, 3),
    pinned=st.sets(st.integers(0, 5)),
)
def test_evidence_never_exceeds_its_ceilings_and_accounts_for_every_token(
    held: list[Record], ceilings: Budget, full_hits: int | None, pinned: set[int]
) -> None:
    pieces = {rank: piece_of(record.to_json()) for rank, record in enumerate(held)}
    evidence = assemble(pieces, pinned, ceilings, full_hits=full_hits)
    forms = [
        evidence.cuts[rank].form
        if form is EvidenceForm.CUT
        else (pieces[rank].full if form is EvidenceForm.FULL else pieces[rank].summary)
        for rank, form in evidence.forms.items()
    ]
    assert evidence.tokens == sum(form.tokens for form in forms) <= ceilings.evidence_tokens
    assert evidence.json_bytes == sum(len(form.json) for form in forms) <= ceilings.evidence_bytes
    assert len(forms) <= ceilings.evidence_k
    assert evidence.dropped == len(held) - len(forms)
    assert evidence.dropped_tokens == sum(piece.full.tokens for piece in pieces.values()) - evidence.tokens
    assert set(evidence.cuts) == {rank for rank, form in evidence.forms.items() if form is EvidenceForm.CUT}


def test_properties_too_long_together_are_counted_before_they_are_shown() -> None:
    parts = parts_of(SCHEMA, estimate_tokens)
    assert parts is not None
    for limit in range(0, 300, 7):
        found = cut_schema(parts, limit, estimate_tokens)
        assert found is None or estimate_tokens(found[0].decode()) == found[1] <= limit


def defined(properties: int, definitions: int, step: int) -> dict[str, Any]:
    """Properties that refer to one definition each, and definitions that refer to the next ``step`` in a ring."""
    refers = [
        [{"$ref": f"#/$defs/d{(one + more) % definitions}"} for more in range(1, step + 1)]
        for one in range(definitions)
    ]
    return {
        "$defs": {f"d{one}": {"anyOf": refers[one]} for one in range(definitions)},
        "properties": {f"p{one}": {"$ref": f"#/$defs/d{one % definitions}"} for one in range(properties)},
        "type": "object",
    }


def test_definitions_in_a_ring_are_all_behind_each_property_that_refers_to_one() -> None:
    parts = parts_of(defined(4, MOST_NEEDED, 2), estimate_tokens)
    assert parts is not None
    assert [len(one.needs) for one in parts.properties] == [MOST_NEEDED] * 4
    too_many = parts_of(defined(4, MOST_NEEDED + 1, 2), estimate_tokens)
    assert too_many is not None
    assert (too_many.properties, too_many.total) == ((), 4)
    assert cut_schema(too_many, PLENTY, estimate_tokens) is None


@pytest.mark.parametrize(
    "schema",
    [
        defined(3000, 3000, 1),
        {
            "$defs": {"Big": {"enum": list(range(40_000))}},
            "properties": {f"p{one}": {"$ref": "#/$defs/Big"} for one in range(900)},
        },
        {"properties": {f"p{one}": {"type": "string"} for one in range(9000)}},
    ],
    ids=["a ring of definitions", "a large definition behind many properties", "thousands of properties"],
)
def test_a_schema_as_large_as_may_be_is_taken_apart_in_no_time(schema: dict[str, Any]) -> None:
    started_s = time.process_time()
    parts = parts_of(schema, estimate_tokens)
    assert parts is not None
    cut_schema(parts, 2400, estimate_tokens)
    # Some 0.05 s; without bounds a ring of 1,000 took 2.4 s, and four times that for twice as many.
    assert time.process_time() - started_s < 1
    assert parts.total == len(schema["properties"])
    assert len(parts.properties) <= MOST_PROPERTIES


@pytest.mark.parametrize("text", ["." * 65_536, ".'" * 32_768, "." + "'" * 65_535, "\n " * 32_768, "؟" * 65_536])
def test_a_text_of_nothing_but_stops_is_cut_in_no_time(text: str) -> None:
    started_s = time.process_time()
    found = cut_text(text, estimate_tokens(text) - 3, estimate_tokens)
    assert time.process_time() - started_s < 1
    assert text.startswith(found)
    assert estimate_tokens(found) <= estimate_tokens(text) - 3


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Wait... what? It is v1.2.3 already", "Wait... what?"),
        ('He said "go!" and left the room now', 'He said "go!"'),
        ("看这里。再看那里！然后走开吧走开吧走", "看这里。再看那里！"),
    ],
)
def test_a_run_of_stops_ends_a_sentence_once(text: str, kept: str) -> None:
    assert cut_text(text, 999, len) == text
    assert cut_text(text, len(kept) + 6, len) == kept


@given(text=st.text("ab .!\n"), limit=st.integers(1, 40))
def test_as_much_fits_as_can_however_it_is_looked_for(text: str, limit: int) -> None:
    asked: list[int] = []

    def count(piece: str) -> int:
        asked.append(len(piece))
        return len(piece)

    found = cut_text(text, limit, count)
    assert found == (text if len(text) <= limit else found)
    assert text.startswith(found)
    assert max(asked) <= 8 * limit or len(text) < 8 * limit
