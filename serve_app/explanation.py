"""Explanations: why a record is, or is not, in the answer to a question; built from searches the caller could make.

It asks the router only with the caller's own scope, so it can tell nothing of a record that the caller may not see:
that is ``not_found``, in the same bytes as for an id that never existed.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal

import orjson
from typing_extensions import TypedDict

from cluster.budget import MOST_EVIDENCE_BYTES
from cluster.contract import Answer, Coverage, Gap, Hit, SearchRequest, SimilarityPart, TalkVerdict, TermPart
from cluster.explain import Comparison, compared
from serve_app.answer import coverage_view, parts_view, similarity_view, talk_view
from serve_app.answer_view import CoverageView, PartView, SimilarityView, TalkView
from serve_app.asking import Call, question
from serve_app.comparison_view import AheadView, VersusView, ahead_view, versus_view
from serve_app.problems import NOT_FOUND, Refused
from serve_app.services import Services
from serve_app.wire import ExplainBody

_ROOM_TOKENS: Final = 1_000_000
"""Evidence budget of the search that only measures a score; its evidence is not handed over."""


class Outcome(StrEnum):
    """What became of an authorized record.

    ``hit``: it is in the answer. ``outranked``: k others score higher. ``cut_by_budget``: its rank is within k, but
    the evidence tokens ran out. ``not_a_candidate``: it shares nothing with the question.
    ``abstained``: the request was taken for talk. ``cut_by_scores``: its rank is within k, but an adaptive K ended the
    answer before it. ``filtered_by_narrowing``: the request leaves it out. ``stale``: its part of the index has not
    seen the change ``min_seq``. ``not_searched``: its part of the index did not answer. ``duplicate``: a hit stands for
    it, because somebody confirmed that they say the same.
    """

    HIT = "hit"
    OUTRANKED = "outranked"
    NOT_A_CANDIDATE = "not_a_candidate"
    FILTERED_BY_NARROWING = "filtered_by_narrowing"
    CUT_BY_BUDGET = "cut_by_budget"
    CUT_BY_SCORES = "cut_by_scores"
    ABSTAINED = "abstained"
    STALE = "stale"
    NOT_SEARCHED = "not_searched"
    DUPLICATE = "duplicate"


_RANKED_BEHIND: Final = (Outcome.OUTRANKED, Outcome.CUT_BY_SCORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why.

    Attributes:
        rank: place among all candidates from 1, None where it is none of the ``rerank_k`` best.
        score: None where it was not scored.
        kth_score: score of the last of the ``k`` best, None where there are fewer.
        coverage: of the ranking or of the answer, whichever saw less.
        shown_instead: id of the hit that stands for it, None where none does.
        ahead: the hits, best first, where others rank before it, or an adaptive K ended the answer before it.
        versus: the record beside the last of these.
    """

    id: str
    outcome: Outcome
    k: int
    rank: int | None = None
    score: int | None = None
    kth_score: int | None = None
    bonus: int = 0
    parts: tuple[TermPart, ...] = ()
    similarity: SimilarityPart | None = None
    coverage: Coverage | None = None
    talk: TalkVerdict | None = None
    shown_instead: str | None = None
    ahead: tuple[Hit, ...] = ()
    versus: Comparison | None = None


class ExplanationView(TypedDict):
    """Body of an explanation."""

    request_id: str
    id: str
    outcome: Literal[
        "hit", "outranked", "not_a_candidate", "filtered_by_narrowing", "cut_by_budget", "cut_by_scores", "abstained",
        "stale", "not_searched", "duplicate",
    ]  # fmt: skip
    k: int
    rank: int | None
    score: int | None
    kth_score: int | None
    bonus: int
    parts: list[PartView]
    similarity: SimilarityView | None
    coverage: CoverageView | None
    talk: TalkView | None
    shown_instead: str | None
    ahead: list[AheadView]
    versus: VersusView | None


async def explain_record(services: Services, call: Call, body: ExplainBody) -> Explanation:
    """Why ``body.id`` is, or is not, in the answer to ``body``.

    Raises:
        Refused: ``not_found`` if the caller may not see the record.
        InvalidRequest: naming the field that this caller may not ask so.
        ShardUnavailable: if the part of the index that would know the record does not answer.
        Overloaded: if so many questions are ahead of this one that its time would be over before its turn.
    """
    request = replace(question(services, call, body), explain=True)
    call.trail.asked = request
    with services.admission.place(request.deadline.remaining_ms() / 1000):
        return await _explain(services, call, request, body.id)


async def _explain(services: Services, call: Call, request: SearchRequest, record_id: str) -> Explanation:
    router, k = services.router, request.budget.evidence_k
    scope = services.policy.compile(call.principal)
    if not await router.documents(scope, (record_id,), request.deadline):
        services.inquiries.missing(call.request_id, call.principal, "explain", record_id)
        raise Refused(NOT_FOUND)
    if not await router.documents(request.scope, (record_id,), request.deadline):
        return Explanation(id=record_id, outcome=Outcome.FILTERED_BY_NARROWING, k=k)
    return await _explain_ranked(services, call, request, record_id)


async def _explain_ranked(services: Services, call: Call, request: SearchRequest, record_id: str) -> Explanation:
    k = request.budget.evidence_k
    ranked = await services.router.candidates(request)
    answer = await services.router.search(request)
    call.trail.answer = answer
    shown = next((hit for hit in answer.hits if hit.record.id == record_id), None)
    measured = shown or await _measured(services, request, record_id)
    if measured is None:
        outcome = Outcome.STALE if answer.coverage.gaps == (Gap.BEHIND,) else Outcome.NOT_SEARCHED
        return Explanation(id=record_id, outcome=outcome, k=k, coverage=answer.coverage)
    rank = ranked.ids.index(record_id) + 1 if record_id in ranked.ids else None
    instead = next((hit.record.id for hit in answer.hits if record_id in hit.duplicates), None)
    if shown:
        outcome = Outcome.HIT
    elif instead is not None:
        outcome = Outcome.DUPLICATE
    elif measured.score <= 0:
        outcome = Outcome.NOT_A_CANDIDATE
    else:
        outcome = _ended_before(rank, k, answer)
    ahead = answer.hits if outcome in _RANKED_BEHIND else ()
    return Explanation(
        id=record_id,
        outcome=outcome,
        k=k,
        rank=rank,
        score=measured.score,
        kth_score=ranked.scores[k - 1] if len(ranked.scores) >= k else None,
        bonus=measured.bonus,
        parts=measured.parts,
        similarity=measured.similarity,
        coverage=answer.coverage if ranked.coverage.full else ranked.coverage,
        talk=answer.talk,
        shown_instead=instead,
        ahead=ahead,
        versus=compared(measured, ahead[-1], len(ahead)) if ahead else None,
    )


def _ended_before(rank: int | None, k: int, answer: Answer) -> Outcome:
    """Why a record that matches is not in an answer."""
    if answer.talk is not None and answer.talk.abstained:
        return Outcome.ABSTAINED
    if rank is None or rank > k:
        return Outcome.OUTRANKED
    return (
        Outcome.CUT_BY_SCORES if answer.adaptive_k is not None and rank > answer.adaptive_k else Outcome.CUT_BY_BUDGET
    )


async def _measured(services: Services, request: SearchRequest, record_id: str) -> Hit | None:
    """The record as a hit, whatever it scores: it is pinned, with room for its evidence."""
    roomy = replace(request.budget, evidence_tokens=_ROOM_TOKENS, evidence_bytes=MOST_EVIDENCE_BYTES)
    answer = await services.router.search(replace(request, pinned=(record_id,), budget=roomy))
    return next((hit for hit in answer.hits if hit.record.id == record_id), None)


def explanation_bytes(request_id: str, explanation: Explanation) -> bytes:
    """The JSON of an explanation, its keys always in this order."""
    view: ExplanationView = {
        "request_id": request_id,
        "id": explanation.id,
        "outcome": explanation.outcome.value,
        "k": explanation.k,
        "rank": explanation.rank,
        "score": explanation.score,
        "kth_score": explanation.kth_score,
        "bonus": explanation.bonus,
        "parts": parts_view(explanation.parts),
        "similarity": similarity_view(explanation.similarity),
        "coverage": coverage_view(explanation.coverage) if explanation.coverage else None,
        "talk": talk_view(explanation.talk),
        "shown_instead": explanation.shown_instead,
        "ahead": ahead_view(explanation.ahead),
        "versus": versus_view(explanation.versus),
    }
    return orjson.dumps(view)
