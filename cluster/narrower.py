"""Narrower: one last try by names and a question's rarest terms, where time ran out before anything was found.

It asks once, only the shards that had no time, for less: no vector, no near terms, a small cut. It never tries twice,
never after the deadline, and what it finds fills no gap of the coverage: these parts were not searched in full.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cluster.contract import Doubt, Gap, SearchRequest, VectorState
from cluster.fanout import Lane, Replies, ask_shards
from cluster.merge import merge, within_ceiling
from cluster.query import AnalyzedRequest
from cluster.ranker import Ranker
from cluster.ranking import cut_then_ranked
from cluster.retrieval import Retrieved, bodies_of
from cluster.rounds import query_of
from shards.analysis.marks import ACTION, CONCEPT
from shards.messages import ScoreMix
from shards.scope import Narrowing, Scope
from shards.statistics import FULL_WEIGHT

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_TERMS: Final = 3
"""Terms of a narrower question; never more than half of the question's own, and one at least."""

RARE: Final = 884
"""The ``frequency_weight`` taken of a word that was not asked for lately in this scope: as if one record in 1,000 held
it."""

COMMON: Final = 440
"""The same of an action or a concept: as if one record in 31 said it."""

REMEMBERED: Final = 2048
"""Last questions whose weights are remembered, of all scopes together: a few megabytes."""

LEAST_MS: Final = 20
"""With less time left nothing is tried: it could not end well."""

FOR_DOCUMENTS: Final = 4
"""One part in this many of the time left is kept for the documents."""

EARNED: Final = 0.05
"""Tries that each search without a gap earns, so that a fleet that is slow as a whole is not asked twice as much."""

MOST_EARNED: Final = 64.0
"""Tries in a row, if none was needed before."""

MANY_WORDS: Final = 12
"""Words of a query from which on a time-out advises fewer."""


class Narrower:
    """What a router keeps for narrower tries: what terms weighed lately, by scope, and how many tries are free."""

    def __init__(self) -> None:
        self._seen: deque[tuple[str, tuple[str, ...], npt.NDArray[np.int64]]] = deque(maxlen=REMEMBERED)
        self._free = MOST_EARNED

    async def otherwise(
        self, request: SearchRequest, found: Retrieved, ranker: Ranker, lanes: Sequence[Lane]
    ) -> Retrieved:
        """``found``, or what a narrower try found instead, where there was no time to find anything."""
        if not found.replies.gaps:
            self._free = min(MOST_EARNED, self._free + EARNED)
            self._seen.append((request.scope.fingerprint, found.question.terms, found.ranking.rows.weights))
            return found
        late = [lane for lane in lanes if found.replies.gaps.get(lane.shard) is Gap.TIMEOUT]
        if not late or self._free < 1 or found.ranking.result(request.pinned, request.budget.evidence_k)[1]:
            return found
        remaining_ms = request.deadline.remaining_ms()
        weights = self._weights(request.scope, found.question)
        narrow = narrowed(found.question, weights)
        if remaining_ms < LEAST_MS or not (narrow.terms or len(narrow.mentions.hashes)):
            return found
        self._free -= 1
        kept_back_s = remaining_ms / FOR_DOCUMENTS / 1000
        deadline = request.deadline.earlier(kept_back_s)
        mix = ranker.mix(narrow)
        # With weights, so that no shard looks for near terms, and with documents: there is hardly time to fetch them.
        query = query_of(
            replace(request, preferred=()),
            narrow,
            mix,
            n=request.budget.evidence_k,
            weights=[weights[term] for term in narrow.terms],
            bodies=bodies_of(request.budget.evidence_k, len(lanes)),
            remaining_ms=deadline.remaining_ms(),
        )
        replies = await ask_shards(late, query, deadline)
        return _merged(request, found, narrow, mix, replies, ranker=ranker)

    def _weights(self, scope: Scope, question: AnalyzedRequest) -> dict[str, int]:
        """What each term of a question weighed when this very scope was last asked for it, or is taken to weigh."""
        wanted = {
            term: max(1, (COMMON if term[0] in (ACTION, CONCEPT) else RARE) * share // FULL_WEIGHT)
            for term, share in zip(question.terms, question.term_weights, strict=True)
        }
        for fingerprint, terms, weights in self._seen:
            if fingerprint == scope.fingerprint and not wanted.keys().isdisjoint(terms):
                known = zip(terms, weights.tolist(), strict=True)
                wanted |= {term: weight for term, weight in known if term in wanted}
        return wanted


def narrowed(question: AnalyzedRequest, weights: Mapping[str, int]) -> AnalyzedRequest:
    """The question by its names and its few heaviest terms; of equal ones the longest, because long words are rare.

    Terms with a weight of 0 are held by no record of the caller and left out.
    """
    most = min(MOST_TERMS, max(1, len(question.terms) // 2))
    held = [term for term in question.terms if weights[term] > 0]
    chosen = frozenset(sorted(held, key=lambda term: (-weights[term], -len(term), term))[:most])
    kept = [(term, share) for term, share in zip(question.terms, question.term_weights, strict=True) if term in chosen]
    return replace(
        question,
        terms=tuple(term for term, _ in kept),
        term_weights=tuple(share for _, share in kept),
        length=sum(term[0] != CONCEPT for term, _ in kept),
        embedded=None,
        meant=(),
    )


def timeout_advice(request: SearchRequest, found: Retrieved) -> str:
    """What to clarify or to narrow, of facts about the request alone."""
    words = len(request.query.split())
    sentences = ["Time ran out before everything was searched."]
    if Gap.BEHIND in found.replies.gaps.values():
        sentences.append(f"A part of the index has not applied min_seq = {request.min_seq} yet.")
    if found.narrower_try:
        sentences.append("Names and the rarest words alone were tried once more and found nothing in the time left.")
    if words >= MANY_WORDS:
        sentences.append(f"Clarify: the query has {words} words; name the action and its object in a few.")
    else:
        sentences.append("Clarify: give the exact name, or name the action and its object.")
    if request.scope.narrowing == Narrowing():
        sentences.append("Narrow: no filter is set; kinds, namespaces, domains or capabilities leave less to search.")
    else:
        sentences.append("Narrow: a stricter filter leaves less to search.")
    sentences.append(f"Or allow more time than timeout_ms = {request.budget.timeout_ms}, within its ceiling.")
    return " ".join(sentences)


def _merged(
    request: SearchRequest,
    found: Retrieved,
    question: AnalyzedRequest,
    mix: ScoreMix,
    replies: Replies,
    *,
    ranker: Ranker,
) -> Retrieved:
    """What the try found, in the place of nothing; gaps and what was searched stay as they were."""
    k = request.budget.evidence_k
    obedient = {shard: within_ceiling(reply, k, request.pinned) for shard, reply in replies.hits.items()}
    hits = {shard: reply for shard, (reply, _) in obedient.items()}
    pool = merge(hits, question, mix, k, request.pinned)
    bodies = found.bodies.copy()
    for reply in hits.values():
        bodies.add(reply, k)
    state = VectorState.TIMEOUT if found.vectors.state is VectorState.USED else found.vectors.state
    return replace(
        found,
        ranking=cut_then_ranked(ranker, question, request, pool, n=k, doubt=Doubt.CUT),
        question=question,
        mix=mix,
        vectors=replace(found.vectors, state=state, missing=0),
        rounds=found.rounds + 1,
        bodies=bodies,
        narrower_try=True,
        narrower=tuple(hits.values()),
        surplus=found.surplus + sum(surplus for _, surplus in obedient.values()),
    )
