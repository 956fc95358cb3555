"""Hits inside the ceilings on count, tokens and bytes, by hand and as properties."""

from dataclasses import replace

import orjson
from hypothesis import given
from hypothesis import strategies as st

from cluster.budget import Budget
from cluster.contract import EvidenceForm, Form, Piece
from cluster.cutting import SUMMARY_TOKENS
from cluster.evidence import Evidence, assemble, evidence_cost, piece_of
from cluster.text_cut import cut_text
from cluster.tokens import estimate_tokens
from shards.record import Kind, Record
from tests.cluster.rig import tool

SCHEMA = '{"properties":{"a":{"type":"string"}},"type":"object"}'


BARE = b'{"id":"t","kind":"tool","name":"x","namespace":"s","description":""}'
"""A record that there is nothing to cut of."""


def piece(tokens: int, summary_tokens: int) -> Piece:
    full, summary = Form(json=BARE, tokens=tokens), Form(json=BARE, tokens=summary_tokens)
    return Piece(id="t", name="x", namespace="srv", full=full, _shorten=lambda _: summary)


def wide(full_bytes: int, summary_bytes: int) -> Piece:
    """A record whose forms cost a token each, and so many bytes."""
    full, summary = (Form(json=BARE.ljust(count), tokens=1) for count in (full_bytes, summary_bytes))
    return Piece(id="t", name="x", namespace="srv", full=full, _shorten=lambda _: summary)


def ceilings(k: int, tokens: int) -> Budget:
    return Budget(candidate_k=100, rerank_k=100, evidence_k=k, evidence_tokens=tokens, timeout_ms=1)


def fitted(
    pieces: list[Piece], k: int, tokens: int, pinned: tuple[int, ...] = (), full_hits: int | None = None
) -> Evidence:
    return assemble(dict(enumerate(pieces)), pinned, ceilings(k, tokens), full_hits=full_hits)


def shown(pieces: list[Piece], k: int, tokens: int, pinned: tuple[int, ...] = ()) -> list[tuple[int, str]]:
    return [(rank, form.value) for rank, form in fitted(pieces, k, tokens, pinned).forms.items()]


def test_what_is_left_makes_the_first_ranks_whole() -> None:
    # Summaries take 30 of 100 tokens; a grows by 60 and leaves 10: too little for b (+20), enough for c (+10).
    assert shown([piece(70, 10), piece(30, 10), piece(20, 10)], 3, 100) == [(0, "full"), (1, "summary"), (2, "full")]


def test_the_last_token_is_spent_and_none_beyond_it() -> None:
    assert shown([piece(70, 10)], 1, 70) == [(0, "full")]
    assert shown([piece(70, 10)], 1, 69) == [(0, "summary")]
    assert shown([piece(70, 10)], 1, 9) == []


def test_one_long_schema_hides_no_other_hit() -> None:
    pieces = [piece(5_000, 50), *[piece(50, 50)] * 9]
    assert [form for _, form in shown(pieces, 10, 2_400)] == ["summary", *["full"] * 9]


def test_a_hit_that_fits_in_no_form_is_dropped_and_counted() -> None:
    evidence = fitted([piece(90, 80), piece(40, 30), piece(20, 20)], 3, 100)
    assert (len(evidence.forms), evidence.tokens, evidence.dropped) == (2, 100, 1)


def test_a_pinned_hit_claims_its_tokens_first_and_keeps_its_rank() -> None:
    pieces = [piece(60, 60), piece(70, 70)]
    assert shown(pieces, 2, 100, pinned=(1,)) == [(1, "full")]
    assert shown(pieces, 1, 1_000, pinned=(1,)) == [(1, "full")]
    assert shown(pieces, 2, 1_000, pinned=(1,)) == [(0, "full"), (1, "full")]


def test_the_bytes_of_an_answer_have_a_ceiling_of_their_own() -> None:
    # Summaries take 300 of 1,000 bytes; the first grows by 600 and leaves 100: too little for the second (+200).
    pieces = dict(enumerate([wide(700, 100), wide(300, 100), wide(200, 100)]))
    budget = replace(ceilings(3, 1000), evidence_bytes=1000)
    evidence = assemble(pieces, (), budget)
    assert [form.value for form in evidence.forms.values()] == ["full", "summary", "full"]
    assert (evidence.json_bytes, evidence.tokens) == (1000, 3)
    assert assemble(pieces, (), replace(budget, evidence_bytes=20)).dropped == 3
    assert assemble(pieces, (), replace(budget, evidence_bytes=1200)).json_bytes == 1200


def test_only_the_first_hits_are_whole_where_schemas_are_loaded_as_needed() -> None:
    pieces = [piece(70, 10), piece(30, 30), piece(30, 10), piece(20, 20), piece(20, 10)]
    forms = fitted(pieces, 5, 1000, full_hits=2).forms.values()
    # The fourth saves nothing as a summary.
    assert [form.value for form in forms] == ["full", "full", "summary", "full", "summary"]
    assert fitted(pieces, 5, 1000, full_hits=2).tokens == 70 + 30 + 10 + 20 + 10
    assert set(fitted(pieces, 5, 1000, full_hits=5).forms.values()) == {EvidenceForm.FULL}


def test_a_rank_without_a_record_takes_no_place() -> None:
    assert list(assemble({4: piece(5, 5), 1: piece(5, 5)}, (), ceilings(2, 100)).forms) == [1, 4]


@given(
    sizes=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60), st.booleans()), max_size=12),
    k=st.integers(1, 12),
    tokens=st.integers(1, 300),
    full_hits=st.none() | st.integers(0, 12),
)
def test_both_ceilings_hold_and_the_count_adds_up(
    sizes: list[tuple[int, int, bool]], k: int, tokens: int, full_hits: int | None
) -> None:
    pieces = [piece(more + short, short) for more, short, _ in sizes]
    evidence = fitted(pieces, k, tokens, tuple(rank for rank, (*_, pinned) in enumerate(sizes) if pinned), full_hits)
    spent = [
        pieces[rank].full.tokens if form is EvidenceForm.FULL else pieces[rank].summary.tokens
        for rank, form in evidence.forms.items()
    ]
    assert len(spent) <= k
    assert evidence.tokens == sum(spent) <= tokens
    assert evidence.dropped == len(pieces) - len(spent)
    assert list(evidence.forms) == sorted(evidence.forms)


def test_a_summary_keeps_name_and_source_and_the_hash_of_the_whole() -> None:
    record = tool("t", "send", "First sentence. " * 60, parameters=SCHEMA, source_url="https://x", examples=("e",))
    ready = piece_of(record.to_json())
    whole, short = orjson.loads(ready.full.json), orjson.loads(ready.summary.json)
    assert whole["parameters"] == orjson.loads(SCHEMA)
    assert whole["description"] == record.description
    assert "parameters" not in short
    assert (short["name"], short["source_url"], ready.name) == ("send", "https://x", "send")
    assert short["search_text_hash"] == whole["search_text_hash"] == record.search_text_hash
    assert estimate_tokens(short["description"]) <= SUMMARY_TOKENS[Kind.TOOL]
    assert short["description"].endswith("First sentence.")
    values = orjson.loads(record.to_json())
    assert ready.full.tokens == evidence_cost(values)
    cut = {"description": short["description"], "parameters": "{}"}
    assert ready.summary.tokens == evidence_cost(values | cut) < ready.full.tokens


def test_a_record_that_is_short_already_has_no_other_form() -> None:
    ready = piece_of(tool("t", "send", "Sends.").to_json())
    assert ready.summary is ready.full
    # id t: 1 + 2, name send: 1 + 2, namespace srv: 1 + 2, description: 5 letters and a mark, 2 + 2.
    assert ready.full.tokens == 13
    assert shown([ready], 1, 13) == [(0, "full")]


@given(st.text(), st.integers(1, 40))
def test_a_cut_text_is_a_start_of_the_text_within_its_limit(text: str, limit: int) -> None:
    cut = cut_text(text, limit, estimate_tokens)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= limit
    assert cut == text or estimate_tokens(text) > limit


def test_a_text_without_blanks_is_cut_between_two_characters() -> None:
    assert cut_text("查询员工的年假余额", 4, estimate_tokens) == "查询员工"


def test_a_passage_keeps_more_of_its_text_than_a_tool() -> None:
    passage = Record(
        id="p",
        kind=Kind.PASSAGE,
        name="Refunds",
        namespace="kb",
        description="word " * 2_000,
        access=tool("t", "x").access,
    )
    assert 250 < piece_of(passage.to_json()).summary.tokens < 320


def test_a_summary_is_made_once_and_does_not_change_how_a_record_is_written() -> None:
    ready = piece_of(tool("t", "send", "First sentence. " * 60).to_json())
    before = orjson.dumps(ready, default=bytes.decode)
    assert ready.summary is ready.summary is not ready.full
    assert orjson.dumps(ready, default=bytes.decode) == before
