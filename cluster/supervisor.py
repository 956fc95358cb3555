"""Supervisor: the single writer. It owns the registry; no write is acknowledged before every copy has it.

``cluster.follower`` brings the copies there, ``cluster.keeper`` keeps them alive, ``cluster.embedding`` gives their
records vectors. All are plain asyncio without Ray: ``cluster.placement`` runs them as an actor and launches the copies.
It routes no search; routers get the map from it and talk to the copies themselves.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.control import ClusterStatus, EmbeddingState, EmbeddingStatus, Receipt
from cluster.copies import Copy, Launch
from cluster.duplicate_store import ConfirmedPair
from cluster.embedding import Embedding, VectorSource
from cluster.errors import ShardUnavailable
from cluster.export_store import ExportStore
from cluster.exports import ExportDesk, Exporter, ExportOrder, ExportPage
from cluster.finishing import Finishing
from cluster.follower import Follower
from cluster.keeper import Keeper
from cluster.loading import Loader
from cluster.partition import bucket_range
from cluster.registry import Registry
from cluster.registry_values import RegistryCounts
from cluster.roster import MapView, Roster
from cluster.wordless import wordless
from cluster.writes import RegistryWrites
from shards.errors import ShardError
from shards.messages import Listing, ListingRequest
from shards.record import BUCKETS, Record, Status

_log = logging.getLogger(__name__)

_LISTING_TIMEOUT_S: Final = 10.0
"""For one copy to list what an export asks for: 0.1 s of 100,000 records, behind the searches that wait there."""

_NO_EMBEDDING: Final = EmbeddingStatus(state=EmbeddingState.OFF)


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

    Args:
        exports: keeps the exports; without one it is made over the registry with the shipped limits.
        vectors: where the records' vectors come from; None is a search by words alone.
    """

    def __init__(
        self,
        registry: Registry,
        loader: Loader,
        launch: Launch,
        *,
        shards: int,
        copies: int,
        pace: Pace,
        exports: ExportDesk | None = None,
        vectors: VectorSource | None = None,
    ) -> None:
        self._registry = registry
        self._writes = RegistryWrites(registry)
        self._exports = ExportDesk(ExportStore(registry.engine)) if exports is None else exports
        self._shards = shards
        self._roster = Roster(shards=shards, copies=copies)
        self._pace = pace
        self._follower = Follower(registry, self._roster, shards=shards, apply_timeout_s=pace.apply_timeout_s)
        self._keeper = Keeper(
            registry,
            loader,
            launch,
            roster=self._roster,
            follower=self._follower,
            patience_s=pace.apply_timeout_s,
            health_period_s=pace.health_period_s,
        )
        self._vectors = vectors
        self._embedding: Embedding | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._fault: BaseException | None = None
        self._fault_seen = asyncio.Event()

    async def start(self) -> None:
        """Begin to place copies; returns before they are loaded.

        Raises:
            RegistryUnavailable: if the registry cannot be read.
        """
        counts = await asyncio.to_thread(self._registry.counts)
        self._follower.seq = counts.last_seq
        for slot in self._roster.slots:
            share = len(bucket_range(slot.shard, self._shards))
            slot.expected_records = round(_alive(counts) * share / BUCKETS)
        self._tasks = [asyncio.create_task(self._keeper.keep(slot)) for slot in self._roster.slots]
        self._tasks.append(asyncio.create_task(self._follower.poll(self._pace.poll_s)))
        for task in self._tasks:
            task.add_done_callback(self._ended)
        if self._vectors is not None:
            self._start_embedding(self._vectors)

    def _start_embedding(self, source: VectorSource) -> None:
        self._embedding = embedding = Embedding(
            source, self._registry, self._roster, shards=self._shards, patience_s=self._pace.apply_timeout_s
        )
        finishing = Finishing(
            embedding, source.cache, roster=self._roster, follower=self._follower, keeper=self._keeper
        )

        def ended(task: asyncio.Task[None]) -> None:
            # A defect there must not end the searches by words here.
            if not task.cancelled() and (fault := task.exception()) is not None:
                _log.critical("embedding_ended", exc_info=wordless(fault))
                embedding.broken(fault)

        for work in (embedding.run(), finishing.run()):
            task = asyncio.create_task(work)
            task.add_done_callback(ended)
            self._tasks.append(task)

    async def stop(self) -> None:
        """End every copy; those that moved on since their snapshot are saved first."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self._follower.lock:
            await self._keeper.save_changed()
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

    async def map_after(self, version: int, timeout_s: float) -> MapView:
        """See ``Roster.view_after``."""
        return await self._roster.view_after(version, timeout_s)

    async def suspect(self, shard: int) -> None:
        """A router could not reach the copy of a shard: look now."""
        for slot, copy in tuple(self._roster.ready()):
            if slot.shard == shard:
                await self._keeper.check(slot, copy)

    async def status(self) -> ClusterStatus:
        """See ``ControlPlane.status``."""
        counts = await asyncio.to_thread(self._registry.counts)
        return ClusterStatus(
            health=self._roster.health(),
            seq=counts.last_seq,
            records=_alive(counts),
            map_version=self._roster.version,
            copies=tuple(slot.status() for slot in self._roster.slots),
            embedding=self.embedding(),
        )

    def embedding(self) -> EmbeddingStatus:
        """The part of the status that costs nothing to ask for."""
        return _NO_EMBEDDING if self._embedding is None else self._embedding.status()

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None = None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``."""
        async with self._follower.lock:
            receipts = await asyncio.to_thread(self._writes.upsert, records, tenants)
            await self._follower.catch_up()
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

    async def open_export(self, order: ExportOrder) -> ExportPage:
        """See ``ControlPlane.open_export``."""
        self._exports.admit(order.exporter)
        # Nothing is written to a copy or let in meanwhile: all copies list the state at one seq.
        async with self._follower.lock:
            await self._follower.catch_up()
            copies = [(shard, self._serving(shard)) for shard in range(self._shards)]
            listings = await asyncio.gather(*(_listing(shard, copy, order.listing) for shard, copy in copies))
        return await asyncio.to_thread(self._exports.open, order, listings)

    async def export_page(self, exporter: Exporter, cursor: str, page_size: int | None = None) -> ExportPage:
        """See ``ControlPlane.export_page``."""
        self._exports.admit(exporter)
        return await asyncio.to_thread(self._exports.page, exporter, cursor, page_size)

    async def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """See ``ControlPlane.confirm_duplicate``."""
        async with self._follower.lock:
            await asyncio.to_thread(self._registry.confirm_duplicate, pair)
            await self._follower.catch_up()

    async def withdraw_duplicate(self, duplicate: str) -> bool:
        """See ``ControlPlane.withdraw_duplicate``."""
        async with self._follower.lock:
            withdrawn = await asyncio.to_thread(self._registry.withdraw_duplicate, duplicate)
            await self._follower.catch_up()
            return withdrawn

    async def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """See ``ControlPlane.confirmed_duplicates``."""
        return await asyncio.to_thread(self._registry.confirmed_duplicates, ids)

    def _serving(self, shard: int) -> Copy:
        slot = self._roster.serving()[shard]
        if slot is None or slot.copy is None:
            raise ShardUnavailable(shard, "loading")
        return slot.copy

    async def _write(self, write: Callable[[], Receipt]) -> Receipt:
        async with self._follower.lock:
            receipt = await asyncio.to_thread(write)
            await self._follower.catch_up()
            return receipt


async def _listing(shard: int, copy: Copy, request: ListingRequest) -> Listing:
    """What a copy lists; whether it is hung is for its health check to say.

    Raises:
        ShardUnavailable: if it does not come.
    """
    try:
        async with asyncio.timeout(_LISTING_TIMEOUT_S):
            return await copy.listing(request)
    except (TimeoutError, ShardError) as exc:
        raise ShardUnavailable(shard, type(exc).__name__) from exc


def _alive(counts: RegistryCounts) -> int:
    return counts.enabled + counts.disabled + counts.deprecated
