"""Calls to shard actors: the ``ShardClient`` of a router, and the one place where errors of Ray become our own.

It retries nothing and waits for nothing but the reply: deadlines are the fan-out's, replacement the supervisor's.
"""

import logging
from collections.abc import Callable
from typing import Any

from ray.exceptions import RayError, RayTaskError

from cluster.errors import ShardUnavailable
from shards import packing
from shards.errors import ShardError, ShardNotReady
from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery

_log = logging.getLogger(__name__)


async def shard_call(shard: int, method: Any, *arguments: object) -> Any:  # noqa: ANN401 -- Ray's handles are untyped
    """Call a method of a shard actor and wait for its result.

    Raises:
        ShardUnavailable: if the actor is dead or unreachable, or failed in a way that is no part of its contract.
        ShardError: as the shard raised it.
        OSError: as the shard raised it.
    """
    try:
        return await method.remote(*arguments)
    except RayTaskError as exc:
        if isinstance(exc.cause, ShardError | OSError):
            raise exc.cause from None
        # The shard is alive and failed on this call: a defect, told to the operator and kept to this call.
        _log.error("shard_call_failed", extra={"shard": shard, "fault": type(exc.cause).__name__})
        raise ShardUnavailable(shard, "failed") from exc
    except RayError as exc:
        raise ShardUnavailable(shard, type(exc).__name__) from exc


class RayShardClient:
    """A shard in another process.

    Args:
        shard: its number, for errors.
        handle: handle of a ``shards.actor.ShardActor``.
        on_lost: called with the shard's number whenever the copy could not be reached.
    """

    def __init__(self, shard: int, handle: Any, on_lost: Callable[[int], None]) -> None:  # noqa: ANN401 -- untyped
        self._shard = shard
        # Bound once: a handle makes a new method at each look-up.
        self._search = handle.search
        self._documents = handle.documents
        self._on_lost = on_lost

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """See ``ShardClient.search``."""
        return packing.unpack_hits(await self._call(self._search, packing.pack_queries(batch)))

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """See ``ShardClient.documents``."""
        return packing.unpack_documents(await self._call(self._documents, packing.pack_requests(batch)))

    async def _call(self, method: Any, batch: bytes) -> bytes:  # noqa: ANN401 -- untyped
        try:
            reply: bytes = await shard_call(self._shard, method, batch)
        except ShardNotReady:
            raise ShardUnavailable(self._shard, "loading") from None
        except ShardUnavailable:
            self._on_lost(self._shard)
            raise
        return reply
