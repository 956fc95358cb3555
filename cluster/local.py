"""LocalIndex and LocalCluster: the whole cluster inside one process, without Ray, for embedded use, evals and tests.

The shards, the router and the write path are those of the Ray cluster; only the transport and the supervision are
missing, because nothing here can be lost alone. Calls block the event loop while they work.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from cluster.control import ClusterStatus, CopyStatus, EmbeddingState, EmbeddingStatus, Receipt
from cluster.discovery import Discovery
from cluster.dispatcher import RuleDispatcher
from cluster.duplicate_store import ConfirmedPair
from cluster.embedder import Embedder
from cluster.errors import EmbeddingFailed, RegistryUnavailable
from cluster.export_limits import ExportLimits
from cluster.export_store import ExportStore
from cluster.exports import ExportDesk, Exporter, ExportOrder, ExportPage
from cluster.feed import batches
from cluster.health import Health
from cluster.local_embedding import LocalEmbedding, Progress
from cluster.partition import bucket_range, shard_of
from cluster.ranker import AdditiveRanker, Ranker
from cluster.registry import Registry
from cluster.router import Router
from cluster.shard_client import LocalShardClient
from cluster.shard_map import ShardCopy, ShardMap
from cluster.tokens import ESTIMATE, TokenCounter
from cluster.vector_cache import VectorCache
from cluster.vectorizer import Vectorizer
from cluster.writes import RegistryWrites
from shards.messages import Change, ShardStatus
from shards.record import BUCKETS, Record, Status, bucket_of
from shards.shard import Shard

_log = logging.getLogger(__name__)

_BATCH = 2_000
"""Bodies handed to a shard at once, and changes applied at once."""

_BUCKETS_AT_ONCE = 16
"""Of the registry's hash buckets: of 100,000 records some 1,600."""


class LocalIndex:
    """Loaded shards behind a router: searchable, and followed by whoever hands it changes.

    Args:
        shards: all shards of the cluster by number, loaded, all at the same seq.
        ranker: None takes the built-in one with the shipped weights.
        embedder: of queries and records; None searches by words alone.
        cache: of the records' vectors; None embeds anew whatever comes.
        discovery: None turns talk away as shipped, and shortens nothing.
        counter: of the tokens of evidence.

    Raises:
        EmbeddingFailed: if the embedder does.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        ranker: Ranker | None = None,
        *,
        embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        discovery: Discovery | None = None,
        counter: TokenCounter = ESTIMATE,
    ) -> None:
        self.shards = tuple(shards)
        self.router = Router(
            _map_of(self.shards),
            ranker=AdditiveRanker.from_config() if ranker is None else ranker,
            dispatcher=RuleDispatcher(),
            embedder=embedder,
            discovery=Discovery.shipped(embedder, cache=cache) if discovery is None else discovery,
            counter=counter,
        )
        self._embedder = embedder
        self._embedding = None if embedder is None else LocalEmbedding(self.shards, Vectorizer(embedder, cache))

    @staticmethod
    def from_records(
        records: Iterable[Record],
        *,
        shards: int = 1,
        ranker: Ranker | None = None,
        grant_lists: Mapping[str, tuple[str, ...]] | None = None,
        seq: int = 0,
        embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        discovery: Discovery | None = None,
        progress: Progress = lambda _: None,
    ) -> "LocalIndex":
        """An index over records that are in no registry; ids must be unique, versions stay as they are.

        ``grant_lists`` goes by ``cluster.registry_values.grant_list_key``; ``progress`` is that of embedding.

        Raises:
            EmbeddingFailed: if the embedder does.
            RegistryUnavailable: if the database of the cache does not answer.
        """
        kept = []
        parts = tuple(Shard(number) for number in range(shards))
        for part in parts:
            part.begin_load()
        waiting: list[list[bytes]] = [[] for _ in parts]
        for record in records:
            owner, body = shard_of(bucket_of(record.id), shards), record.to_json()
            if embedder is not None:
                kept.append(body)
            waiting[owner].append(body)
            if len(waiting[owner]) == _BATCH:
                parts[owner].load_batch(waiting[owner])
                waiting[owner] = []
        for part, rest in zip(parts, waiting, strict=True):
            part.load_batch(rest)
            part.finish_load(seq, grant_lists or {})
        index = LocalIndex(parts, ranker, embedder=embedder, cache=cache, discovery=discovery)
        index._embed_all(kept, progress)
        return index

    @property
    def seq(self) -> int:
        """The last change that every shard has applied."""
        return min(shard.status().seq for shard in self.shards)

    def apply(self, changes: Sequence[Change]) -> int:
        """Follow the registry: all changes after ``seq``, without a gap. Returns the seq reached.

        Records that cannot be embedded now are found by their words.
        """
        for batch in batches(changes, self.seq, len(self.shards)):
            self.shards[batch.shard].apply(batch.after_seq, batch.upto_seq, batch.changes)
        if self._embedding is not None:
            bodies = {change.record_id: change.body for change in changes}
            try:
                self._embedding.embed_changed(body for body in bodies.values() if body is not None)
            except (EmbeddingFailed, RegistryUnavailable) as exc:
                _log.warning("changes_not_embedded", extra={"fault": str(exc)})
        return self.seq

    def _embed_all(self, bodies: Iterable[bytes], progress: Progress) -> None:
        """Give every record its vector, and then every part its graph."""
        if self._embedding is not None:
            self._embedding.embed(bodies, progress)
            self._embedding.build_graphs()


class LocalCluster(LocalIndex):
    """A registry and its index in one process: the ``ControlPlane`` without Ray.

    Args:
        progress: as in ``LocalIndex.from_records``.
        exports: how much one caller may export.

    Raises:
        EmbeddingFailed: if the embedder does.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        shards: int = 1,
        ranker: Ranker | None = None,
        embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        discovery: Discovery | None = None,
        progress: Progress = lambda _: None,
        exports: ExportLimits = ExportLimits(),  # noqa: B008 -- frozen
        counter: TokenCounter = ESTIMATE,
    ) -> None:
        super().__init__(
            _loaded(registry, shards), ranker, embedder=embedder, cache=cache, discovery=discovery, counter=counter
        )
        self._registry = registry
        self._writes = RegistryWrites(registry)
        self._exports = ExportDesk(ExportStore(registry.engine), exports)
        self._embed_all(_bodies(registry), progress)

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

    async def open_export(self, order: ExportOrder) -> ExportPage:
        """See ``ControlPlane.open_export``."""
        self._exports.admit(order.exporter)
        self.catch_up()
        return self._exports.open(order, [shard.listing(order.listing) for shard in self.shards])

    async def export_page(self, exporter: Exporter, cursor: str, page_size: int | None = None) -> ExportPage:
        """See ``ControlPlane.export_page``."""
        self._exports.admit(exporter)
        return self._exports.page(exporter, cursor, page_size)

    async def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """See ``ControlPlane.confirm_duplicate``."""
        self._registry.confirm_duplicate(pair)
        self.catch_up()

    async def withdraw_duplicate(self, duplicate: str) -> bool:
        """See ``ControlPlane.withdraw_duplicate``."""
        withdrawn = self._registry.withdraw_duplicate(duplicate)
        self.catch_up()
        return withdrawn

    async def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """See ``ControlPlane.confirmed_duplicates``."""
        return self._registry.confirmed_duplicates(ids)

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
            embedding=self._embedding_status(states),
        )

    def _embedding_status(self, states: Sequence[ShardStatus]) -> EmbeddingStatus:
        """What is embedded in the foreground is done, but for what failed."""
        if self._embedder is None:
            return EmbeddingStatus(state=EmbeddingState.OFF)
        lacking = sum(state.unembedded if state.embedder == self._embedder.id else state.records for state in states)
        records = sum(state.records for state in states)
        return EmbeddingStatus(
            state=EmbeddingState.FAILING if lacking else EmbeddingState.DONE,
            embedder=self._embedder.id,
            embedded=records - lacking,
            records=records,
            fault="records are without a vector; the log says why" if lacking else "",
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
            part.finish_load(snapshot.seq, grant_lists, snapshot.twins(bucket_range(number, shards)))
    return parts


def _bodies(registry: Registry) -> Iterator[bytes]:
    """Of every live record. In many short transactions: embedding may take an hour, and writes to the same database."""
    for start in range(0, BUCKETS, _BUCKETS_AT_ONCE):
        with registry.snapshot() as snapshot:
            parts = list(snapshot.bodies(range(start, start + _BUCKETS_AT_ONCE), _BATCH))
        yield from chain.from_iterable(parts)


def _map_of(shards: Sequence[Shard]) -> ShardMap:
    copies = tuple(
        ShardCopy(
            shard=number, buckets=len(bucket_range(number, len(shards))), client=LocalShardClient(shard)
        )
        for number, shard in enumerate(shards)
    )  # fmt: skip
    return ShardMap(version=1, copies=copies)
