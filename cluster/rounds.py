"""Rounds: what the shards of one request have replied so far, and which of them have to be asked again.

It asks and remembers; why a question changes between two rounds, and what the rows are worth, is decided elsewhere
(``cluster.retrieval``).
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cluster.budget import Deadline
from cluster.contract import Gap, SearchRequest
from cluster.documents import Brought
from cluster.fanout import Lane, Replies, ask_shards
from cluster.lossless import shard_is_settled
from cluster.merge import Pool, within_ceiling
from cluster.query import AnalyzedRequest
from shards.messages import ScoreMix, ShardHits, ShardQuery

logger = logging.getLogger(__name__)


def query_of(
    request: SearchRequest,
    question: AnalyzedRequest,
    mix: ScoreMix,
    *,
    n: int,
    weights: Sequence[int] | None,
    bodies: int,
    remaining_ms: float,
) -> ShardQuery:
    """The question of a request as shards are asked it."""
    return ShardQuery(
        scope=request.scope,
        terms=question.terms,
        term_weights=question.term_weights,
        mix=mix,
        mentions=question.mentions,
        pinned=request.pinned,
        preferred=request.preferred,
        n=n,
        weights=None if weights is None else tuple(weights),
        remaining_ms=remaining_ms,
        min_seq=request.min_seq,
        vector=None if question.embedded is None else question.embedded.vector,
        bodies=bodies,
    )


class Rounds:
    """The replies to one request, over the lanes it started with.

    Args:
        bodies: of how many of its best rows each shard brings the documents along.

    Attributes:
        hits: by shard, the last complete reply.
        count: times that shards were asked.
        bodies: documents that came along.
        kept: ids that are returned whatever they score.
        surplus: rows that shards returned beyond the cut they were asked for; they were taken away.
    """

    def __init__(self, request: SearchRequest, lanes: Sequence[Lane], deadline: Deadline, bodies: int) -> None:
        self._request = request
        self._lanes = tuple(lanes)
        self._deadline = deadline
        self._bodies_asked = bodies
        self._asked: dict[int, int] = {}
        self._gaps: dict[int, Gap] = {}
        self._other_mix: set[int] = set()
        self.hits: dict[int, ShardHits] = {}
        self.count = 0
        self.surplus = 0
        self.bodies = Brought()
        self.kept = frozenset((*request.pinned, *request.preferred))

    @property
    def replies(self) -> Replies:
        """What came back, and why the rest did not."""
        return Replies(hits=self.hits, gaps=self._gaps)

    @property
    def answering(self) -> list[Lane]:
        """The lanes of the shards that have replied."""
        return [lane for lane in self._lanes if lane.shard in self.hits]

    async def ask(
        self,
        question: AnalyzedRequest,
        mix: ScoreMix,
        n: int,
        weights: npt.NDArray[np.int64] | None,
        lanes: Sequence[Lane] | None = None,
    ) -> None:
        """Search these shards, or all; a later reply replaces an earlier one, a later silence does not."""
        query = self.query(question, mix, n, weights)
        self.count += 1
        answering = [lane for lane in lanes or self._lanes if lane.shard not in self._gaps]
        replies = await ask_shards(answering, query, self._deadline)
        for shard, hits in replies.hits.items():
            self.hits[shard], surplus = within_ceiling(hits, n, self.kept)
            self._asked[shard] = n
            self.bodies.add(hits, query.bodies)
            self._other_mix.discard(shard)
            if surplus:
                self.surplus += surplus
                logger.warning("shard_over_ceiling", extra={"shard": shard, "asked": n, "surplus": surplus})
        self._gaps |= {shard: gap for shard, gap in replies.gaps.items() if shard not in self.hits}

    async def ask_anew(self, question: AnalyzedRequest, mix: ScoreMix, n: int, weights: npt.NDArray[np.int64]) -> bool:
        """Search by other terms, whose replies do not mix with those so far: all of these are replaced, or none.

        False where a shard that had replied did not do so in time; everything then is as it was.
        """
        hits, gaps, other_mix = self.hits, dict(self._gaps), self._other_mix
        self.hits, self._other_mix = {}, set()
        await self.ask(question, mix, n, weights)
        if self.hits.keys() == hits.keys():
            return True
        self.hits, self._gaps, self._other_mix = hits, gaps, other_mix
        return False

    def mix_has_changed(self) -> None:
        """By the new mix other rows may be the best: no reply so far proves anything."""
        self._other_mix = set(self.hits)

    def forget_vectors(self) -> None:
        """The replies without their vectors: their rows stay good, though another sum has chosen them."""
        self.mix_has_changed()
        self.hits = {
            shard: replace(hits, likenesses=np.zeros_like(hits.likenesses), approximate=False)
            for shard, hits in self.hits.items()
        }

    def in_doubt(self, pool: Pool, places: int) -> list[Lane]:
        """Lanes of the shards that may hold back a record of the best ``places``, and can prove otherwise if asked."""
        floor = pool.floor(places)
        return [lane for lane in self.answering if not self._is_settled(lane.shard, pool, places, floor)]

    def query(
        self, question: AnalyzedRequest, mix: ScoreMix, n: int, weights: npt.NDArray[np.int64] | None
    ) -> ShardQuery:
        """See ``query_of``."""
        own = None if weights is None else weights.tolist()
        return query_of(
            self._request,
            question,
            mix,
            n=n,
            weights=own,
            bodies=self._bodies_asked,
            remaining_ms=self._deadline.remaining_ms(),
        )

    def _is_settled(self, shard: int, pool: Pool, places: int, floor: int | None) -> bool:
        if shard in self._other_mix:
            return False
        hits = self.hits[shard]
        # What a graph has chosen no second round would prove.
        return hits.approximate or shard_is_settled(hits, self._asked[shard], pool.weights, places, floor)
