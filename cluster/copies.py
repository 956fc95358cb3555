"""What the supervisor knows of one shard copy, and the seam through which it reaches the copy.

It holds state and no decisions; those are ``cluster.keeper``'s.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cluster.control import CopyStatus
from cluster.feed import FeedBatch
from cluster.health import CopyHealth, CopyState
from shards.door_protocol import DoorAddress
from shards.messages import Listing, ListingRequest, MissingVector, NewVector, ShardStatus, Twin


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyHandle:
    """The ways to a copy.

    Attributes:
        door: the way of searches.
        actor: handle of its ``shards.actor.ShardActor``, for whoever wants to call that instead.
    """

    door: DoorAddress
    actor: object = field(compare=False)


class Copy(Protocol):
    """A running copy of a shard, as the supervisor reaches it.

    Every method raises ``ShardUnavailable`` once the copy is dead; errors of the shard itself come as they are. A
    copy does one thing at a time, so a slow method delays those behind it.

    Attributes:
        handle: what a router needs to reach the copy, from ``begin_load`` on; only the router's side looks into it.
    """

    @property
    def handle(self) -> CopyHandle:
        """See the class."""

    async def open(self, directory: str) -> int:
        """Take a snapshot's content, return its seq; raises ``CorruptSnapshot``."""

    async def save(self, directory: str) -> int:
        """Write a snapshot of the present state, return its seq. It keeps no other call waiting for long."""

    async def begin_load(self) -> None:
        """Start empty; returns once the process is up and its kernels are compiled."""

    async def load_batch(self, bodies: Sequence[bytes]) -> None:
        """Add records."""

    async def finish_load(self, seq: int, grant_lists: Mapping[str, tuple[str, ...]], twins: Sequence[Twin]) -> None:
        """Become searchable at ``seq``."""

    async def apply(self, batch: FeedBatch) -> None:
        """Follow the feed; raises ``StaleFeed``."""

    async def missing_vectors(self, embedder: str, limit: int) -> tuple[MissingVector, ...]:
        """At most ``limit`` of its live records that have no vector of this embedder."""

    async def take_vectors(self, embedder: str, vectors: Sequence[NewVector]) -> int:
        """Take the vectors of records whose text still is what was embedded; how many that were."""

    async def build_graph(self) -> bool:
        """Work on the graphs over its vectors for a while; False once there is nothing to do."""

    async def listing(self, request: ListingRequest) -> Listing:
        """Everything of the copy that an export asks for, at its present seq."""

    async def status(self) -> ShardStatus:
        """A sign of life."""

    async def died(self) -> None:
        """Return when the copy's process is seen to have ended; may never return where that cannot be seen."""

    def kill(self) -> None:
        """End the copy, hung or not, before this returns wherever that is possible. Can be called twice."""


Launch = Callable[[int], Copy]
"""Starts a copy of the numbered shard and returns at once."""


@dataclass(slots=True, kw_only=True)
class Slot:
    """A place for one copy of one shard. Copies come and go in it; a slot stays.

    Attributes:
        lost: set when the present copy must be given up.
        replaced: copies that were given up here.
        saved_seq: the seq of the newest snapshot of this slot's shard, 0 for none.
        unsaved_vectors: vectors that the copy took since then.
        unsaved_graph: whether it built a graph since then.
    """

    shard: int
    number: int
    copy: Copy | None = None
    state: CopyState = CopyState.LOADING
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    replaced: int = 0
    saved_seq: int = 0
    unsaved_vectors: int = 0
    unsaved_graph: bool = False
    loaded_records: int = 0
    expected_records: int = 0
    detail: ShardStatus | None = None

    @property
    def ready(self) -> bool:
        """Whether it takes traffic."""
        return self.state is CopyState.READY

    def saved(self, seq: int) -> None:
        """A snapshot of its shard stands for ``seq`` and all the copy has now."""
        self.saved_seq = seq
        self.unsaved_vectors = 0
        self.unsaved_graph = False

    def health(self) -> CopyHealth:
        """Its part in the health of the cluster."""
        return CopyHealth(shard=self.shard, state=self.state, first=self.replaced == 0)

    def status(self) -> CopyStatus:
        """Its part in the status for operators."""
        # A ready copy follows writes: from then on its own count is the number of loaded records.
        own = self.detail.records if self.ready and self.detail is not None else None
        return CopyStatus(
            shard=self.shard,
            ready=self.ready,
            loaded_records=self.loaded_records if own is None else own,
            expected_records=self.expected_records if own is None else own,
            replaced=self.replaced,
            detail=self.detail,
        )
