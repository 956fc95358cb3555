"""ShardActor: a shard as a Ray actor. Thin: it only hands messages to ``shards.shard.Shard``.

Ray runs one method at a time; the threads of its door, by which routers come, take turns with it, which keeps a shard
free of locks, and silent as a whole if it hangs. Only snapshots are written beside, from a state that no longer
changes. It knows nothing of placement; ``cluster.placement`` makes it, and ends it when it is slow to answer.
"""

import gc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ray

from shards import packing
from shards.door import Door, DoorClosed
from shards.door_protocol import DoorAddress, Kind
from shards.messages import Change, Listing, ListingRequest, MissingVector, NewVector, ShardStatus, Twin
from shards.turn import Turn

if TYPE_CHECKING:
    from shards.shard import Shard


class ShardActor:
    """One copy of one shard in a process of its own. Methods mean what ``Shard``'s mean."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._shard = self._shard_class()(number)
        self._scopes = packing.ScopeCache()
        self._turn = Turn()
        self._door: Door | None = None
        self._saver = ThreadPoolExecutor(1, "save")
        self._saves: Future[None] = Future()

    def open_door(self) -> DoorAddress:
        """Where routers reach ``search`` and ``documents`` past Ray: on the node's own address, from the first call on.

        Raises:
            OSError: if this process cannot listen there.
        """
        if self._door is None:
            host = ray.util.get_node_ip_address()
            self._door = Door(host, {Kind.SEARCH: self.search, Kind.DOCUMENTS: self.documents})
        return self._door.address

    def open(self, directory: str) -> int:
        """Replace the shard by its snapshot and return the seq it stands at.

        Raises:
            CorruptSnapshot: as ``Shard.open``; the empty shard stays.
        """
        with self._turn:
            self._shard = self._shard_class().open(self._number, Path(directory))
            _set_aside()
            return self._shard.status().seq

    def begin_save(self, directory: str) -> int:
        """Start to write the present state, as ``Shard.save`` does, in a thread; the seq that it stands for.

        Hashing and the disk take a second or more, which no search and no sign of life shall wait for.
        """
        # A shard's index is replaced and never changed, so this one stays at the present state.
        with self._turn:
            frozen = copy(self._shard)
        self._saves = self._saver.submit(frozen.save, Path(directory))
        return frozen.status().seq

    def saving(self) -> bool:
        """Whether the snapshot that was begun last is still being written; raises what ended it, if anything did."""
        if not self._saves.done():
            return True
        self._saves.result()
        return False

    def begin_load(self) -> None:
        """See ``Shard.begin_load``."""
        with self._turn:
            self._shard.begin_load()

    def load_batch(self, bodies: Sequence[bytes]) -> None:
        """See ``Shard.load_batch``."""
        with self._turn:
            self._shard.load_batch(bodies)

    def finish_load(self, seq: int, grant_lists: Mapping[str, tuple[str, ...]], twins: Sequence[Twin] = ()) -> None:
        """See ``Shard.finish_load``."""
        with self._turn:
            self._shard.finish_load(seq, grant_lists, twins)
            _set_aside()

    def apply(self, after_seq: int, upto_seq: int, changes: Sequence[Change]) -> int:
        """See ``Shard.apply``."""
        with self._turn:
            return self._shard.apply(after_seq, upto_seq, changes)

    def missing_vectors(self, embedder: str, limit: int) -> tuple[MissingVector, ...]:
        """See ``Shard.missing_vectors``."""
        with self._turn:
            return self._shard.missing_vectors(embedder, limit)

    def take_vectors(self, embedder: str, vectors: Sequence[NewVector]) -> int:
        """See ``Shard.take_vectors``."""
        with self._turn:
            return self._shard.take_vectors(embedder, vectors)

    def build_graph(self) -> bool:
        """See ``Shard.build_graph``."""
        with self._turn:
            return self._shard.build_graph()

    def search(self, batch: bytes) -> bytes:
        """See ``Shard.search``; packed, as Ray hands bytes over as they are.

        Raises:
            MalformedMessage: if these are not packed queries.
        """
        with self._turn:
            return packing.pack_hits(self._shard.search(packing.unpack_queries(batch, self._scopes)))

    def documents(self, batch: bytes) -> bytes:
        """See ``Shard.documents``; packed.

        Raises:
            MalformedMessage: if these are not packed requests.
        """
        with self._turn:
            return packing.pack_documents(self._shard.documents(packing.unpack_requests(batch, self._scopes)))

    def listing(self, request: ListingRequest) -> Listing:
        """See ``Shard.listing``."""
        with self._turn:
            return self._shard.listing(request)

    def status(self) -> ShardStatus:
        """See ``Shard.status``; also the sign of life that the supervisor waits for.

        Raises:
            DoorClosed: if the door no longer opens: to routers this shard is gone.
        """
        if self._door is not None and not self._door.alive:
            raise DoorClosed(self._number)
        with self._turn:
            return self._shard.status()

    def node_id(self) -> str:
        """The Ray node this process runs on."""
        node_id: str = ray.get_runtime_context().get_node_id()
        return node_id

    @staticmethod
    def _shard_class() -> "type[Shard]":
        # Imported by the actor's process alone: whoever only starts actors has no use for the kernels (Numba: 90 MB).
        from shards.shard import Shard  # noqa: PLC0415

        return Shard


def _set_aside() -> None:
    """Spare searches the walks of the garbage collector over what stays for good: some 100 ms each."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def start_actor(number: int) -> Any:  # noqa: ANN401 -- Ray's actor handles are untyped
    """Start a shard in a process of its own, on any node with room, and return its handle.

    It is never restarted and no call is ever repeated by Ray: calls to a dead actor then fail within milliseconds
    instead of waiting for its return, and the supervisor, which knows what to load, starts the next one.
    """
    return ray.remote(ShardActor).options(num_cpus=0, max_restarts=0, max_task_retries=0).remote(number)
