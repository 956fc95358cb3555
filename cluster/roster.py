"""Roster: the places of all shard copies and the map that routers get of them.

It loads, watches and starts nothing; ``cluster.keeper`` decides what comes and goes.
"""

import asyncio
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

from cluster.copies import Copy, CopyHandle, Slot
from cluster.health import CopyState, Health, health_of
from cluster.news import News
from shards.messages import ShardStatus

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapView:
    """What routers get: per shard, by number, the handle of the copy that answers, None while there is none."""

    version: int
    handles: tuple[CopyHandle | None, ...]


class Roster:
    """Slots for ``copies`` copies of each of ``shards`` shards. Routers use the first ready copy, others stand by.

    Attributes:
        slots: by shard, then by number of the copy.
        version: of the map.
        news: of copies that were let in, and of what ``cluster.follower`` told the ready ones.
    """

    def __init__(self, *, shards: int, copies: int) -> None:
        self.slots = tuple(Slot(shard=shard, number=number) for shard in range(shards) for number in range(copies))
        # Grows across restarts, so that routers take the first map of the next supervisor for the newer one.
        self.version = time.time_ns() // 1_000_000
        self.news = News()
        self._shards = shards
        self._moved = asyncio.Event()

    def ready(self) -> Iterator[tuple[Slot, Copy]]:
        """Slots whose copy answers searches."""
        for slot in self.slots:
            if slot.ready and slot.copy is not None:
                yield slot, slot.copy

    def serving(self) -> tuple[Slot | None, ...]:
        """Per shard, by number, the slot whose copy answers searches, None while there is none."""
        first: dict[int, Slot] = {}
        for slot, _ in self.ready():
            first.setdefault(slot.shard, slot)
        return tuple(first.get(shard) for shard in range(self._shards))

    def admit(self, slot: Slot, detail: ShardStatus) -> None:
        """Let the loaded copy of a slot answer searches."""
        slot.detail = detail
        slot.loaded_records = slot.expected_records = detail.records
        slot.state = CopyState.READY
        _log.info("copy_ready", extra={"shard": slot.shard, "records": detail.records, "seq": detail.seq})
        self._publish()
        self.news.ring()

    def give_up(self, slot: Slot, copy: Copy, reason: str) -> None:
        """End the copy and take it off the map. Harmless where another one noticed first."""
        if slot.copy is not copy:
            return
        _log.warning("copy_lost", extra={"shard": slot.shard, "reason": reason})
        copy.kill()
        slot.copy = None
        slot.state = CopyState.LOST
        slot.replaced += 1
        slot.lost.set()
        self._publish()

    def health(self) -> Health:
        """The cluster's health."""
        return health_of(self._shards, (slot.health() for slot in self.slots))

    def view(self) -> MapView:
        """The map of now."""
        copies = (None if slot is None else slot.copy for slot in self.serving())
        return MapView(version=self.version, handles=tuple(None if copy is None else copy.handle for copy in copies))

    async def view_after(self, version: int, timeout_s: float) -> MapView:
        """The map as soon as it is newer than ``version``, or the present one after ``timeout_s``."""
        if self.version <= version:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._moved.wait()
            except TimeoutError:
                _log.debug("map_unchanged")
        return self.view()

    def _publish(self) -> None:
        self.version += 1
        self._moved.set()
        self._moved = asyncio.Event()
