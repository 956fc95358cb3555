"""Follower: brings every copy that answers searches to the end of the registry, all of them in step.

It reads the registry's changes and hands them out; it writes no record and starts no copy.
"""

import asyncio
import logging

from cluster.copies import Copy, Slot
from cluster.errors import BrokenFeed, RegistryUnavailable, ShardUnavailable
from cluster.feed import FeedBatch, batches, steps
from cluster.loading import FEED_BATCH
from cluster.registry import Registry
from cluster.roster import Roster
from cluster.wordless import wordless
from shards.errors import ShardError

_log = logging.getLogger(__name__)


class Follower:
    """The one way in which changes reach copies.

    Attributes:
        lock: whoever writes, hands changes out or lets a copy in holds it, so that all ready copies stand at one seq.
        seq: this seq.
    """

    def __init__(self, registry: Registry, roster: Roster, *, shards: int, apply_timeout_s: float) -> None:
        self.lock = asyncio.Lock()
        self.seq = 0
        self._registry = registry
        self._roster = roster
        self._shards = shards
        self._apply_timeout_s = apply_timeout_s

    async def poll(self, period_s: float) -> None:
        """Take up what other processes write, for ever.

        The lock is free between two batches, so that writes of our own do not starve.
        """
        while True:
            try:
                while await asyncio.to_thread(self._registry.last_seq) > self.seq:
                    async with self.lock:
                        await self.advance()
            except (RegistryUnavailable, BrokenFeed) as exc:
                _log.error("registry_not_followed", exc_info=wordless(exc))
            await asyncio.sleep(period_s)

    async def catch_up(self) -> None:
        """Bring every ready copy to the end of the registry. Needs the lock."""
        while await self.advance():
            pass

    async def advance(self) -> bool:
        """Apply the next batch of changes to every ready copy; False if there was none. Needs the lock."""
        changes = await asyncio.to_thread(self._registry.changes, self.seq, FEED_BATCH)
        if not changes:
            return False
        for step in steps(changes):
            parts = batches(step, self.seq, self._shards)
            await asyncio.gather(*(self._apply(slot, copy, parts[slot.shard]) for slot, copy in self._roster.ready()))
            self.seq = parts[0].upto_seq
            self._roster.news.changed(change.record_id for change in step if change.body is not None)
        return True

    async def _apply(self, slot: Slot, copy: Copy, batch: FeedBatch) -> None:
        """Apply a batch, or end the copy: afterwards no copy answers searches without this change."""
        try:
            async with asyncio.timeout(self._apply_timeout_s):
                await copy.apply(batch)
        except (TimeoutError, ShardUnavailable, ShardError) as exc:
            self._roster.give_up(slot, copy, f"change not applied: {type(exc).__name__}")
