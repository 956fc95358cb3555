"""Placement on Ray: shard copies as actors, and the supervisor as the actor that owns them.

It decides nothing; ``cluster.supervisor`` does, and knows no Ray.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any, Final

import ray

from cluster.config import Settings
from cluster.control import ClusterStatus, EmbeddingStatus, Receipt
from cluster.copies import CopyHandle
from cluster.duplicate_store import ConfirmedPair
from cluster.embedders import open_embedder
from cluster.embedding import VectorSource
from cluster.errors import ShardUnavailable
from cluster.export_store import ExportStore
from cluster.exports import ExportDesk, Exporter, ExportOrder, ExportPage
from cluster.feed import FeedBatch
from cluster.loading import Loader
from cluster.ray_client import shard_call
from cluster.registry import Registry
from cluster.roster import MapView
from cluster.snapshots import SnapshotStore
from cluster.supervisor import Pace, Supervisor
from cluster.vector_cache import VectorCache
from cluster.wordless import wordless
from shards.actor import start_actor
from shards.messages import Listing, ListingRequest, MissingVector, NewVector, ShardStatus, Twin
from shards.record import Record, Status

SUPERVISOR: Final = "shortlist-supervisor"
"""Name of the supervisor's actor in Ray's namespace ``NAMESPACE``."""

NAMESPACE: Final = "shortlist"

_SAVE_LOOK_S: Final = 0.05
"""Between two looks whether a snapshot is written."""

_log = logging.getLogger(__name__)


class RayCopy:
    """A shard copy in an actor of its own; a ``cluster.copies.Copy``.

    Where its process is on this machine, a file descriptor of the process (pidfd) makes its death visible at once and
    lets it be killed for certain, stopped or hung, before the next line runs: Ray's own kill only asks for it.
    """

    def __init__(self, shard: int) -> None:
        self._shard = shard
        self._actor = start_actor(shard)
        self._handle: CopyHandle | None = None
        self._process: int | None = None
        self._killed = False

    @property
    def handle(self) -> CopyHandle:
        """See ``Copy``; complete once ``begin_load`` was called.

        Raises:
            ShardUnavailable: before that.
        """
        if self._handle is None:
            raise ShardUnavailable(self._shard, "its door is not open yet")
        return self._handle

    async def open(self, directory: str) -> int:
        """See ``Copy.open``."""
        seq: int = await shard_call(self._shard, self._actor.open, directory)
        return seq

    async def save(self, directory: str) -> int:
        """See ``Copy.save``."""
        seq: int = await shard_call(self._shard, self._actor.begin_save, directory)
        while await shard_call(self._shard, self._actor.saving):  # noqa: ASYNC110 -- an actor has no event to wait for
            await asyncio.sleep(_SAVE_LOOK_S)
        return seq

    async def begin_load(self) -> None:
        """See ``Copy.begin_load``."""
        await shard_call(self._shard, self._actor.begin_load)
        self._handle = CopyHandle(door=await shard_call(self._shard, self._actor.open_door), actor=self._actor)
        await self._find_process()

    async def load_batch(self, bodies: Sequence[bytes]) -> None:
        """See ``Copy.load_batch``."""
        await shard_call(self._shard, self._actor.load_batch, bodies)

    async def finish_load(self, seq: int, grant_lists: Mapping[str, tuple[str, ...]], twins: Sequence[Twin]) -> None:
        """See ``Copy.finish_load``."""
        await shard_call(self._shard, self._actor.finish_load, seq, grant_lists, twins)

    async def apply(self, batch: FeedBatch) -> None:
        """See ``Copy.apply``."""
        await shard_call(self._shard, self._actor.apply, batch.after_seq, batch.upto_seq, batch.changes)

    async def missing_vectors(self, embedder: str, limit: int) -> tuple[MissingVector, ...]:
        """See ``Copy.missing_vectors``."""
        missing: tuple[MissingVector, ...] = await shard_call(self._shard, self._actor.missing_vectors, embedder, limit)
        return missing

    async def take_vectors(self, embedder: str, vectors: Sequence[NewVector]) -> int:
        """See ``Copy.take_vectors``."""
        taken: int = await shard_call(self._shard, self._actor.take_vectors, embedder, vectors)
        return taken

    async def build_graph(self) -> bool:
        """See ``Copy.build_graph``."""
        built: bool = await shard_call(self._shard, self._actor.build_graph)
        return built

    async def listing(self, request: ListingRequest) -> Listing:
        """See ``Copy.listing``."""
        listing: Listing = await shard_call(self._shard, self._actor.listing, request)
        return listing

    async def status(self) -> ShardStatus:
        """See ``Copy.status``."""
        status: ShardStatus = await shard_call(self._shard, self._actor.status)
        return status

    async def died(self) -> None:
        """See ``Copy.died``; never returns for a copy on another machine."""
        dead = asyncio.Event()
        loop, process = asyncio.get_running_loop(), self._process
        if process is not None:
            loop.add_reader(process, dead.set)
        try:
            await dead.wait()
        finally:
            # After ``kill`` the number may already belong to another copy's process.
            if process is not None and self._process == process:
                loop.remove_reader(process)

    def kill(self) -> None:
        """See ``Copy.kill``."""
        if self._killed:
            return
        self._killed = True
        if self._process is not None:
            asyncio.get_running_loop().remove_reader(self._process)
            _kill_process(self._process)
            self._process = None
        ray.kill(self._actor, no_restart=True)

    async def _find_process(self) -> None:
        if self._process is None and await shard_call(self._shard, self._actor.node_id) == _node_id():
            self._process = os.pidfd_open((await self.status()).pid)


def _kill_process(process: int) -> None:
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except ProcessLookupError:
        _log.debug("copy_already_dead")
    finally:
        os.close(process)


def _node_id() -> str:
    node_id: str = ray.get_runtime_context().get_node_id()
    return node_id


class SupervisorActor:
    """The supervisor in a process of its own, as an asyncio actor; methods mean what ``Supervisor``'s mean.

    Ray restarts it; it then finds everything in the registry and the snapshots. Its copies end with it.
    """

    def __init__(self, settings: Settings, shards: int) -> None:
        self._settings = settings
        self._shards = shards
        self._starting = asyncio.Lock()
        self._running: Supervisor | None = None

    async def map_after(self, version: int, timeout_s: float) -> MapView:
        """See ``Supervisor.map_after``."""
        return await (await self._supervisor()).map_after(version, timeout_s)

    async def suspect(self, shard: int) -> None:
        """See ``Supervisor.suspect``."""
        await (await self._supervisor()).suspect(shard)

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``."""
        return await (await self._supervisor()).upsert(records, tenants)

    async def remove(self, record_id: str, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.remove``."""
        return await (await self._supervisor()).remove(record_id, tenants)

    async def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        return await (await self._supervisor()).set_status(record_id, status, tenants)

    async def record(self, record_id: str) -> Record | None:
        """See ``ControlPlane.record``."""
        return await (await self._supervisor()).record(record_id)

    async def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """See ``ControlPlane.put_grant_list``."""
        return await (await self._supervisor()).put_grant_list(tenant, name, ids)

    async def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """See ``ControlPlane.grant_list``."""
        return await (await self._supervisor()).grant_list(tenant, name)

    async def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """See ``ControlPlane.delete_grant_list``."""
        return await (await self._supervisor()).delete_grant_list(tenant, name)

    async def open_export(self, order: ExportOrder) -> ExportPage:
        """See ``ControlPlane.open_export``."""
        return await (await self._supervisor()).open_export(order)

    async def export_page(self, exporter: Exporter, cursor: str, page_size: int | None) -> ExportPage:
        """See ``ControlPlane.export_page``."""
        return await (await self._supervisor()).export_page(exporter, cursor, page_size)

    async def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """See ``ControlPlane.confirm_duplicate``."""
        await (await self._supervisor()).confirm_duplicate(pair)

    async def withdraw_duplicate(self, duplicate: str) -> bool:
        """See ``ControlPlane.withdraw_duplicate``."""
        return await (await self._supervisor()).withdraw_duplicate(duplicate)

    async def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """See ``ControlPlane.confirmed_duplicates``."""
        return await (await self._supervisor()).confirmed_duplicates(ids)

    async def status(self) -> ClusterStatus:
        """See ``ControlPlane.status``."""
        return await (await self._supervisor()).status()

    async def embedding(self) -> EmbeddingStatus:
        """See ``Supervisor.embedding``."""
        return (await self._supervisor()).embedding()

    async def stop(self) -> None:
        """See ``Supervisor.stop``."""
        await (await self._supervisor()).stop()

    async def _supervisor(self) -> Supervisor:
        """The running supervisor, started by whoever asks first: after a restart nobody calls a start method."""
        async with self._starting:
            if self._running is None:
                running = await asyncio.to_thread(build_supervisor, self._settings, self._shards)
                await running.start()
                self._running = running
                self._watch = asyncio.create_task(self._end_with(running))
            return self._running

    async def _end_with(self, running: Supervisor) -> None:
        fault = await running.failed()
        _log.critical("supervisor_failed", exc_info=wordless(fault))
        # Ray starts the actor anew, from the registry; half a supervisor would look alive and repair nothing.
        os._exit(1)


def build_supervisor(settings: Settings, shards: int) -> Supervisor:
    """A supervisor of Ray actors, by the settings.

    Raises:
        RegistryUnavailable: if the registry cannot be opened.
    """
    registry = Registry(settings.registry_url)
    snapshots = SnapshotStore(settings.home / "snapshots", registry, shards)
    cluster = settings.cluster
    pace = Pace(
        apply_timeout_s=cluster.apply_timeout_ms / 1000,
        health_period_s=cluster.health_period_ms / 1000,
        poll_s=cluster.poll_ms / 1000,
    )
    loader = Loader(registry, snapshots, shards)
    return Supervisor(
        registry,
        loader,
        RayCopy,
        shards=shards,
        copies=cluster.copies,
        pace=pace,
        exports=ExportDesk(ExportStore(registry.engine), settings.exports.limits()),
        vectors=vector_source(settings),
    )


def vector_source(settings: Settings) -> VectorSource | None:
    """Where the records' vectors come from, None where vectors are off.

    Raises:
        RegistryUnavailable: if the database of the cache cannot be opened.
    """
    if not settings.vectors.candidate_retrieval:
        return None
    return VectorSource(load=lambda: open_embedder(settings.vectors), cache=VectorCache(settings.registry_url))


def start_supervisor(settings: Settings, shards: int) -> Any:  # noqa: ANN401 -- Ray's handles are untyped
    """Start the supervisor's actor on this node and return its handle; it begins to load at the first call."""
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(_node_id(), soft=False)
    return (
        ray.remote(SupervisorActor)
        .options(
            name=SUPERVISOR, namespace=NAMESPACE, num_cpus=0, max_restarts=-1, max_task_retries=0,
            max_concurrency=1000, scheduling_strategy=here,
        )
        .remote(settings, shards)
    )  # fmt: skip
