"""ShardSocket: a router's ``ShardClient`` over one lasting TCP connection to a shard's door.

It retries nothing and waits for nothing but the reply: deadlines are the fan-out's, replacement the supervisor's.
"""

import asyncio
import hmac
import logging
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Final, cast

from cluster.errors import ShardUnavailable
from shards import packing
from shards.door_protocol import (
    HEADER,
    KEY_BYTES,
    MOST_REPLY_BYTES,
    MOST_REQUEST_BYTES,
    DoorAddress,
    Kind,
    Status,
)
from shards.errors import MalformedMessage
from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery

CONNECT_S: Final = 2.0
"""In which a door must have taken the key and shown its proof."""

LINGER_S: Final = 60.0
"""How long a closed client goes on for the requests that still hold it: longer than any has time."""

_log = logging.getLogger(__name__)


class ShardSocket:
    """A shard in another process. It connects at the first call, and again after a loss, until it is closed.

    Args:
        shard: its number, for errors.
        address: of its door.
        on_lost: called with the shard's number whenever the copy could not be reached, or failed.
    """

    def __init__(self, shard: int, address: DoorAddress, on_lost: Callable[[int], None]) -> None:
        self._shard = shard
        self._address = address
        self._on_lost = on_lost
        self._connection: _Connection | None = None
        self._connecting: asyncio.Task[_Connection] | None = None
        self._closed = False

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """See ``ShardClient.search``."""
        return packing.unpack_hits(await self._ask(Kind.SEARCH, packing.pack_queries(batch)))

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """See ``ShardClient.documents``."""
        return packing.unpack_documents(await self._ask(Kind.DOCUMENTS, packing.pack_requests(batch)))

    def close(self) -> None:
        """The map no longer names this copy: tell nobody of its end, and never connect again.

        The connection stays for ``LINGER_S``, and longer while somebody waits for a reply.
        """
        self._closed = True
        if self._connection is not None:
            asyncio.get_running_loop().call_later(LINGER_S, self._end, self._connection)

    def _end(self, connection: "_Connection") -> None:
        if connection.busy:
            asyncio.get_running_loop().call_later(LINGER_S, self._end, connection)
        else:
            connection.end()

    async def _ask(self, kind: Kind, batch: bytes) -> bytes:
        if len(batch) > MOST_REQUEST_BYTES:
            raise MalformedMessage("frame", f"{len(batch)} bytes, at most {MOST_REQUEST_BYTES} can be sent")
        try:
            connection = self._connection
            if connection is None or connection.lost:
                connection = await self._connected()
            status, reply = await connection.ask(kind, batch)
        except OSError as exc:
            raise self._unavailable(type(exc).__name__) from exc
        if status == Status.DONE:
            return reply
        raise self._error(status, reply)

    def _error(self, status: int, reply: bytes) -> Exception:
        words = reply.decode(errors="replace")
        if status == Status.NOT_READY:
            return ShardUnavailable(self._shard, "loading")
        if status == Status.MALFORMED:
            message, _, reason = words.partition("\n")
            return MalformedMessage(message, reason)
        # The shard is alive and failed on this call: a defect, told to the operator and kept to this call.
        _log.error("shard_call_failed", extra={"shard": self._shard, "fault": words})
        return self._unavailable("failed")

    def _unavailable(self, reason: str) -> ShardUnavailable:
        if not self._closed:
            self._on_lost(self._shard)
        return ShardUnavailable(self._shard, reason)

    async def _connected(self) -> "_Connection":
        """The connection that is being made for all who ask meanwhile; one who gives up does not break it off.

        Raises:
            OSError: if there is none to be had.
        """
        if self._connecting is None:
            if self._closed:
                raise ConnectionAbortedError
            # It serves many requests, so it carries the context variables of none.
            self._connecting = asyncio.get_running_loop().create_task(self._connect(), context=Context())
            self._connecting.add_done_callback(self._connect_ended)
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> "_Connection":
        address, loop = self._address, asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_S):
            _, connection = await loop.create_connection(lambda: _Connection(address), address.host, address.port)
            try:
                await connection.proved
            except BaseException:
                connection.end()
                raise
        return connection

    def _connect_ended(self, connecting: "asyncio.Task[_Connection]") -> None:
        self._connecting = None
        # Also where nobody waits for it any more: an exception that is never looked at is told as a defect.
        if not connecting.cancelled() and connecting.exception() is None:
            self._connection = connecting.result()
            if self._closed:
                self.close()


class _Connection(asyncio.Protocol):
    """One connection: who waits for which reply is the order in which they asked.

    Attributes:
        proved: done once the door has shown its proof; fails if it does not, or is lost.
        lost: whether nothing can be asked any more.
    """

    def __init__(self, address: DoorAddress) -> None:
        self._address = address
        self._loop = asyncio.get_running_loop()
        self._asked: deque[asyncio.Future[tuple[int, bytes]]] = deque()
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._wanted_bytes = KEY_BYTES
        self._transport: asyncio.WriteTransport | None = None
        self.proved: asyncio.Future[None] = self._loop.create_future()
        self.lost = False

    @property
    def busy(self) -> bool:
        """Whether somebody waits for a reply."""
        return not all(reply.done() for reply in self._asked)

    def ask(self, kind: Kind, question: bytes) -> "asyncio.Future[tuple[int, bytes]]":
        """A future of the status and the reply. Cancel it to give up: the reply is then dropped when it comes.

        Raises:
            ConnectionError: if the connection is lost; the future fails with it if that happens later.
        """
        if self.lost or self._transport is None:
            raise ConnectionResetError
        reply: asyncio.Future[tuple[int, bytes]] = self._loop.create_future()
        self._asked.append(reply)
        self._transport.writelines((HEADER.pack(len(question), kind), question))
        return reply

    def end(self) -> None:
        """Give it up at once."""
        self.lost = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Show the key."""
        # A TCP transport is one, though that of uvloop does not say so.
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.write(self._address.key)

    def data_received(self, data: bytes) -> None:
        """Collect what comes, and look at it once there is enough: a large reply is put together only once."""
        self._pieces.append(data)
        self._held_bytes += len(data)
        if self._held_bytes >= self._wanted_bytes:
            held = data if len(self._pieces) == 1 else b"".join(self._pieces)
            start = self._take_proof(held)
            rest = held[self._take_replies(held, start) :]
            self._pieces = [rest] if rest else []
            self._held_bytes = len(rest)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- as Protocol
        """Fail whatever waits."""
        self.lost = True
        if not self.proved.done():
            self.proved.set_exception(ConnectionResetError())
        for reply in self._asked:
            if not reply.done():
                reply.set_exception(ConnectionResetError())
        self._asked.clear()

    def _take_proof(self, held: bytes) -> int:
        """Where replies begin in ``held``."""
        if self.proved.done():
            return 0
        if hmac.compare_digest(held[:KEY_BYTES], self._address.proof):
            self.proved.set_result(None)
        else:
            _log.warning("door_not_proved")
            self.end()
        return KEY_BYTES

    def _take_replies(self, held: bytes, start: int) -> int:
        """Hand over the whole replies from ``start`` on; where the first one that is not whole begins."""
        while not self.lost:
            body = start + HEADER.size
            if body > len(held):
                self._wanted_bytes = HEADER.size
                break
            length, status = HEADER.unpack_from(held, start)
            if length > MOST_REPLY_BYTES or not self._asked:
                # No reply of ours: nothing that follows could be told apart.
                _log.warning("door_reply_refused")
                self.end()
                break
            if body + length > len(held):
                self._wanted_bytes = HEADER.size + length
                break
            start = body + length
            reply = self._asked.popleft()
            if not reply.done():
                reply.set_result((status, held[body:start]))
        return start
