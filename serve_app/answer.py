"""The answer to a search as bytes: its keys always stand in the order written here.

Equal answers give equal bytes but for request id, index position and timings. The shapes are ``TypedDict``s, so that
the type checker and the OpenAPI document read the same ones.
"""

from typing import Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from cluster.contract import Answer, Coverage, Hit, TermPart
from serve_app.record_view import EvidenceView, evidence_view
from shards.record import BUCKETS


class PartView(TypedDict):
    """One term's share of a score."""

    term: str
    weight: int
    impact: int
    name: int
    score: int


class HitView(TypedDict):
    """One record handed over; ``form`` says whether in full or, where tokens ran short, as its summary."""

    rank: int
    id: str
    name: str
    namespace: str
    score: int
    pinned: bool
    form: Literal["full", "summary"]
    tokens: int
    record: EvidenceView
    bonus: NotRequired[int]
    parts: NotRequired[list[PartView]]


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
    timeout_ms: int


class SpentView(TypedDict):
    """What was used of them; ``matched`` counts all authorized records that share anything with the query."""

    candidates: int
    reranked: int
    evidence: int
    evidence_tokens: int
    matched: int
    dropped: int


class CoverageView(TypedDict):
    """Which part of the caller's authorized set was searched; ``authorized`` is null where it is not known."""

    full: bool
    searched: int
    authorized: int | None
    buckets_searched: int
    buckets: int
    gaps: list[Literal["timeout", "unavailable", "behind"]]


class AnswerView(TypedDict):
    """Body of a search's answer: ``hits`` or a ``miss``, never both."""

    request_id: str
    kind: Literal["hits", "miss"]
    hits: list[HitView]
    miss: MissView | None
    plan: PlanView | None
    budget: BudgetView
    spent: SpentView
    coverage: CoverageView
    truncated: bool
    exact: bool
    index_position: str
    ranker: str
    timings_ms: dict[str, float]


def answer_bytes(answer: Answer, *, explain: bool) -> bytes:
    """The JSON of an answer; ``explain`` adds the parts of each score."""
    view: dict[str, object] = {
        "request_id": answer.request_id,
        "kind": "miss" if answer.miss else "hits",
        "hits": [_hit(rank, hit, explain=explain) for rank, hit in enumerate(answer.hits, start=1)],
        "miss": answer.miss,
        "plan": answer.plan,
        "budget": answer.budget,
        "spent": answer.spent,
        "coverage": coverage_view(answer.coverage),
        "truncated": answer.truncated,
        "exact": answer.exact,
        "index_position": answer.index_position,
        "ranker": answer.ranker,
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
    return [
        {"term": part.term, "weight": part.weight, "impact": part.impact, "name": part.name, "score": part.score}
        for part in parts
    ]


def _hit(rank: int, hit: Hit, *, explain: bool) -> HitView:
    view: HitView = {
        "rank": rank,
        "id": hit.record.id,
        "name": hit.record.name,
        "namespace": hit.record.namespace,
        "score": hit.score,
        "pinned": hit.pinned,
        "form": hit.form.value,
        "tokens": hit.tokens,
        "record": evidence_view(hit.record, hit.form),
    }
    if explain:
        view["bonus"] = hit.bonus
        view["parts"] = parts_view(hit.parts)
    return view
