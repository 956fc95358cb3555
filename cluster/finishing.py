"""Finishing: what is worth doing once every record has its vector: graphs, then snapshots, then a smaller cache.

It follows ``cluster.embedding``, and stops for nobody: writes, searches and new vectors go on beside it.
"""

import asyncio
import logging
from typing import Final

from cluster.copies import Copy, Slot
from cluster.embedding import Embedding
from cluster.errors import RegistryUnavailable, ShardUnavailable
from cluster.follower import Follower
from cluster.keeper import Keeper
from cluster.loading import STEP_TIMEOUT_S
from cluster.roster import Roster
from cluster.vector_cache import VectorCache
from shards.errors import ShardError

_DROPPED_AT_ONCE: Final = 500
"""Texts in one transaction of the clean-up."""

_CHANGES_BETWEEN: Final = 1000
"""Changes of the registry after which the clean-up is worth a look through all of the cache."""

_BREATH_S: Final = 0.01
"""Between two pieces of a graph, so that searches never wait for a copy that does nothing else."""

_log = logging.getLogger(__name__)


class Finishing:
    """The loop over one roster. It runs once, in one event loop."""

    def __init__(
        self, embedding: Embedding, cache: VectorCache, *, roster: Roster, follower: Follower, keeper: Keeper
    ) -> None:
        self._embedding = embedding
        self._cache = cache
        self._roster = roster
        self._follower = follower
        self._keeper = keeper
        self._cleaned_seq: int | None = None

    async def run(self) -> None:
        """Finish, whenever the embedding is complete, for ever."""
        while True:
            await self._embedding.complete.wait()
            self._embedding.complete.clear()
            for slot, copy in tuple(self._roster.ready()):
                await self._build_graphs(slot, copy)
            await self._keeper.save_vectors()
            await self._clean()
            for slot, copy in tuple(self._roster.ready()):
                # For the counts of whoever asks for the status now.
                await self._keeper.check(slot, copy)
            self._embedding.finished()

    async def _build_graphs(self, slot: Slot, copy: Copy) -> None:
        try:
            while slot.copy is copy:
                async with asyncio.timeout(STEP_TIMEOUT_S):
                    if not await copy.build_graph():
                        return
                slot.unsaved_graph = True
                await asyncio.sleep(_BREATH_S)
        except (TimeoutError, ShardUnavailable, ShardError) as exc:
            # Searches compare every vector where there is no graph.
            _log.warning("graph_not_built", extra={"shard": slot.shard, "reason": type(exc).__name__})

    async def _clean(self) -> None:
        """Drop the vectors of texts that no record has any more: rarely, and not many in one transaction."""
        seq = self._follower.seq
        if self._cleaned_seq is not None and seq - self._cleaned_seq < _CHANGES_BETWEEN:
            return
        try:
            while await asyncio.to_thread(self._cache.drop_unused, _DROPPED_AT_ONCE) == _DROPPED_AT_ONCE:
                _log.debug("vectors_dropped")
        except RegistryUnavailable:
            _log.warning("vector_cache_not_cleaned", exc_info=True)
        else:
            self._cleaned_seq = seq
