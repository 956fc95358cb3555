"""Retrieval: the ranked candidates of one request, with the proof that the cut lost nothing.

It speaks to shards only through ``cluster.fanout``; it fetches no documents and hands over no evidence. Where too many
of the caller's records have no vector, it goes on by words alone: a record must not lose for being new. Where no
authorized record holds a word, it goes on with the terms that the word may have meant. Two flags of the request change
the way: without the index everything that matches is ranked, and where vectors find no candidates they order them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.budget import Budget, Deadline
from cluster.collapse import places_of
from cluster.contract import Doubt, SearchRequest, VectorState, VectorUse
from cluster.documents import Brought
from cluster.embedder import EmbeddedQuery
from cluster.expansion import expanded
from cluster.fanout import Lane, Replies
from cluster.merge import Pool, best_first, merge, summed_weights
from cluster.query import AnalyzedRequest
from cluster.query_vectors import QueryVector
from cluster.ranker import Ranker
from cluster.ranking import Ranking, cut_then_ranked, ordered, ranked_then_cut
from cluster.rounds import Rounds
from cluster.words_first import likenesses_of
from shards.messages import ScoreMix, ShardHits
from shards.scoring import index_scores

FIRST_CUT: Final = 32
"""Candidates of the first round at least: fewer save next to nothing and prove less."""

EVERYTHING: Final = 2**31 - 1
"""The cut of a search without the index."""

BODIES_SPARE: Final = 2
"""Documents that come along beside twice a shard's share of the result."""

MISSING_SHARE: Final = 100
"""Vectors decide only where no more than one authorized record in this many lacks one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Retrieved:
    """What was found, and how.

    Attributes:
        question: as it was answered; embedded only if vectors had a part in it.
        mix: that scored the rows.
        rounds: times that shards were asked.
        bodies: documents that came along; authorized in the states that were searched.
        narrower_try: a narrower try took the place of a search without time (``cluster.narrower``).
        narrower: what shards replied to it; ``replies`` are those to the search that it took the place of.
        surplus: rows that shards returned beyond the cut they were asked for.
    """

    ranking: Ranking
    replies: Replies
    question: AnalyzedRequest
    mix: ScoreMix
    vectors: VectorUse
    rounds: int
    bodies: Brought
    narrower_try: bool = False
    narrower: Collection[ShardHits] = ()
    surplus: int = 0

    @property
    def said(self) -> list[ShardHits]:
        """All replies that the rows may be of."""
        return [*self.replies.hits.values(), *self.narrower]


def cuts_of(budget: Budget, ranker_bound: int | None) -> tuple[int, ...]:
    """The cuts to try in turn, rising; beyond ``rerank_k`` none can help a ranker that sees no more rows.

    An additive ranker needs one; one with a bound doubles; one without a bound gets the most that is allowed.
    """
    if ranker_bound is None:
        return (budget.candidate_k,)
    cuts = [min(max(FIRST_CUT, 2 * budget.evidence_k), budget.candidate_k)]
    while ranker_bound > 0 and cuts[-1] < budget.rerank_k:
        cuts.append(min(2 * cuts[-1], budget.candidate_k))
    return tuple(cuts)


def bodies_of(k: int, shards: int) -> int:
    """Documents that each shard brings along for ``k`` shown rows: its share twice over, as shares are uneven."""
    return min(k, BODIES_SPARE + 2 * -(-k // max(1, shards)))


class Retrieval:
    """The rounds of one request over the lanes it started with. Used once.

    Args:
        crowd: authorized records, as far as known; a wrong number costs a second round, never an answer.
        with_bodies: the shards bring the documents of their best rows along.
    """

    def __init__(
        self,
        request: SearchRequest,
        question: AnalyzedRequest,
        vector: QueryVector,
        *,
        crowd: int,
        ranker: Ranker,
        lanes: Sequence[Lane],
        deadline: Deadline,
        with_bodies: bool,
    ) -> None:
        self._request = request
        finding = vector.embedded if request.flags.vector_candidate_retrieval else None
        self._ordering = None if finding is not None else vector.embedded
        self._question = replace(question, embedded=finding, crowd=crowd)
        self._vectors = vector.use
        self._ranker = ranker
        self._mix = ranker.mix(self._question)
        self._deadline = deadline
        self._rounds = Rounds(
            request, lanes, deadline, bodies_of(request.budget.evidence_k, len(lanes)) if with_bodies else 0
        )
        self._known_words_only = False

    async def run(self, cuts: Sequence[int], *, whole_list: bool) -> Retrieved:
        """Try the cuts in turn until the ranking is settled.

        Args:
            cuts: at least one, rising.
            whole_list: settle the order of all candidates, not only of the best ``evidence_k``.
        """
        if self._ordering is not None:
            # All candidates have to be known: whichever of them is the most like the query may come first.
            cuts, whole_list = (self._request.budget.candidate_k,), True
        if self._request.flags.indexed_candidate_retrieval:
            ranking = await self._ranked(cuts, whole_list=whole_list)
        else:
            pool, doubt = await self._pool(EVERYTHING, self._request.budget.evidence_k, None)
            ranking = ranked_then_cut(self._ranker, self._question, self._request, pool, n=cuts[-1], doubt=doubt)
        if self._ordering is not None:
            ranking = await self._ordered_by_vector(ranking, self._ordering)
        return Retrieved(
            ranking=ranking,
            replies=self._rounds.replies,
            question=self._question,
            mix=self._mix,
            vectors=self._vectors,
            rounds=self._rounds.count,
            bodies=self._rounds.bodies,
            surplus=self._rounds.surplus,
        )

    async def _ranked(self, cuts: Sequence[int], *, whole_list: bool) -> Ranking:
        ranking = await self._attempt(cuts[0], whole_list=whole_list, weights=None)
        for n in cuts[1:]:
            if ranking.doubt is None:
                break
            ranking = await self._attempt(n, whole_list=whole_list, weights=ranking.rows.weights)
        return ranking

    async def _attempt(self, n: int, *, whole_list: bool, weights: npt.NDArray[np.int64] | None) -> Ranking:
        """Rank the best ``n``. Where the proof fails, the shards in doubt are asked again with the summed weights."""
        additive = self._ranker.bound == 0 and not whole_list
        pool, doubt = await self._pool(n, self._request.budget.evidence_k if additive else n, weights)
        shown = places_of(self._request.budget.evidence_k, n, pool.ids, self._rounds.hits.values())
        return cut_then_ranked(self._ranker, self._question, self._request, pool, n=n, doubt=doubt, places=shown)

    async def _pool(self, n: int, places: int, weights: npt.NDArray[np.int64] | None) -> tuple[Pool, Doubt | None]:
        """The best ``n`` of all shards and the kept rows, and why they may lack one of the best ``places``."""
        rounds = self._rounds
        await rounds.ask(self._question, self._mix, n, weights)
        await self._ask_otherwise(n, first=weights is None)
        pool = merge(rounds.hits, self._question, self._mix, n, rounds.kept)
        if doubtful := rounds.in_doubt(pool, places_of(places, n, pool.ids, rounds.hits.values())):
            await rounds.ask(self._question, self._mix, n, pool.weights, doubtful)
            pool = merge(rounds.hits, self._question, self._mix, n, rounds.kept)
            doubtful = rounds.in_doubt(pool, places_of(places, n, pool.ids, rounds.hits.values()))
        if doubtful or self._known_words_only:
            return pool, Doubt.CUT
        return pool, Doubt.GRAPH if any(hits.approximate for hits in rounds.hits.values()) else None

    async def _ask_otherwise(self, n: int, *, first: bool) -> None:
        """Ask again where the replies change the question: without its vector, or with what unknown words may mean."""
        rounds = self._rounds
        self._count_the_crowd()
        by_words = self._vectors_are_missing()
        if by_words:
            self._forget_vector()
        # What one shard had no time to tell would be missing beside what the others did.
        self._known_words_only |= first and any(hits.near_expired for hits in rounds.hits.values())
        known = not first or self._known_words_only
        meant = None if known else expanded(self._request.query, self._question, rounds.hits.values())
        if meant is not None:
            if await rounds.ask_anew(meant.question, self._mix, n, meant.weights):
                self._question = meant.question
            else:
                self._known_words_only = True
        elif by_words:
            weights = summed_weights(rounds.hits.values(), self._question.term_weights)
            await rounds.ask(self._question, self._mix, n, weights)

    def _count_the_crowd(self) -> None:
        """Note how many records were searched; where that changes the mix, other rows may be the best."""
        crowd = sum([hits.authorized for hits in self._rounds.hits.values()])
        if crowd == self._question.crowd:
            return
        self._question = replace(self._question, crowd=crowd)
        mix = self._ranker.mix(self._question)
        if mix != self._mix:
            self._mix = mix
            self._rounds.mix_has_changed()

    def _vectors_are_missing(self) -> bool:
        """Whether too many of the caller's records cannot be compared with the query's vector; notes how many."""
        if self._question.embedded is None:
            return False
        hits = self._rounds.hits.values()
        missing = sum(reply.unembedded for reply in hits)
        self._vectors = replace(self._vectors, missing=missing)
        return missing * MISSING_SHARE > sum(reply.authorized for reply in hits)

    def _forget_vector(self) -> None:
        """Go on by words alone."""
        self._vectors = replace(self._vectors, state=VectorState.EMBEDDING)
        self._question = replace(self._question, embedded=None)
        self._mix = self._ranker.mix(self._question)
        self._rounds.forget_vectors()

    async def _ordered_by_vector(self, ranking: Ranking, embedded: EmbeddedQuery) -> Ranking:
        """The same rows, by words and likeness; by words alone where they cannot be compared."""
        rows = ranking.rows
        question = replace(self._question, embedded=embedded)
        mix = self._ranker.mix(question)
        self._rounds.count += 1
        found = await likenesses_of(
            rows, self._rounds.query(question, mix, 1, None), self._rounds.answering, self._deadline
        )
        if found is None:
            self._vectors = replace(self._vectors, state=VectorState.TIMEOUT)
            return ranking
        self._vectors = replace(self._vectors, missing=found.missing)
        if found.missing * MISSING_SHARE > found.authorized:
            self._vectors = replace(self._vectors, state=VectorState.EMBEDDING)
            return ranking
        self._question, self._mix = question, mix
        scores = index_scores(rows.values, rows.bonuses, found.rows, rows.weights, mix)
        order = best_first(rows.ids, scores)
        alike = replace(rows, likenesses=found.rows, scores=scores).rows(order)
        by_both, scores = ordered(self._ranker, question, alike)
        # A match that was no candidate might have been the most like the query.
        doubt = ranking.doubt or (None if rows.matched <= len(rows.ids) else Doubt.RANKER)
        return Ranking(rows=by_both, scores=scores, candidates=ranking.candidates, doubt=doubt)
