"""LocalIndex and LocalCluster: the whole cluster inside one process, without Ray, for embedded use, evals and tests.

The shards, the router and the write path are those of the Ray cluster; only the transport and the supervision are
missing, because nothing here can be lost alone. Calls block the event loop while they work.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cluster.control import ClusterStatus, CopyStatus, Receipt
from cluster.dispatcher import RuleDispatcher
from cluster.feed import batches
from cluster.health import Health
from cluster.partition import bucket_range, shard_of
from cluster.ranker import AdditiveRanker, Ranker
from cluster.registry import Registry
from cluster.router import Router
from cluster.shard_client import LocalShardClient
from cluster.shard_map import ShardCopy, ShardMap
from cluster.writes import RegistryWrites
from shards.messages import Change
from shards.record import Record, Status, bucket_of
from shards.shard import Shard

_BATCH = 2_000
"""Bodies handed to a shard at once, and changes applied at once."""


class LocalIndex:
    """Loaded shards behind a router: searchable, and followed by whoever hands it changes.

    Args:
        shards: all shards of the cluster by number, loaded, all at the same seq.
        ranker: None takes the built-in one with the shipped weights.
    """

    def __init__(self, shards: Sequence[Shard], ranker: Ranker | None = None) -> None:
        self.shards = tuple(shards)
        self.router = Router(
            _map_of(self.shards),
            ranker=AdditiveRanker.from_config() if ranker is None else ranker,
            dispatcher=RuleDispatcher(),
        )

    @staticmethod
    def from_records(
        records: Iterable[Record],
        *,
        shards: int = 1,
        ranker: Ranker | None = None,
        grant_lists: Mapping[str, tuple[str, ...]] | None = None,
        seq: int = 0,
    ) -> "LocalIndex":
        """An index over records that are in no registry; ids must be unique, versions stay as they are.

        ``grant_lists`` goes by ``cluster.registry_values.grant_list_key``.
        """
        parts = tuple(Shard(number) for number in range(shards))
        for part in parts:
            part.begin_load()
        waiting: list[list[bytes]] = [[] for _ in parts]
        for record in records:
            owner = shard_of(bucket_of(record.id), shards)
            waiting[owner].append(record.to_json())
            if len(waiting[owner]) == _BATCH:
                parts[owner].load_batch(waiting[owner])
                waiting[owner] = []
        for part, rest in zip(parts, waiting, strict=True):
            part.load_batch(rest)
            part.finish_load(seq, grant_lists or {})
        return LocalIndex(parts, ranker)

    @property
    def seq(self) -> int:
        """The last change that every shard has applied."""
        return min(shard.status().seq for shard in self.shards)

    def apply(self, changes: Sequence[Change]) -> int:
        """Follow the registry: all changes after ``seq``, without a gap. Returns the seq reached."""
        for batch in batches(changes, self.seq, len(self.shards)):
            self.shards[batch.shard].apply(batch.after_seq, batch.upto_seq, batch.changes)
        return self.seq


class LocalCluster(LocalIndex):
    """A registry and its index in one process: the ``ControlPlane`` without Ray."""

    def __init__(self, registry: Registry, *, shards: int = 1, ranker: Ranker | None = None) -> None:
        super().__init__(_loaded(registry, shards), ranker)
        self._registry = registry
        self._writes = RegistryWrites(registry)

    def catch_up(self) -> int:
        """Apply whatever the registry changed since, other processes' writes included. Returns the seq reached."""
        for changes in self._changes():
            self.apply(changes)
        return self.seq

    def _changes(self) -> Iterator[list[Change]]:
        while changes := self._registry.changes(self.seq, _BATCH):
            yield changes

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None = None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``."""
        receipts = self._writes.upsert(records, tenants)
        self.catch_up()
        return receipts

    async def remove(self, record_id: str, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.remove``."""
        return self._visible(self._writes.remove(record_id, tenants))

    async def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        return self._visible(self._writes.set_status(record_id, status, tenants))

    async def record(self, record_id: str) -> Record | None:
        """See ``ControlPlane.record``."""
        return self._registry.get(record_id)

    async def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """See ``ControlPlane.put_grant_list``."""
        return self._visible(self._writes.put_grant_list(tenant, name, ids))

    async def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """See ``ControlPlane.grant_list``."""
        return self._writes.grant_list(tenant, name)

    async def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """See ``ControlPlane.delete_grant_list``."""
        return self._visible(self._writes.delete_grant_list(tenant, name))

    async def status(self) -> ClusterStatus:
        """See ``ControlPlane.status``; what is in this process is always ready."""
        states = [shard.status() for shard in self.shards]
        copies = tuple(
            CopyStatus(
                shard=state.shard, ready=True, loaded_records=state.records, expected_records=state.records, replaced=0,
                detail=state,
            )
            for state in states
        )  # fmt: skip
        return ClusterStatus(
            health=Health.READY,
            seq=self._registry.last_seq(),
            records=sum(state.records for state in states),
            map_version=1,
            copies=copies,
        )

    def _visible(self, receipt: Receipt) -> Receipt:
        """Apply before the receipt is handed out: acknowledged means searchable."""
        self.catch_up()
        return receipt


def _loaded(registry: Registry, shards: int) -> tuple[Shard, ...]:
    """Shards with everything that a registry holds, at one seq."""
    parts = tuple(Shard(number) for number in range(shards))
    with registry.snapshot() as snapshot:
        grant_lists = snapshot.grant_lists()
        for number, part in enumerate(parts):
            part.begin_load()
            for bodies in snapshot.bodies(bucket_range(number, shards), _BATCH):
                part.load_batch(bodies)
            part.finish_load(snapshot.seq, grant_lists)
    return parts


def _map_of(shards: Sequence[Shard]) -> ShardMap:
    copies = tuple(
        ShardCopy(
            shard=number, buckets=len(bucket_range(number, len(shards))), client=LocalShardClient(shard)
        )
        for number, shard in enumerate(shards)
    )  # fmt: skip
    return ShardMap(version=1, copies=copies)
