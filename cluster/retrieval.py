"""Retrieval: the ranked candidates of one request, with the proof that the cut lost nothing.

It speaks to shards only through ``cluster.fanout``; it fetches no documents and hands over no evidence.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.budget import Budget, Deadline
from cluster.contract import Gap, SearchRequest
from cluster.fanout import Lane, Replies, ask_shards
from cluster.lossless import ranking_is_settled, shard_is_settled
from cluster.merge import Pool, best_first, merge, priority, winners, within_ceiling
from cluster.query import AnalyzedRequest
from cluster.ranker import Candidates, Ranker
from shards.messages import ScoreMix, ShardHits, ShardQuery

FIRST_CUT: Final = 32
"""Candidates of the first round at least: fewer save next to nothing and prove less."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Rows in their final order.

    Attributes:
        rows: the ranked rows, best first by (final score descending, id ascending).
        scores: int64[n_rows], the ranker's scores of these rows.
        candidates: how many rows survived the index cut, ranked or not.
        settled: the best ``evidence_k`` rows are proved to be those of the whole searched set.
    """

    rows: Pool
    scores: npt.NDArray[np.int64]
    candidates: int
    settled: bool

    def result(self, pinned: Collection[str], k: int) -> tuple[Pool, list[int]]:
        """The rows of the result and their scores, in their order: see ``winners``."""
        chosen = winners(self.rows, self.scores, pinned, k)
        return self.rows.rows(chosen), self.scores[np.asarray(chosen, dtype=np.intp)].tolist()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Retrieved:
    """The ranking, the replies behind it, and the mix that scored them."""

    ranking: Ranking
    replies: Replies
    mix: ScoreMix


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


class Retrieval:
    """The rounds of one request over the lanes it started with. Used once."""

    def __init__(
        self,
        request: SearchRequest,
        question: AnalyzedRequest,
        *,
        ranker: Ranker,
        lanes: Sequence[Lane],
        deadline: Deadline,
    ) -> None:
        self._request = request
        self._question = question
        self._ranker = ranker
        self._mix = ranker.mix(question)
        self._lanes = tuple(lanes)
        self._deadline = deadline
        self._pinned = frozenset(request.pinned)
        self._preferred = frozenset(request.preferred)
        self._hits: dict[int, ShardHits] = {}
        self._asked: dict[int, int] = {}
        self._gaps: dict[int, Gap] = {}

    async def run(self, cuts: Sequence[int], *, whole_list: bool) -> Retrieved:
        """Try the cuts in turn until the ranking is settled.

        Args:
            cuts: at least one, rising.
            whole_list: settle the order of all candidates, not only of the best ``evidence_k``.
        """
        ranking = await self._attempt(cuts[0], whole_list=whole_list, weights=None)
        for n in cuts[1:]:
            if ranking.settled:
                break
            ranking = await self._attempt(n, whole_list=whole_list, weights=ranking.rows.weights)
        return Retrieved(ranking=ranking, replies=Replies(hits=self._hits, gaps=self._gaps), mix=self._mix)

    async def _attempt(self, n: int, *, whole_list: bool, weights: npt.NDArray[np.int64] | None) -> Ranking:
        """Rank the best ``n``. Where the proof fails, the shards in doubt are asked again with the summed weights."""
        additive = self._ranker.bound == 0 and not whole_list
        places = self._request.budget.evidence_k if additive else n
        await self._ask(self._lanes, n, weights)
        pool = merge(self._hits, self._question, self._mix)
        if doubtful := self._in_doubt(pool, places):
            await self._ask(doubtful, n, pool.weights)
            pool = merge(self._hits, self._question, self._mix)
            doubtful = self._in_doubt(pool, places)
        return self._rank(pool.cut(n, self._pinned | self._preferred), n, lossless=not doubtful)

    async def _ask(self, lanes: Sequence[Lane], n: int, weights: npt.NDArray[np.int64] | None) -> None:
        """Search these shards; a later reply replaces an earlier one, a later silence does not."""
        query = self._shard_query(n, weights)
        answering = [lane for lane in lanes if lane.shard not in self._gaps]
        replies = await ask_shards(answering, query, self._deadline)
        kept = self._pinned | self._preferred
        for shard, hits in replies.hits.items():
            self._hits[shard], surplus = within_ceiling(hits, n, kept)
            self._asked[shard] = n
            if surplus:
                logger.warning("shard_over_ceiling", extra={"shard": shard, "asked": n, "surplus": surplus})
        self._gaps |= {shard: gap for shard, gap in replies.gaps.items() if shard not in self._hits}

    def _shard_query(self, n: int, weights: npt.NDArray[np.int64] | None) -> ShardQuery:
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
        )

    def _in_doubt(self, pool: Pool, places: int) -> list[Lane]:
        """Lanes of the shards that may hold back a record of the best ``places``."""
        floor = pool.floor(places)
        return [
            lane
            for lane in self._lanes
            if lane.shard in self._hits
            and not shard_is_settled(self._hits[lane.shard], self._asked[lane.shard], pool.weights, places, floor)
        ]

    def _rank(self, pool: Pool, n: int, *, lossless: bool) -> Ranking:
        budget = self._request.budget
        claims = priority(pool, self._pinned, self._preferred, budget.evidence_k)[:n]
        chosen = sorted(claims[: budget.rerank_k])
        rows = pool.rows(chosen)
        candidates = Candidates(values=rows.values, bonuses=rows.bonuses, weights=rows.weights)
        scores = self._ranker.rank(self._question, candidates)
        order = best_first(rows.ids, scores)
        ordered = scores[np.asarray(order, dtype=np.intp)]
        return Ranking(
            rows=rows.rows(order),
            scores=ordered,
            candidates=len(claims),
            settled=lossless and self._settled(ordered, pool, chosen, n),
        )

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


def _best_left_out(pool: Pool, chosen: Sequence[int], n: int) -> int | None:
    """Highest index score of a matching record that is not ranked, known or not; None if there is none.

    ``pool`` holds the best ``n`` rows of the searched set and then kept ones, so an unknown record is under the n-th.
    """
    best = max(pool.scores[np.setdiff1d(np.arange(len(pool.ids)), chosen)].tolist(), default=0)
    if pool.matched > int((pool.scores > 0).sum()):
        best = max(best, int(pool.scores[min(n, len(pool.ids)) - 1]) if pool.ids else 0)
    return best or None
