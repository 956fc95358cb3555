"""The answer to a search as bytes: its keys always stand in the order written here.

Equal answers give equal bytes but for request id, index position and timings. The shapes are ``TypedDict``s, so that
the type checker and the OpenAPI document read the same ones.
"""

from typing import Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from cluster.contract import Answer, Coverage, Cut, Hit, SimilarityPart, TalkVerdict, TermPart
from cluster.record_json import EvidenceView
from cluster.tokens import TokenCounter
from serve_app.formats.formatting import Format, FormattedView, formatted_answer, record_path
from shards.record import BUCKETS


class PartView(TypedDict):
    """One term's share of a score; ``instead_of`` is the word of the question that it was taken for, where it was."""

    term: str
    weight: int
    impact: int
    name: int
    score: int
    instead_of: NotRequired[str]


class SimilarityView(TypedDict):
    """The vector's share of a score; a likeness of 1024 is what the models call a sure one."""

    likeness: int
    weight: int
    score: int


class CutView(TypedDict):
    """What a record of the form ``cut`` lacks, and the path of the whole one.

    ``properties_left_out`` counts top-level properties of a tool's parameters; its ``required`` names all there are.
    """

    properties_left_out: int
    tokens_left_out: int
    fetch: str


class HitView(TypedDict):
    """One record handed over; ``form`` says whether in full or, where tokens ran short, cut or as its summary.

    ``duplicates`` is there where somebody confirmed that records say the same: ids of those that this one stands for.
    """

    rank: int
    id: str
    name: str
    namespace: str
    score: int
    pinned: bool
    form: Literal["full", "cut", "summary"]
    tokens: int
    record: EvidenceView
    cut: NotRequired[CutView]
    duplicates: NotRequired[list[str]]
    bonus: NotRequired[int]
    parts: NotRequired[list[PartView]]
    similarity: NotRequired[SimilarityView | None]


class MissView(TypedDict):
    """Why there is no hit, and what to do next."""

    reason: Literal["no_match", "timeout", "unavailable", "nothing_authorized", "budget"]
    advice: str


class PlanView(TypedDict):
    """How to hand the hits to a model."""

    delivery: Literal["sequential", "batch"]
    reason: str


class BudgetView(TypedDict):
    """The ceilings that bound this answer."""

    candidate_k: int
    rerank_k: int
    evidence_k: int
    evidence_tokens: int
    evidence_bytes: int
    timeout_ms: int


class SpentView(TypedDict):
    """What was used of them; ``matched`` counts all authorized records that share anything with the query."""

    candidates: int
    reranked: int
    evidence: int
    evidence_tokens: int
    evidence_bytes: int
    matched: int
    dropped: int
    dropped_tokens: int


class CoverageView(TypedDict):
    """Which part of the caller's authorized set was searched; ``authorized`` is null where it is not known."""

    full: bool
    searched: int
    authorized: int | None
    buckets_searched: int
    buckets: int
    gaps: list[Literal["timeout", "unavailable", "behind"]]


class VectorsView(TypedDict):
    """Whether vectors had a part in this answer (``used``), or why it was made by words alone.

    ``missing`` counts the caller's own records that have no vector yet.
    """

    state: Literal["off", "used", "language", "embedding", "timeout", "failed"]
    embedder: str
    missing: int


class TalkView(TypedDict):
    """Whether the request was taken for talk: something speaks for it, and ``score`` is below ``threshold``.

    ``shared``, ``likeness``, ``words`` and ``nearer`` are the signals in the score; a ``named`` record always stays.
    """

    abstained: bool
    score: int
    threshold: int
    shared: int
    likeness: int
    words: int
    nearer: int
    named: bool
    rule: str


class FlagsView(TypedDict):
    """The ways of answering that held for a request.

    Under ``progressive_schema_loading`` hits after the first few are summaries; the whole record is at
    ``GET /v1/records/{id}``.
    """

    progressive_schema_loading: bool
    adaptive_discovery_k: bool
    hybrid_tool_discovery: bool
    vector_candidate_retrieval: bool
    indexed_candidate_retrieval: bool


class AnswerView(TypedDict):
    """Body of a search's answer: ``hits`` or a ``miss``, never both; ``doubt`` says why it is not ``exact``.

    ``narrower_try`` says that time ran out before anything was found, and that names and the rarest terms alone were
    tried once more. ``adaptive_k`` is the K that the curve of the scores gave, null where the request's own was used.
    ``flags`` says which ways of answering held for this request, by its text and the operator's settings. ``talk`` is
    there where an explanation was asked for, and null where abstention is off or a part of the index did not answer.
    ``tokens_by`` names what counted the tokens: ``estimate``, or the tokenizer of the settings.
    ``formatted`` is there where a provider's format was asked for; then each hit's ``record`` has only what that format
    has no place for.
    """

    request_id: str
    kind: Literal["hits", "miss"]
    hits: list[HitView]
    formatted: NotRequired[FormattedView]
    miss: MissView | None
    plan: PlanView | None
    budget: BudgetView
    spent: SpentView
    coverage: CoverageView
    truncated: bool
    exact: bool
    doubt: Literal["coverage", "cut", "graph", "ranker"] | None
    narrower_try: bool
    vectors: VectorsView
    adaptive_k: int | None
    flags: FlagsView
    talk: NotRequired[TalkView | None]
    index_position: str
    ranker: str
    tokens_by: str
    timings_ms: dict[str, float]


def answer_bytes(answer: Answer, *, explain: bool, form: Format, counter: TokenCounter) -> bytes:
    """The JSON of an answer; ``explain`` adds the parts of each score, and whether it was taken for talk.

    ``counter`` is the one that counted the tokens of its evidence.

    Raises:
        InvalidRequest: if there are more tools than the provider of ``form`` takes.
    """
    formatted = None if form == "native" else formatted_answer(form, answer, counter)
    hits = [_hit(rank, hit, explain=explain) for rank, hit in enumerate(answer.hits, start=1)]
    if formatted:
        for hit, remainder in zip(hits, formatted.remainders, strict=True):
            hit["record"] = remainder
    view: dict[str, object] = {
        "request_id": answer.request_id,
        "kind": "miss" if answer.miss else "hits",
        "hits": hits,
        **({"formatted": formatted.view} if formatted else {}),
        "miss": answer.miss,
        "plan": answer.plan,
        "budget": answer.budget,
        "spent": answer.spent,
        "coverage": coverage_view(answer.coverage),
        "truncated": answer.truncated,
        "exact": answer.exact,
        "doubt": answer.doubt,
        "narrower_try": answer.narrower_try,
        "vectors": answer.vectors,
        "adaptive_k": answer.adaptive_k,
        "flags": answer.flags,
        **({"talk": talk_view(answer.talk)} if explain else {}),
        "index_position": answer.index_position,
        "ranker": answer.ranker,
        "tokens_by": answer.tokens_by,
        "timings_ms": answer.timings_ms,
    }
    # orjson writes dataclasses by itself, their fields in the order of their definition.
    return orjson.dumps(view)


def coverage_view(coverage: Coverage) -> CoverageView:
    """The coverage with its whole, so that shares can be computed."""
    return {
        "full": coverage.full,
        "searched": coverage.searched,
        "authorized": coverage.authorized,
        "buckets_searched": coverage.buckets_searched,
        "buckets": BUCKETS,
        "gaps": [gap.value for gap in coverage.gaps],
    }


def parts_view(parts: tuple[TermPart, ...]) -> list[PartView]:
    """The shares of a score in the order of the query's terms."""
    return [_part(part) for part in parts]


def _part(part: TermPart) -> PartView:
    view: PartView = {
        "term": part.term,
        "weight": part.weight,
        "impact": part.impact,
        "name": part.name,
        "score": part.score,
    }
    if part.instead_of:
        view["instead_of"] = part.instead_of
    return view


def similarity_view(part: SimilarityPart | None) -> SimilarityView | None:
    """The vector's share, None in an answer by words alone."""
    return None if part is None else {"likeness": part.likeness, "weight": part.weight, "score": part.score}


def talk_view(verdict: TalkVerdict | None) -> TalkView | None:
    """The verdict with its numbers, None where nobody asked."""
    if verdict is None:
        return None
    signals = verdict.signals
    return {
        "abstained": verdict.abstained,
        "score": verdict.score,
        "threshold": verdict.threshold,
        "shared": signals.shared,
        "likeness": signals.likeness,
        "words": signals.words,
        "nearer": signals.nearer,
        "named": signals.named,
        "rule": verdict.rule,
    }


def _cut(hit: Hit, cut: Cut) -> CutView:
    return {
        "properties_left_out": cut.properties_left_out,
        "tokens_left_out": max(0, hit.record.full.tokens - cut.form.tokens),
        "fetch": record_path(hit.record.id),
    }


def _hit(rank: int, hit: Hit, *, explain: bool) -> dict[str, object]:
    """A ``HitView``, for orjson."""
    record, evidence = hit.record, hit.evidence
    view: dict[str, object] = {
        "rank": rank,
        "id": record.id,
        "name": record.name,
        "namespace": record.namespace,
        "score": hit.score,
        "pinned": hit.pinned,
        "form": hit.form,
        "tokens": evidence.tokens,
        "record": orjson.Fragment(evidence.json),
    }
    if hit.cut is not None:
        view["cut"] = _cut(hit, hit.cut)
    if hit.duplicates:
        view["duplicates"] = hit.duplicates
    if explain:
        view["bonus"] = hit.bonus
        view["parts"] = parts_view(hit.parts)
        view["similarity"] = similarity_view(hit.similarity)
    return view
