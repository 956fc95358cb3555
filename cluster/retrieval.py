"""Retrieval: the ranked candidates of one request, with the proof that the cut lost nothing.

It speaks to shards only through ``cluster.fanout``; it fetches no documents and hands over no evidence. Where too many
of the caller's records have no vector, it goes on by words alone: a record must not lose for being new. Where no
authorized record holds a word, it goes on with the terms that the word may have meant. Two flags of the request change
the way: without the index everything that matches is ranked, and where vectors find no candidates they order them.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.budget import Budget, Deadline
from cluster.contract import Doubt, Gap, SearchRequest, VectorState, VectorUse
from cluster.embedder import EmbeddedQuery
from cluster.expansion import Expanded, expanded
from cluster.fanout import Lane, Replies, ask_shards
from cluster.lossless import ranking_is_settled, shard_is_settled
from cluster.merge import Pool, best_first, merge, priority, summed_weights, winners, within_ceiling
from cluster.query import AnalyzedRequest
from cluster.query_vectors import QueryVector
from cluster.ranker import Candidates, Ranker
from cluster.words_first import likenesses_of
from shards.messages import ScoreMix, ShardHits, ShardQuery
from shards.scoring import index_scores

FIRST_CUT: Final = 32
"""Candidates of the first round at least: fewer save next to nothing and prove less."""

EVERYTHING: Final = 2**31 - 1
"""The cut of a search without the index."""

BODIES_SPARE: Final = 2
"""Documents that come along beside twice a shard's share of the result."""

MISSING_SHARE: Final = 100
"""Vectors decide only where no more than one authorized record in this many lacks one."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Rows in their final order.

    Attributes:
        rows: the ranked rows, best first by (final score descending, id ascending).
        scores: int64[n_rows], the ranker's scores of these rows.
        candidates: how many rows survived the index cut, ranked or not.
        doubt: why the best ``evidence_k`` rows are not proved to be those of the whole searched set, None if they are.
    """

    rows: Pool
    scores: npt.NDArray[np.int64]
    candidates: int
    doubt: Doubt | None

    def result(self, pinned: Collection[str], k: int) -> tuple[Pool, list[int]]:
        """The rows of the result and their scores, in their order: see ``winners``."""
        chosen = winners(self.rows, self.scores, pinned, k)
        scores = self.scores.tolist()
        return self.rows.rows(chosen), [scores[row] for row in chosen]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Retrieved:
    """What was found, and how.

    Attributes:
        question: as it was answered; embedded only if vectors had a part in it.
        mix: that scored the rows.
        rounds: times that shards were asked.
        bodies: documents that came along, by id and version; authorized in the states that were searched.
    """

    ranking: Ranking
    replies: Replies
    question: AnalyzedRequest
    mix: ScoreMix
    vectors: VectorUse
    rounds: int
    bodies: Mapping[tuple[str, int], bytes]


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
        self._lanes = tuple(lanes)
        self._deadline = deadline
        self._pinned = frozenset(request.pinned)
        self._preferred = frozenset(request.preferred)
        self._hits: dict[int, ShardHits] = {}
        self._asked: dict[int, int] = {}
        self._gaps: dict[int, Gap] = {}
        self._other_mix: set[int] = set()
        self._known_words_only = False
        self._rounds = 0
        self._bodies_asked = bodies_of(request.budget.evidence_k, len(lanes)) if with_bodies else 0
        self._bodies: dict[tuple[str, int], bytes] = {}

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
            ranking = await self._ranked_whole(cuts[-1])
        if self._ordering is not None:
            ranking = await self._ordered_by_vector(ranking, self._ordering)
        return Retrieved(
            ranking=ranking,
            replies=Replies(hits=self._hits, gaps=self._gaps),
            question=self._question,
            mix=self._mix,
            vectors=self._vectors,
            rounds=self._rounds,
            bodies=self._bodies,
        )

    async def _ranked(self, cuts: Sequence[int], *, whole_list: bool) -> Ranking:
        ranking = await self._attempt(cuts[0], whole_list=whole_list, weights=None)
        for n in cuts[1:]:
            if ranking.doubt is None:
                break
            ranking = await self._attempt(n, whole_list=whole_list, weights=ranking.rows.weights)
        return ranking

    async def _ranked_whole(self, n: int) -> Ranking:
        """Rank everything authorized that matches, and cut then: what the index is measured by."""
        pool, doubt = await self._pool(EVERYTHING, self._request.budget.evidence_k, None)
        rows, scores = self._ordered(pool)
        budget = self._request.budget
        claims = priority(rows, self._pinned, self._preferred, budget.evidence_k)[:n]
        chosen = sorted(claims[: budget.rerank_k])
        return Ranking(
            rows=rows.rows(chosen), scores=scores[np.array(chosen, np.intp)], candidates=len(claims), doubt=doubt
        )

    async def _ordered_by_vector(self, ranking: Ranking, embedded: EmbeddedQuery) -> Ranking:
        """The same rows, by words and likeness; by words alone where they cannot be compared."""
        rows = ranking.rows
        question = replace(self._question, embedded=embedded)
        mix = self._ranker.mix(question)
        query = replace(self._shard_query(1, None), mix=mix, vector=embedded.vector)
        self._rounds += 1
        answered = [lane for lane in self._lanes if lane.shard in self._hits]
        found = await likenesses_of(rows, query, answered, self._deadline)
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
        ordered, scores = self._ordered(alike)
        # A match that was no candidate might have been the most like the query.
        doubt = ranking.doubt or (None if rows.matched <= len(rows.ids) else Doubt.RANKER)
        return Ranking(rows=ordered, scores=scores, candidates=ranking.candidates, doubt=doubt)

    async def _attempt(self, n: int, *, whole_list: bool, weights: npt.NDArray[np.int64] | None) -> Ranking:
        """Rank the best ``n``. Where the proof fails, the shards in doubt are asked again with the summed weights."""
        additive = self._ranker.bound == 0 and not whole_list
        pool, doubt = await self._pool(n, self._request.budget.evidence_k if additive else n, weights)
        return self._rank(pool.cut(n, self._pinned | self._preferred), n, doubt)

    async def _pool(self, n: int, places: int, weights: npt.NDArray[np.int64] | None) -> tuple[Pool, Doubt | None]:
        """The best ``n`` of every shard, and why they may lack one of the best ``places``."""
        await self._ask(self._lanes, n, weights)
        await self._ask_otherwise(n, first=weights is None)
        pool = merge(self._hits, self._question, self._mix)
        if doubtful := self._in_doubt(pool, places):
            await self._ask(doubtful, n, pool.weights)
            pool = merge(self._hits, self._question, self._mix)
            doubtful = self._in_doubt(pool, places)
        return pool, Doubt.CUT if doubtful or self._known_words_only else self._doubt_of_vectors()

    async def _ask_otherwise(self, n: int, *, first: bool) -> None:
        """Ask again where the replies change the question: without its vector, or with what unknown words may mean."""
        self._count_the_crowd()
        by_words = self._vectors_are_missing()
        if by_words:
            self._forget_vector()
        # What one shard had no time to tell would be missing beside what the others did.
        self._known_words_only |= first and any(hits.near_expired for hits in self._hits.values())
        known = not first or self._known_words_only
        meant = None if known else expanded(self._request.query, self._question, self._hits.values())
        if meant is not None:
            await self._ask_expanded(meant, n)
        elif by_words:
            await self._ask(self._lanes, n, summed_weights(self._hits.values(), self._question.term_weights))

    async def _ask_expanded(self, meant: Expanded, n: int) -> None:
        """Search by more terms. Replies to fewer do not mix with them: one that comes too late takes the terms back."""
        question, hits, gaps, other_mix = self._question, self._hits, dict(self._gaps), self._other_mix
        self._question, self._hits, self._other_mix = meant.question, {}, set()
        await self._ask(self._lanes, n, meant.weights)
        if self._hits.keys() != hits.keys():
            self._question, self._hits, self._gaps, self._other_mix = question, hits, gaps, other_mix
            self._known_words_only = True

    def _count_the_crowd(self) -> None:
        """Note how many records were searched; where that changes the mix, other rows may be the best."""
        crowd = sum([hits.authorized for hits in self._hits.values()])
        if crowd == self._question.crowd:
            return
        self._question = replace(self._question, crowd=crowd)
        mix = self._ranker.mix(self._question)
        if mix != self._mix:
            self._mix = mix
            self._other_mix = set(self._hits)

    def _vectors_are_missing(self) -> bool:
        """Whether too many of the caller's records cannot be compared with the query's vector; notes how many."""
        if self._question.embedded is None:
            return False
        missing = sum(hits.unembedded for hits in self._hits.values())
        self._vectors = replace(self._vectors, missing=missing)
        return missing * MISSING_SHARE > sum(hits.authorized for hits in self._hits.values())

    def _forget_vector(self) -> None:
        """Go on by words alone."""
        self._vectors = replace(self._vectors, state=VectorState.EMBEDDING)
        self._question = replace(self._question, embedded=None)
        self._mix = self._ranker.mix(self._question)
        self._other_mix = set(self._hits)
        self._hits = {shard: _by_words(hits) for shard, hits in self._hits.items()}

    def _doubt_of_vectors(self) -> Doubt | None:
        return Doubt.GRAPH if any(hits.approximate for hits in self._hits.values()) else None

    async def _ask(self, lanes: Sequence[Lane], n: int, weights: npt.NDArray[np.int64] | None) -> None:
        """Search these shards; a later reply replaces an earlier one, a later silence does not."""
        query = self._shard_query(n, weights)
        self._rounds += 1
        answering = [lane for lane in lanes if lane.shard not in self._gaps]
        replies = await ask_shards(answering, query, self._deadline)
        kept = self._pinned | self._preferred
        for shard, hits in replies.hits.items():
            self._hits[shard], surplus = within_ceiling(hits, n, kept)
            self._asked[shard] = n
            if hits.bodies:
                rows = zip(hits.ids, hits.versions[: query.bodies].tolist(), strict=False)
                self._bodies |= zip(rows, hits.bodies, strict=False)
            self._other_mix.discard(shard)
            if surplus:
                logger.warning("shard_over_ceiling", extra={"shard": shard, "asked": n, "surplus": surplus})
        self._gaps |= {shard: gap for shard, gap in replies.gaps.items() if shard not in self._hits}

    def _shard_query(self, n: int, weights: npt.NDArray[np.int64] | None) -> ShardQuery:
        embedded = self._question.embedded
        return ShardQuery(
            scope=self._request.scope,
            terms=self._question.terms,
            term_weights=self._question.term_weights,
            mix=self._mix,
            mentions=self._question.mentions,
            pinned=self._request.pinned,
            preferred=self._request.preferred,
            n=n,
            weights=None if weights is None else tuple(weights.tolist()),
            remaining_ms=self._deadline.remaining_ms(),
            min_seq=self._request.min_seq,
            vector=None if embedded is None else embedded.vector,
            bodies=self._bodies_asked,
        )

    def _in_doubt(self, pool: Pool, places: int) -> list[Lane]:
        """Lanes of the shards that may hold back a record of the best ``places``, and can prove otherwise if asked."""
        floor = pool.floor(places)
        return [
            lane
            for lane in self._lanes
            if (hits := self._hits.get(lane.shard)) is not None
            and (
                lane.shard in self._other_mix
                or not (
                    hits.approximate or shard_is_settled(hits, self._asked[lane.shard], pool.weights, places, floor)
                )
            )
        ]

    def _rank(self, pool: Pool, n: int, doubt: Doubt | None) -> Ranking:
        budget = self._request.budget
        claims = priority(pool, self._pinned, self._preferred, budget.evidence_k)[:n]
        chosen = sorted(claims[: budget.rerank_k])
        rows, scores = self._ordered(pool.rows(chosen))
        return Ranking(
            rows=rows,
            scores=scores,
            candidates=len(claims),
            doubt=doubt or (None if self._settled(scores, pool, chosen, n) else Doubt.RANKER),
        )

    def _ordered(self, rows: Pool) -> tuple[Pool, npt.NDArray[np.int64]]:
        """The rows by the ranker's scores, and these."""
        if self._ranker.bound == 0:
            # Final and index scores are equal, and the pool is in their order.
            return rows, rows.scores
        candidates = Candidates(
            values=rows.values, bonuses=rows.bonuses, likenesses=rows.likenesses, weights=rows.weights
        )
        scores = self._ranker.rank(self._question, candidates)
        order = best_first(rows.ids, scores)
        return rows.rows(order), scores[np.asarray(order, dtype=np.intp)]

    def _settled(self, scores: npt.NDArray[np.int64], pool: Pool, chosen: Sequence[int], n: int) -> bool:
        match self._ranker.bound:
            case None:
                return False
            case 0:
                # Final and index scores are equal: the ranked rows hold the best ones in their order, ties included.
                return True
            case bound:
                k = self._request.budget.evidence_k
                kth_score = int(scores[k - 1]) if len(scores) >= k else None
                return ranking_is_settled(kth_score, _best_left_out(pool, chosen, n), bound)


def _by_words(hits: ShardHits) -> ShardHits:
    """A reply without its vectors: its rows stay good, though another sum has chosen them."""
    return replace(hits, likenesses=np.zeros_like(hits.likenesses), approximate=False)


def _best_left_out(pool: Pool, chosen: Sequence[int], n: int) -> int | None:
    """Highest index score of a matching record that is not ranked, known or not; None if there is none.

    ``pool`` holds the best ``n`` rows of the searched set and then kept ones, so an unknown record is under the n-th.
    """
    best = max(pool.scores[np.setdiff1d(np.arange(len(pool.ids)), chosen)].tolist(), default=0)
    if pool.matched > int((pool.scores > 0).sum()):
        best = max(best, int(pool.scores[min(n, len(pool.ids)) - 1]) if pool.ids else 0)
    return best or None
