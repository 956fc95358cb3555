"""The one seam between the cluster and a shard: a protocol, and the in-process implementation.

The one that reaches a shard in another process is ``cluster.shard_socket``; neither imports Ray.
"""

from typing import TYPE_CHECKING, Protocol

from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery

if TYPE_CHECKING:
    # A router in a process of its own holds no shard: Numba would cost it 90 MB and a second of start-up.
    from shards.shard import Shard


class ShardClient(Protocol):
    """Reaches one shard. Replies come in the order of the batch and have its length."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """Run a batch of queries.

        Raises:
            ShardUnavailable: if the shard cannot be reached; nothing of the batch was answered.
        """

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """Fetch documents; unauthorized and unknown ids are left out alike.

        Raises:
            ShardUnavailable: as ``search``.
        """


class LocalShardClient:
    """A shard in this process; calls block the event loop, as embedded use and evals want."""

    def __init__(self, shard: "Shard") -> None:
        self._shard = shard

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """See ``ShardClient.search``."""
        return self._shard.search(batch)

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """See ``ShardClient.documents``."""
        return self._shard.documents(batch)
