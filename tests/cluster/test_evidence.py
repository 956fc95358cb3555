from hypothesis import given
from hypothesis import strategies as st

from cluster.budget import Budget
from cluster.contract import EvidenceForm
from cluster.evidence import SUMMARY_TOKENS, Finalist, Piece, assemble, cut_text, evidence_cost, piece_of
from cluster.tokens import estimate_tokens
from shards.record import Kind, Record
from tests.cluster.rig import tool

SCHEMA = '{"properties":{"a":{"type":"string"}},"type":"object"}'


def finalist(tokens: int, summary_tokens: int, *, pinned: bool = False, record_id: str = "t") -> Finalist:
    record = tool(record_id, "x")
    piece = Piece(record=record, tokens=tokens, summary=record, summary_tokens=summary_tokens)
    return Finalist(piece=piece, score=1, bonus=0, pinned=pinned, parts=())


def ceilings(k: int, tokens: int) -> Budget:
    return Budget(candidate_k=100, rerank_k=100, evidence_k=k, evidence_tokens=tokens, timeout_ms=1)


def shown(finalists: list[Finalist], k: int, tokens: int) -> list[tuple[str, str]]:
    evidence = assemble(finalists, ceilings(k, tokens))
    return [(hit.record.id, hit.form.value) for hit in evidence.hits]


def test_what_is_left_makes_the_first_ranks_whole() -> None:
    # Summaries take 30 of 100 tokens; a grows by 60 and leaves 10: too little for b (+20), enough for c (+10).
    finalists = [finalist(70, 10, record_id="a"), finalist(30, 10, record_id="b"), finalist(20, 10, record_id="c")]
    assert shown(finalists, 3, 100) == [("a", "full"), ("b", "summary"), ("c", "full")]


def test_the_last_token_is_spent_and_none_beyond_it() -> None:
    assert shown([finalist(70, 10)], 1, 70) == [("t", "full")]
    assert shown([finalist(70, 10)], 1, 69) == [("t", "summary")]
    assert shown([finalist(70, 10)], 1, 9) == []


def test_one_long_schema_hides_no_other_hit() -> None:
    finalists = [finalist(5_000, 50, record_id="a"), *(finalist(50, 50, record_id=f"b{n}") for n in range(9))]
    assert [form for _, form in shown(finalists, 10, 2_400)] == ["summary", *["full"] * 9]


def test_a_hit_that_fits_in_no_form_is_dropped_and_counted() -> None:
    evidence = assemble([finalist(90, 80), finalist(40, 30), finalist(20, 20)], ceilings(3, 100))
    assert (len(evidence.hits), evidence.tokens, evidence.dropped) == (2, 100, 1)


def test_a_pinned_hit_claims_its_tokens_first_and_keeps_its_rank() -> None:
    finalists = [finalist(60, 60, record_id="a"), finalist(70, 70, pinned=True, record_id="z")]
    assert shown(finalists, 2, 100) == [("z", "full")]
    assert shown(finalists, 1, 1_000) == [("z", "full")]
    assert shown(finalists, 2, 1_000) == [("a", "full"), ("z", "full")]


@given(
    sizes=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60), st.booleans()), max_size=12),
    k=st.integers(1, 12),
    tokens=st.integers(1, 300),
)
def test_both_ceilings_hold_and_the_count_adds_up(sizes: list[tuple[int, int, bool]], k: int, tokens: int) -> None:
    finalists = [
        finalist(more + short, short, pinned=pinned, record_id=f"t{rank:02d}")
        for rank, (more, short, pinned) in enumerate(sizes)
    ]
    evidence = assemble(finalists, ceilings(k, tokens))
    assert len(evidence.hits) <= k
    assert evidence.tokens == sum(hit.tokens for hit in evidence.hits) <= tokens
    assert evidence.dropped == len(finalists) - len(evidence.hits)
    ids = [hit.record.id for hit in evidence.hits]
    assert ids == sorted(ids)


def test_a_summary_keeps_name_and_source_and_the_hash_of_the_whole() -> None:
    record = tool("t", "send", "First sentence. " * 60, parameters=SCHEMA, source_url="https://x", examples=("e",))
    piece = piece_of(record)
    assert piece.record is record
    assert piece.summary.parameters == "{}"
    assert piece.summary.examples == ()
    assert (piece.summary.name, piece.summary.source_url) == ("send", "https://x")
    assert piece.summary.search_text_hash == record.search_text_hash
    assert estimate_tokens(piece.summary.description) <= SUMMARY_TOKENS[Kind.TOOL]
    assert piece.summary.description.endswith("First sentence.")
    assert piece.summary_tokens == evidence_cost(piece.summary) < piece.tokens == evidence_cost(record)


def test_a_record_that_is_short_already_has_no_other_form() -> None:
    piece = piece_of(tool("t", "send", "Sends."))
    assert piece.summary is piece.record
    # id t: 1 + 2, name send: 1 + 2, namespace srv: 1 + 2, description: 5 letters and a mark, 2 + 2.
    assert piece.tokens == piece.summary_tokens == 13
    (hit,) = assemble([Finalist(piece=piece, score=1, bonus=0, pinned=False, parts=())], ceilings(1, 13)).hits
    assert hit.form is EvidenceForm.FULL


@given(st.text(), st.integers(1, 40))
def test_a_cut_text_is_a_start_of_the_text_within_its_limit(text: str, limit: int) -> None:
    cut = cut_text(text, limit)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= limit
    assert cut == text or estimate_tokens(text) > limit


def test_a_text_without_blanks_is_cut_between_two_characters() -> None:
    assert cut_text("查询员工的年假余额", 4) == "查询员工"


def test_a_passage_keeps_more_of_its_text_than_a_tool() -> None:
    passage = Record(
        id="p",
        kind=Kind.PASSAGE,
        name="Refunds",
        namespace="kb",
        description="word " * 2_000,
        access=tool("t", "x").access,
    )
    assert 250 < piece_of(passage).summary_tokens < 320
