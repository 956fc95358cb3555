"""Batcher: natural micro-batches towards one shard. Idle: send at once. A call in flight: collect, then send together.

There is no timer and one call in flight at most, so a batch grows only as fast as the shard falls behind. It knows
nothing of what it carries; it never retries.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextvars import Context
from typing import Final, Generic, TypeVar

from cluster.budget import Deadline
from cluster.errors import ClusterError, ShardUnavailable
from cluster.wordless import wordless
from shards.errors import ShardError

MAX_BATCH: Final = 32
"""Queries in one call: beyond it a late query waits longer than the call overhead that it saves. Who asks a second time
once its first reply is there waits for a whole call each time: at 64, several times as many were late under overload.
"""

logger = logging.getLogger(__name__)

Query = TypeVar("Query")
Reply = TypeVar("Reply")


class Batcher(Generic[Query, Reply]):
    """Turns single queries into calls of a shard client.

    Args:
        shard: number of the shard, for errors.
        call: the client's method; replies come in the order of the batch and have its length.
        stamp: gives a query its remaining milliseconds just before it is sent.
        max_batch: most queries in one call.
    """

    def __init__(
        self,
        shard: int,
        call: Callable[[tuple[Query, ...]], Awaitable[tuple[Reply, ...]]],
        *,
        stamp: Callable[[Query, float], Query],
        max_batch: int = MAX_BATCH,
    ) -> None:
        self._shard = shard
        self._call = call
        self._stamp = stamp
        self._max_batch = max_batch
        self._waiting: dict[asyncio.Future[Reply], tuple[Query, Deadline]] = {}
        self._flying: Collection[asyncio.Future[Reply]] = ()
        self._pump: asyncio.Task[None] | None = None
        self._retired = False

    def submit(self, query: Query, deadline: Deadline) -> "asyncio.Future[Reply]":
        """A future of the reply. Cancel it to give up: an entry that was not sent yet is then never sent.

        It fails with ``ShardUnavailable`` if the call does, and with ``TimeoutError`` if the deadline passes before
        the query could be sent.
        """
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting[reply] = query, deadline
        reply.add_done_callback(self._forget)
        self._start()
        return reply

    def retire(self) -> None:
        """No new callers will come: break a call off as soon as nobody waits for it."""
        self._retired = True
        self._break_off_if_abandoned()

    def _start(self) -> None:
        # A pump that ended with its event loop is done, too: the next query starts a new one.
        if self._pump is None or self._pump.done():
            # It serves many requests, so it carries the context variables of none.
            self._pump = asyncio.get_running_loop().create_task(self._drain(), context=Context())
            self._pump.add_done_callback(self._ended)

    async def _drain(self) -> None:
        while batch := self._next_batch():
            await self._send(batch)

    def _next_batch(self) -> dict["asyncio.Future[Reply]", Query]:
        """Up to ``max_batch`` queries, first those of the oldest requests; where time is over: ``TimeoutError``."""
        batch: dict[asyncio.Future[Reply], Query] = {}
        for reply in self._in_order():
            if len(batch) == self._max_batch:
                break
            query, deadline = self._waiting.pop(reply)
            if reply.done():
                continue
            if (remaining_ms := deadline.remaining_ms()) <= 0:
                reply.set_exception(TimeoutError())
            else:
                batch[reply] = self._stamp(query, remaining_ms)
        return batch

    def _in_order(self) -> "list[asyncio.Future[Reply]]":
        """All that wait, in the order in which they are sent."""
        if len(self._waiting) <= self._max_batch:
            return list(self._waiting)
        # Not by arrival here: a request with its second question came before those with their first. And not by the
        # time that is left, of which a caller could ask for little to be served before all others.
        return sorted(self._waiting, key=lambda reply: self._waiting[reply][1].since_s)

    async def _send(self, batch: dict["asyncio.Future[Reply]", Query]) -> None:
        self._flying = batch.keys()
        reason = "the call broke off"
        try:
            replies = await self._call(tuple(batch.values()))
            if len(replies) == len(batch):
                _deliver(batch, replies)
            reason = f"{len(replies)} replies to {len(batch)} queries"
        except (ClusterError, ShardError) as exc:
            reason = str(exc)
        finally:
            # Whatever ended the call, a cancelled task or a fault in a client included, nobody is left waiting.
            self._flying = ()
            for reply in batch:
                if not reply.done():
                    reply.set_exception(ShardUnavailable(self._shard, reason))

    def _forget(self, reply: "asyncio.Future[Reply]") -> None:
        self._waiting.pop(reply, None)
        if self._retired:
            self._break_off_if_abandoned()

    def _break_off_if_abandoned(self) -> None:
        abandoned = not self._waiting and all(reply.done() for reply in self._flying)
        if self._pump is not None and abandoned:
            self._pump.cancel()

    def _ended(self, pump: asyncio.Task[None]) -> None:
        if pump.cancelled():
            # The loop ends or the lane was given up: a new pump would outlive its owner.
            for reply in tuple(self._waiting):
                reply.cancel()
            return
        if (fault := pump.exception()) is not None:
            logger.error("shard_call_failed", extra={"shard": self._shard}, exc_info=wordless(fault))
        if self._waiting:
            self._start()


def _deliver(batch: Iterable["asyncio.Future[Reply]"], replies: tuple[Reply, ...]) -> None:
    for future, reply in zip(batch, replies, strict=True):
        if not future.done():
            future.set_result(reply)
