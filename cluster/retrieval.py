"""Retrieval: the ranked candidates of one request, with the proof that the cut lost nothing.

It speaks to shards only through ``cluster.fanout``; it fetches no documents and hands over no evidence. Where too many
of the caller's records have no vector, it goes on by words alone: a record must not lose for being new. Where no
authorized record holds a word, it goes on with the terms that the word may have meant.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.budget import Budget, Deadline
from cluster.contract import Doubt, Gap, SearchRequest, VectorState, VectorUse
from cluster.expansion import Expanded, expanded
from cluster.fanout import Lane, Replies, ask_shards
from cluster.lossless import ranking_is_settled, shard_is_settled
from cluster.merge import Pool, best_first, merge, priority, summed_weights, winners, within_ceiling
from cluster.query import AnalyzedRequest
from cluster.query_vectors import QueryVector
from cluster.ranker import Candidates, Ranker
from shards.messages import ScoreMix, ShardHits, ShardQuery

FIRST_CUT: Final = 32
"""Candidates of the first round at least: fewer save next to nothing and prove less."""

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
        return self.rows.rows(chosen), self.scores[np.asarray(chosen, dtype=np.intp)].tolist()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Retrieved:
    """What was found, and how.

    Attributes:
        question: as it was answered; embedded only if vectors had a part in it.
        mix: that scored the rows.
        rounds: times that shards were asked.
    """

    ranking: Ranking
    replies: Replies
    question: AnalyzedRequest
    mix: ScoreMix
    vectors: VectorUse
    rounds: int


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
    """The rounds of one request over the lanes it started with. Used once.

    Args:
        crowd: authorized records, as far as known; a wrong number costs a second round, never an answer.
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
    ) -> None:
        self._request = request
        self._question = replace(question, embedded=vector.embedded, crowd=crowd)
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

    async def run(self, cuts: Sequence[int], *, whole_list: bool) -> Retrieved:
        """Try the cuts in turn until the ranking is settled.

        Args:
            cuts: at least one, rising.
            whole_list: settle the order of all candidates, not only of the best ``evidence_k``.
        """
        ranking = await self._attempt(cuts[0], whole_list=whole_list, weights=None)
        for n in cuts[1:]:
            if ranking.doubt is None:
                break
            ranking = await self._attempt(n, whole_list=whole_list, weights=ranking.rows.weights)
        return Retrieved(
            ranking=ranking,
            replies=Replies(hits=self._hits, gaps=self._gaps),
            question=self._question,
            mix=self._mix,
            vectors=self._vectors,
            rounds=self._rounds,
        )

    async def _attempt(self, n: int, *, whole_list: bool, weights: npt.NDArray[np.int64] | None) -> Ranking:
        """Rank the best ``n``. Where the proof fails, the shards in doubt are asked again with the summed weights."""
        additive = self._ranker.bound == 0 and not whole_list
        places = self._request.budget.evidence_k if additive else n
        await self._ask(self._lanes, n, weights)
        await self._ask_otherwise(n, first=weights is None)
        pool = merge(self._hits, self._question, self._mix)
        if doubtful := self._in_doubt(pool, places):
            await self._ask(doubtful, n, pool.weights)
            pool = merge(self._hits, self._question, self._mix)
            doubtful = self._in_doubt(pool, places)
        doubt = Doubt.CUT if doubtful or self._known_words_only else self._doubt_of_vectors()
        return self._rank(pool.cut(n, self._pinned | self._preferred), n, doubt)

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
        self._question = replace(self._question, crowd=sum(hits.authorized for hits in self._hits.values()))
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
        rows = pool.rows(chosen)
        candidates = Candidates(
            values=rows.values, bonuses=rows.bonuses, likenesses=rows.likenesses, weights=rows.weights
        )
        scores = self._ranker.rank(self._question, candidates)
        order = best_first(rows.ids, scores)
        ordered = scores[np.asarray(order, dtype=np.intp)]
        return Ranking(
            rows=rows.rows(order),
            scores=ordered,
            candidates=len(claims),
            doubt=doubt or (None if self._settled(ordered, pool, chosen, n) else Doubt.RANKER),
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
