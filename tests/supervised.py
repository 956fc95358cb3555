"""A supervisor over a real registry and real shards; only their processes and, where wanted, the model are not real."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path

from cluster.copies import CopyHandle
from cluster.embedder import Embedder
from cluster.embedding import VectorSource
from cluster.errors import ShardUnavailable
from cluster.feed import FeedBatch
from cluster.health import Health
from cluster.loading import Loader
from cluster.registry import Registry
from cluster.snapshots import SnapshotStore
from cluster.supervisor import Pace, Supervisor
from cluster.vector_cache import VectorCache
from shards.door_protocol import DoorAddress
from shards.messages import DocumentRequest, Listing, ListingRequest, MissingVector, NewVector, ShardStatus, Twin
from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Grant, Scope
from shards.shard import Shard

EVERYTHING = Scope(
    grants=(
        Grant(
            reason="test",
            tenants=frozenset({"acme", "other"}),
            permissions=frozenset(),
            mode="analyzer",
            side_effects=frozenset(SideEffect),
        ),
    )
)


def record(number: int, text: str = "text", tenant: str = "acme") -> Record:
    return Record(
        id=f"r{number}",
        kind=Kind.TOOL,
        name=f"tool {number}",
        namespace="n",
        description=text,
        access=Access(tenant=tenant),
    )


class LocalCopy:
    """A copy in this process that can be killed, and told to hang on its next change or sign of life."""

    def __init__(self, number: int) -> None:
        self.shard = Shard(number)
        self.number = number
        self.dead = asyncio.Event()
        self.hangs = False
        self.bytes_per_s = float("inf")
        self.loaded: list[int] = []
        self.applied_bytes: list[int] = []
        self.saves = 0

    @property
    def handle(self) -> CopyHandle:
        return CopyHandle(door=DoorAddress(host="", port=0, key=bytes([id(self) % 256]), proof=b""), actor=self)

    async def _reach(self) -> None:
        await asyncio.sleep(0)
        if self.hangs:
            await asyncio.Event().wait()
        if self.dead.is_set():
            raise ShardUnavailable(self.number, "dead")

    async def open(self, directory: str) -> int:
        await self._reach()
        self.shard = Shard.open(self.number, Path(directory))
        return self.shard.status().seq

    async def save(self, directory: str) -> int:
        await self._reach()
        self.shard.save(Path(directory))
        self.saves += 1
        return self.shard.status().seq

    async def begin_load(self) -> None:
        await self._reach()
        self.shard.begin_load()

    async def load_batch(self, bodies: Sequence[bytes]) -> None:
        await self._reach()
        self.shard.load_batch(bodies)
        self.loaded.append(len(bodies))

    async def finish_load(self, seq: int, grant_lists: Mapping[str, tuple[str, ...]], twins: Sequence[Twin]) -> None:
        await self._reach()
        self.shard.finish_load(seq, grant_lists, twins)

    async def apply(self, batch: FeedBatch) -> None:
        await self._reach()
        self.applied_bytes.append(sum(len(change.body or b"") for change in batch.changes))
        await asyncio.sleep(self.applied_bytes[-1] / self.bytes_per_s)
        self.shard.apply(batch.after_seq, batch.upto_seq, batch.changes)

    async def missing_vectors(self, embedder: str, limit: int) -> tuple[MissingVector, ...]:
        await self._reach()
        return self.shard.missing_vectors(embedder, limit)

    async def take_vectors(self, embedder: str, vectors: Sequence[NewVector]) -> int:
        await self._reach()
        return self.shard.take_vectors(embedder, vectors)

    async def build_graph(self) -> bool:
        await self._reach()
        return self.shard.build_graph()

    async def listing(self, request: ListingRequest) -> Listing:
        await self._reach()
        return self.shard.listing(request)

    async def status(self) -> ShardStatus:
        await self._reach()
        return self.shard.status()

    async def died(self) -> None:
        await self.dead.wait()

    def kill(self) -> None:
        self.dead.set()


class World:
    """A registry and a supervisor over it; with ``load``, one that embeds.

    Args:
        patience_s: for a copy that does not apply or answer; far beyond any pause of the machine where no copy hangs.
    """

    def __init__(
        self,
        folder: Path,
        *,
        shards: int = 2,
        copies: int = 1,
        records: int = 20,
        load: Callable[[], Embedder] | None = None,
        cache: VectorCache | None = None,
        patience_s: float = 20.0,
    ) -> None:
        url = f"sqlite:///{folder / 'registry.sqlite3'}"
        self.registry = Registry(url)
        self.cache = VectorCache(url) if cache is None else cache
        self.registry.upsert_many([record(number) for number in range(records)])
        self.launched: list[LocalCopy] = []
        self.bytes_per_s = float("inf")
        self.snapshots = SnapshotStore(folder / "snapshots", self.registry, shards)
        self.supervisor = Supervisor(
            self.registry,
            Loader(self.registry, self.snapshots, shards),
            self._launch,
            shards=shards,
            copies=copies,
            pace=Pace(apply_timeout_s=patience_s, health_period_s=0.05, poll_s=0.05),
            vectors=None if load is None else VectorSource(load=load, cache=self.cache),
        )

    def _launch(self, shard: int) -> LocalCopy:
        self.launched.append(LocalCopy(shard))
        self.launched[-1].bytes_per_s = self.bytes_per_s
        return self.launched[-1]

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(60):
            while not await condition():  # noqa: ASYNC110 -- the condition is the world's, no event tells of it
                await asyncio.sleep(0.01)

    async def ready(self) -> None:
        async def full() -> bool:
            return (await self.supervisor.status()).health is Health.READY

        await self.until(full)

    async def serving(self) -> list[LocalCopy]:
        view = await self.supervisor.map_after(0, 0)
        actors = [handle.actor for handle in view.handles if handle is not None]
        assert all(isinstance(actor, LocalCopy) for actor in actors)
        return [actor for actor in actors if isinstance(actor, LocalCopy)]

    async def visible(self) -> dict[str, bytes]:
        """Every authorized document of the copies that routers would ask."""
        ids = tuple(f"r{number}" for number in range(200))
        request = DocumentRequest(scope=EVERYTHING, ids=ids)
        return {found.id: found.body for copy in await self.serving() for found in copy.shard.documents((request,))[0]}

    def registered(self) -> dict[str, bytes]:
        """The same, from the source of truth."""
        found = (self.registry.get(f"r{number}") for number in range(200))
        return {kept.id: kept.to_json() for kept in found if kept is not None and kept.status is Status.ENABLED}


def run(world: World, story: Callable[[World], Coroutine[object, object, None]]) -> None:
    """Start, wait until ready, run the story, stop."""

    async def whole() -> None:
        await world.supervisor.start()
        try:
            await world.ready()
            await story(world)
        finally:
            await world.supervisor.stop()
            world.registry.close()
            world.cache.close()

    asyncio.run(whole())
