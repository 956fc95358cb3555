"""The shapes of a search's answer on the wire, as ``TypedDict``s that type checker and OpenAPI document both read.

It makes no answer; ``serve_app.answer`` does.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from cluster.record_json import EvidenceView
from serve_app.formats.formatting import FormattedView


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
