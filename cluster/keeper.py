"""Keeper: the life of every shard copy: launch, load, let in, watch, and start the next one when it is lost.

It decides nothing about records; changes reach the copies through ``cluster.follower``.
"""

import asyncio
import logging
from typing import Final

from cluster.copies import Copy, Launch, Slot
from cluster.errors import BrokenFeed, RegistryUnavailable, ShardUnavailable
from cluster.follower import Follower
from cluster.health import CopyState
from cluster.loading import Loader
from cluster.registry import Registry
from cluster.roster import Roster
from cluster.wordless import wordless
from shards.errors import ShardError

_RETRY_S: Final = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Pause before the next copy, by the number of copies in this place that never became ready in a row."""

_FELT_SHARE: Final = 20
"""A snapshot that lacks the vectors of one record in this many is made anew: fewer are soon read from the cache."""

_log = logging.getLogger(__name__)


class Keeper:
    """Keeps the slots of a roster filled.

    Args:
        patience_s: a copy that does not answer a health check, or its last changes, in this time is replaced.
        health_period_s: between two health checks of a copy.
    """

    def __init__(
        self,
        registry: Registry,
        loader: Loader,
        launch: Launch,
        *,
        roster: Roster,
        follower: Follower,
        patience_s: float,
        health_period_s: float,
    ) -> None:
        self._registry = registry
        self._loader = loader
        self._launch = launch
        self._roster = roster
        self._follower = follower
        self._patience_s = patience_s
        self._health_period_s = health_period_s

    async def keep(self, slot: Slot) -> None:
        """The life of one slot: a copy after the other, for ever."""
        failures = 0
        while True:
            await asyncio.sleep(_RETRY_S[min(failures, len(_RETRY_S) - 1)])
            failures += 1
            slot.lost = asyncio.Event()
            slot.loaded_records = slot.unsaved_vectors = 0
            slot.unsaved_graph = False
            slot.state = CopyState.LOADING
            slot.copy = copy = self._launch(slot.shard)
            try:
                await self._fill(slot, copy)
                failures = 0
                await self._watch(slot, copy)
            except (TimeoutError, ShardUnavailable, ShardError, RegistryUnavailable, BrokenFeed) as exc:
                # Whatever kept a copy from becoming ready is for the operator: the traceback names no record's text.
                _log.warning("copy_not_loaded", extra={"shard": slot.shard}, exc_info=wordless(exc))
                self._roster.give_up(slot, copy, type(exc).__name__)

    async def check(self, slot: Slot, copy: Copy) -> None:
        """Give a copy up that shows no sign of life."""
        try:
            async with asyncio.timeout(self._patience_s):
                slot.detail = await copy.status()
        except (TimeoutError, ShardUnavailable) as exc:
            self._roster.give_up(slot, copy, f"no sign of life: {type(exc).__name__}")

    async def save_changed(self) -> None:
        """Save the copies that moved on since their snapshot. Needs the lock."""
        for slot, copy in self._roster.ready():
            changed = slot.saved_seq < self._follower.seq or slot.unsaved_vectors > 0 or slot.unsaved_graph
            if slot.number == 0 and changed:
                await self._save_if_possible(slot, copy)

    async def save_vectors(self) -> None:
        """Save the copies whose snapshot lacks a graph, or so many vectors that the next start would feel it."""
        for slot, copy in self._roster.ready():
            records = 0 if slot.detail is None else slot.detail.records
            worth_it = slot.unsaved_vectors * _FELT_SHARE > records or slot.unsaved_graph
            if slot.number == 0 and worth_it:
                await self._save_if_possible(slot, copy)

    async def _save_if_possible(self, slot: Slot, copy: Copy) -> None:
        try:
            await self._save(slot, copy, self._follower.seq)
        except (TimeoutError, ShardUnavailable, RegistryUnavailable):
            _log.warning("snapshot_not_saved", extra={"shard": slot.shard}, exc_info=True)

    async def _fill(self, slot: Slot, copy: Copy) -> None:
        """Load a copy, save it while nobody waits for it, and let it in at the seq of the others."""

        def progress(records: int) -> None:
            slot.loaded_records += records

        loaded = await self._loader.load(slot.shard, copy, progress)
        slot.saved_seq = 0 if loaded.fresh else loaded.seq
        head = await asyncio.to_thread(self._registry.last_seq)
        seq = await self._loader.follow(slot.shard, copy, loaded.seq, head)
        if loaded.fresh and slot.number == 0:
            await self._save(slot, copy, seq)
            seq = await self._loader.follow(slot.shard, copy, seq, self._follower.seq)
        async with self._follower.lock:
            # The registry may have moved past the other copies while this one was read from it.
            while self._follower.seq < seq:
                await self._follower.advance()
            # What was written while this waited for the lock: as long as each step comes in time it is not hung.
            await self._loader.follow(slot.shard, copy, seq, self._follower.seq, self._patience_s)
            async with asyncio.timeout(self._patience_s):
                detail = await copy.status()
            self._roster.admit(slot, detail)

    async def _save(self, slot: Slot, copy: Copy, seq: int) -> None:
        vectors, graph = slot.unsaved_vectors, slot.unsaved_graph
        # Counted from here on: what comes while the snapshot is being written is not in it.
        slot.unsaved_vectors, slot.unsaved_graph = 0, False
        saved_seq = 0
        try:
            saved_seq = await self._loader.save(slot.shard, copy, seq)
        finally:
            if saved_seq == 0:
                slot.unsaved_vectors += vectors
                slot.unsaved_graph |= graph
        slot.saved_seq = saved_seq

    async def _watch(self, slot: Slot, copy: Copy) -> None:
        """Return once the copy was given up, by whoever noticed first."""
        death = asyncio.create_task(self._mourn(slot, copy))
        try:
            while not slot.lost.is_set():
                try:
                    async with asyncio.timeout(self._health_period_s):
                        await slot.lost.wait()
                except TimeoutError:
                    await self.check(slot, copy)
        finally:
            death.cancel()

    async def _mourn(self, slot: Slot, copy: Copy) -> None:
        await copy.died()
        self._roster.give_up(slot, copy, "died")
