"""Composing: what was found, what is shown of it and what of that fits, as one answer.

It finds, orders and cuts nothing, and asks nobody.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from cluster.budget import Spent
from cluster.contract import Answer, Coverage, Doubt, Hit, Miss, MissReason, Piece, Plan, SearchRequest
from cluster.coverage import miss_of
from cluster.discovery import Shown
from cluster.evidence import Evidence
from cluster.explain import similarity_part, term_parts
from cluster.fanout import Replies
from cluster.narrower import timeout_advice
from cluster.retrieval import Retrieved

POSITIONS: Final = 256
"""Index positions whose token is remembered; searches between two changes all have the same."""


def hits_of(
    request: SearchRequest,
    found: Retrieved,
    shown: Shown,
    pieces: Mapping[int, Piece],
    evidence: Evidence,
    *,
    cited: Mapping[str, tuple[str, ...]],
) -> tuple[Hit, ...]:
    """The rows that fit, in their order."""
    rows, explain = shown.rows, request.explain
    similar = explain and found.question.embedded is not None
    bonuses = rows.bonuses.tolist()
    return tuple(
        Hit(
            record=pieces[row],
            score=shown.scores[row],
            form=form,
            pinned=rows.ids[row] in request.pinned,
            parts=term_parts(row, rows, found.question, found.mix) if explain else (),
            bonus=bonuses[row],
            similarity=similarity_part(row, rows, found.mix) if similar else None,
            duplicates=cited.get(rows.ids[row], ()),
            cut=evidence.cuts.get(row),
        )
        for row, form in evidence.forms.items()
    )


def answer_of(
    request: SearchRequest,
    found: Retrieved,
    shown: Shown,
    *,
    hits: tuple[Hit, ...],
    plan: Plan | None,
    evidence: Evidence,
    coverage: Coverage,
    timings_ms: dict[str, float],
    ranker: str,
    tokens_by: str,
) -> Answer:
    """The answer with these hits and this plan, or with the reason why there are none.

    ``ranker`` is the version of the ranker, ``tokens_by`` the name of what counted the tokens of the evidence.
    """
    rows, indexed = found.ranking.rows, shown.rows.scores.tolist()
    spent = Spent(
        candidates=found.ranking.candidates,
        reranked=len(rows.ids),
        evidence=len(hits),
        evidence_tokens=evidence.tokens,
        evidence_bytes=evidence.json_bytes,
        matched=rows.matched,
        dropped=evidence.dropped,
        dropped_tokens=evidence.dropped_tokens,
    )
    return Answer(
        request_id=request.request_id,
        hits=hits,
        miss=None if hits else _miss(request, found, shown, coverage, evidence.dropped),
        plan=plan,
        budget=request.budget,
        spent=spent,
        coverage=coverage,
        truncated=rows.matched > sum(indexed[row] > 0 for row in evidence.forms),
        doubt=doubt_of(found, coverage),
        narrower_try=found.narrower_try,
        vectors=found.vectors,
        index_position=_position(found.replies),
        ranker=ranker,
        timings_ms=timings_ms,
        seq=min((reply.seq for reply in found.replies.hits.values()), default=0),
        rounds=found.rounds,
        surplus=found.surplus,
        talk=shown.talk,
        adaptive_k=shown.adaptive_k,
        flags=request.flags,
        tokens_by=tokens_by,
    )


def doubt_of(found: Retrieved, coverage: Coverage) -> Doubt | None:
    """Why an answer is not proved to be exact, None if it is."""
    return found.ranking.doubt if coverage.full else Doubt.COVERAGE


def _miss(request: SearchRequest, found: Retrieved, shown: Shown, coverage: Coverage, dropped: int) -> Miss:
    miss = miss_of(coverage, dropped=dropped, abstained=shown.abstained)
    return replace(miss, advice=timeout_advice(request, found)) if miss.reason is MissReason.TIMEOUT else miss


def _position(replies: Replies) -> str:
    """Opaque token of the states that were searched; equal states of equal shards give equal tokens."""
    return _digest(tuple(sorted([(shard, hits.seq) for shard, hits in replies.hits.items()])))


@lru_cache(maxsize=POSITIONS)
def _digest(states: tuple[tuple[int, int], ...]) -> str:
    return hashlib.blake2b(repr(list(states)).encode(), digest_size=8).hexdigest()
