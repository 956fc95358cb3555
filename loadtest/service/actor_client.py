"""ActorClient: a ``ShardClient`` by Ray's actor calls, for the baselines that measure what these cost.

Routers that serve do not use it: theirs is ``cluster.shard_socket``.
"""

from collections.abc import Callable
from typing import Any

from cluster.copies import CopyHandle
from cluster.errors import ShardUnavailable
from cluster.ray_client import shard_call
from shards import packing
from shards.errors import ShardNotReady
from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery


class ActorClient:
    """A shard in another process.

    Args:
        shard: its number, for errors.
        handle: of the copy.
        on_lost: called with the shard's number whenever the copy could not be reached.
    """

    def __init__(self, shard: int, handle: CopyHandle, on_lost: Callable[[int], None]) -> None:
        self._shard = shard
        # Bound once: a handle makes a new method at each look-up.
        actor: Any = handle.actor
        self._search = actor.search
        self._documents = actor.documents
        self._on_lost = on_lost

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """See ``ShardClient.search``."""
        return packing.unpack_hits(await self._call(self._search, packing.pack_queries(batch)))

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """See ``ShardClient.documents``."""
        return packing.unpack_documents(await self._call(self._documents, packing.pack_requests(batch)))

    def close(self) -> None:
        """See ``cluster.map_watch.RemoteClient``: there is nothing to let go of."""

    async def _call(self, method: Any, batch: bytes) -> bytes:  # noqa: ANN401 -- untyped
        try:
            reply: bytes = await shard_call(self._shard, method, batch)
        except ShardNotReady:
            raise ShardUnavailable(self._shard, "loading") from None
        except ShardUnavailable:
            self._on_lost(self._shard)
            raise
        return reply
