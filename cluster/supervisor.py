"""Supervisor: the single writer. It owns the registry, keeps every shard copy loaded, in step and alive.

It is plain asyncio and imports no Ray: ``cluster.placement`` runs it as an actor and launches the copies. It routes
no search; routers get the map from it and talk to the copies themselves.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.control import ClusterStatus, Receipt
from cluster.copies import Copy, Launch, Slot
from cluster.errors import BrokenFeed, RegistryUnavailable, ShardUnavailable
from cluster.feed import FeedBatch, batches
from cluster.health import CopyState
from cluster.loading import FEED_BATCH, Loader
from cluster.partition import bucket_range
from cluster.registry import Registry
from cluster.registry_values import RegistryCounts
from cluster.roster import MapView, Roster
from cluster.writes import RegistryWrites
from shards.errors import ShardError
from shards.record import BUCKETS, Record, Status

_RETRY_S: Final = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Pause before the next copy, by the number of copies in this place that never became ready in a row."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How patient the supervisor is, in seconds.

    Attributes:
        apply_timeout_s: a copy that does not answer a change or a health check in this time is replaced.
        health_period_s: between two health checks of a copy.
        poll_s: between two looks for changes that another process wrote.
    """

    apply_timeout_s: float
    health_period_s: float
    poll_s: float


class Supervisor:
    """Keeps ``copies`` copies of each of ``shards`` shards; routers use one, the others stand by in step.

    An acknowledged write is in the registry and in every copy that answers searches: a copy that does not apply it in
    time is killed first. Changes reach the copies under one lock, so all ready ones stand at the same seq.
    """

    def __init__(
        self, registry: Registry, loader: Loader, launch: Launch, *, shards: int, copies: int, pace: Pace
    ) -> None:
        self._registry = registry
        self._writes = RegistryWrites(registry)
        self._loader = loader
        self._launch = launch
        self._shards = shards
        self._roster = Roster(shards=shards, copies=copies)
        self._pace = pace
        self._seq = 0
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._fault: BaseException | None = None
        self._fault_seen = asyncio.Event()

    async def start(self) -> None:
        """Begin to place copies; returns before they are loaded.

        Raises:
            RegistryUnavailable: if the registry cannot be read.
        """
        counts = await asyncio.to_thread(self._registry.counts)
        self._seq = counts.last_seq
        for slot in self._roster.slots:
            share = len(bucket_range(slot.shard, self._shards))
            slot.expected_records = round(_alive(counts) * share / BUCKETS)
        self._tasks = [asyncio.create_task(self._keep(slot)) for slot in self._roster.slots]
        self._tasks.append(asyncio.create_task(self._poll()))
        for task in self._tasks:
            task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """End every copy; those that moved on since their snapshot are saved first."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._lock:
            for slot, copy in self._roster.ready():
                if slot.number == 0 and slot.saved_seq < self._seq:
                    try:
                        await self._save(slot, copy, self._seq)
                    except (TimeoutError, ShardUnavailable):
                        _log.warning("snapshot_not_saved", extra={"shard": slot.shard}, exc_info=True)
        for slot in self._roster.slots:
            if slot.copy is not None:
                self._roster.give_up(slot, slot.copy, "stopped")

    async def failed(self) -> BaseException:
        """Return the fault that ended one of the loops: a defect, after which only a new supervisor can be trusted."""
        await self._fault_seen.wait()
        if self._fault is None:
            raise AssertionError("set only with a fault")
        return self._fault

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = fault
            self._fault_seen.set()

    # Reading the cluster

    async def map_after(self, version: int, timeout_s: float) -> MapView:
        """See ``Roster.view_after``."""
        return await self._roster.view_after(version, timeout_s)

    async def suspect(self, shard: int) -> None:
        """A router could not reach the copy of a shard: look now."""
        for slot, copy in tuple(self._roster.ready()):
            if slot.shard == shard:
                await self._check(slot, copy)

    async def status(self) -> ClusterStatus:
        """See ``ControlPlane.status``."""
        counts = await asyncio.to_thread(self._registry.counts)
        return ClusterStatus(
            health=self._roster.health(),
            seq=counts.last_seq,
            records=_alive(counts),
            map_version=self._roster.version,
            copies=tuple(slot.status() for slot in self._roster.slots),
        )

    # Writing

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None = None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``."""
        async with self._lock:
            receipts = await asyncio.to_thread(self._writes.upsert, records, tenants)
            await self._feed()
            return receipts

    async def remove(self, record_id: str, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.remove``."""
        return await self._write(lambda: self._writes.remove(record_id, tenants))

    async def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        return await self._write(lambda: self._writes.set_status(record_id, status, tenants))

    async def record(self, record_id: str) -> Record | None:
        """See ``ControlPlane.record``."""
        return await asyncio.to_thread(self._registry.get, record_id)

    async def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """See ``ControlPlane.put_grant_list``."""
        return await self._write(lambda: self._writes.put_grant_list(tenant, name, ids))

    async def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """See ``ControlPlane.grant_list``."""
        return await asyncio.to_thread(self._writes.grant_list, tenant, name)

    async def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """See ``ControlPlane.delete_grant_list``."""
        return await self._write(lambda: self._writes.delete_grant_list(tenant, name))

    async def _write(self, write: Callable[[], Receipt]) -> Receipt:
        async with self._lock:
            receipt = await asyncio.to_thread(write)
            await self._feed()
            return receipt

    # Following the registry

    async def _poll(self) -> None:
        """Take up what other processes write. The lock is free between two batches, so own writes do not starve."""
        while True:
            try:
                while await asyncio.to_thread(self._registry.last_seq) > self._seq:
                    async with self._lock:
                        await self._feed_once()
            except (RegistryUnavailable, BrokenFeed):
                _log.exception("registry_not_followed")
            await asyncio.sleep(self._pace.poll_s)

    async def _feed(self) -> None:
        """Bring every ready copy to the end of the registry. Needs the lock."""
        while await self._feed_once():
            pass

    async def _feed_once(self) -> bool:
        """Apply the next batch of changes to every ready copy; False if there was none. Needs the lock."""
        changes = await asyncio.to_thread(self._registry.changes, self._seq, FEED_BATCH)
        if not changes:
            return False
        parts = batches(changes, self._seq, self._shards)
        await asyncio.gather(*(self._apply(slot, copy, parts[slot.shard]) for slot, copy in self._roster.ready()))
        self._seq = parts[0].upto_seq
        return True

    async def _apply(self, slot: Slot, copy: Copy, batch: FeedBatch) -> None:
        """Apply a batch, or end the copy: afterwards no copy answers searches without this change."""
        try:
            async with asyncio.timeout(self._pace.apply_timeout_s):
                await copy.apply(batch)
        except (TimeoutError, ShardUnavailable, ShardError) as exc:
            self._roster.give_up(slot, copy, f"change not applied: {type(exc).__name__}")

    # Keeping the copies

    async def _keep(self, slot: Slot) -> None:
        """The life of one slot: a copy after the other, for ever."""
        failures = 0
        while True:
            await asyncio.sleep(_RETRY_S[min(failures, len(_RETRY_S) - 1)])
            failures += 1
            slot.lost = asyncio.Event()
            slot.loaded_records = 0
            slot.state = CopyState.LOADING
            slot.copy = copy = self._launch(slot.shard)
            try:
                await self._fill(slot, copy)
                failures = 0
                await self._watch(slot, copy)
            except (TimeoutError, ShardUnavailable, ShardError, RegistryUnavailable, BrokenFeed) as exc:
                # Whatever kept a copy from becoming ready is for the operator: the traceback names no record's text.
                _log.warning("copy_not_loaded", extra={"shard": slot.shard}, exc_info=exc)
                self._roster.give_up(slot, copy, type(exc).__name__)

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
            seq = await self._loader.follow(slot.shard, copy, seq, self._seq)
        async with self._lock:
            # The registry may have moved past the other copies while this one was read from it.
            while self._seq < seq:
                await self._feed_once()
            async with asyncio.timeout(self._pace.apply_timeout_s):
                await self._loader.follow(slot.shard, copy, seq, self._seq)
                detail = await copy.status()
            self._roster.admit(slot, detail)

    async def _save(self, slot: Slot, copy: Copy, seq: int) -> None:
        await self._loader.save(slot.shard, copy, seq)
        slot.saved_seq = seq

    async def _watch(self, slot: Slot, copy: Copy) -> None:
        """Return once the copy was given up, by whoever noticed first."""
        death = asyncio.create_task(self._mourn(slot, copy))
        try:
            while not slot.lost.is_set():
                try:
                    async with asyncio.timeout(self._pace.health_period_s):
                        await slot.lost.wait()
                except TimeoutError:
                    await self._check(slot, copy)
        finally:
            death.cancel()

    async def _check(self, slot: Slot, copy: Copy) -> None:
        try:
            async with asyncio.timeout(self._pace.apply_timeout_s):
                slot.detail = await copy.status()
        except (TimeoutError, ShardUnavailable) as exc:
            self._roster.give_up(slot, copy, f"no sign of life: {type(exc).__name__}")

    async def _mourn(self, slot: Slot, copy: Copy) -> None:
        await copy.died()
        self._roster.give_up(slot, copy, "died")


def _alive(counts: RegistryCounts) -> int:
    return counts.enabled + counts.disabled + counts.deprecated
