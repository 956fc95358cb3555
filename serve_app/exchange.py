"""One HTTP request and its response on raw ASGI: request id, bounded body, headers that every response has.

It authenticates nobody and knows no route.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final

from serve_app.problems import MEDIA_TYPE, Code, Problem, Refused
from serve_app.trail import Trail

ASGIScope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[ASGIScope, Receive, Send], Awaitable[None]]

SendEvent = Callable[[str, bytes], Awaitable[None]]
"""Sends a server-sent event of this name; its data is JSON on one line."""

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"

EXCHANGE: Final = "shortlist.exchange"
"""Where inner applications find the ``Exchange`` in the ASGI scope."""

LAST_LOOK_S: Final = 0.02
"""A body whose time is over gets this much more: enough to read what already lies in the socket."""

_LINE_ENDS: Final = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
"""Some readers of event streams take these characters for the end of a line; JSON knows other names for them."""

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class ClientGone(Exception):
    """The caller closed the connection before its body was complete."""


class Exchange:
    """Receives one request and sends one response.

    Attributes:
        request_id: the caller's own where it is a sane one, else a new one.
        arrived_s: when the request reached the endpoint, on the replica's clock.
        status: of the response, 0 before it has started.
        outcome: a closed word for the metrics.
        streaming: events are being sent.
        trail: what handlers learned of the request, for the logs.
    """

    __slots__ = ("_receive", "_send", "arrived_s", "headers", "outcome", "request_id", "status", "streaming", "trail")

    def __init__(self, scope: ASGIScope, receive: Receive, send: Send, arrived_s: float) -> None:
        self.headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
        self.arrived_s = arrived_s
        self.request_id = self._own_id() or secrets.token_hex(8)
        self.status = 0
        self.outcome = "ok"
        self.streaming = False
        self.trail = Trail()
        self._receive = receive
        self._send = send

    async def body(self, limit_bytes: int, timeout_s: float) -> bytes:
        """The whole body. What its header says is too long is refused before a byte is read.

        Raises:
            Refused: ``body_too_large``, ``unsupported_encoding``, or ``request_timeout`` if it comes too slowly.
            ClientGone: if the caller went away.
        """
        self._check_headers(limit_bytes)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as wait:
                # Nothing is cancelled in the pass of the loop that finds the time over: after a stall of this process
                # that pass is also the first to read what came meanwhile, and the caller was not slow.
                over = loop.call_later(timeout_s, lambda: wait.reschedule(loop.time() + LAST_LOOK_S))
                try:
                    return await self._read(limit_bytes)
                finally:
                    over.cancel()
        except TimeoutError as error:
            raise Refused(
                Problem(code=Code.REQUEST_TIMEOUT, detail="Send the body faster, or a smaller one.")
            ) from error

    async def reply(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """Send a whole response of JSON, with these headers beside those of every response."""
        await self._respond(status, body, JSON, headers)

    async def refuse(self, problem: Problem) -> None:
        """Send a problem; as the last event where events are being sent."""
        self.outcome = problem.code.value
        if self.streaming:
            await self._event("problem", problem.to_json(self.request_id))
            await self._end()
            return
        await self._respond(problem.status, problem.to_json(self.request_id), MEDIA_TYPE, problem.headers)

    @asynccontextmanager
    async def events(self, pulse_s: float) -> AsyncIterator[SendEvent]:
        """A response of server-sent events, which ends with the block; a comment every ``pulse_s`` keeps it alive.

        Where the block raises, the response stays open for ``refuse``.
        """
        headers = [(b"content-type", EVENT_STREAM.encode()), (b"x-accel-buffering", b"no")]
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        self.streaming = True
        pulse = asyncio.create_task(self._pulse(pulse_s))
        try:
            yield self._event
        finally:
            pulse.cancel()
        await self._end()

    async def until_gone(self) -> None:
        """Wait until the caller closes the connection; after ``body`` only."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def send(self, message: Message) -> None:
        """Pass on a message of an inner application; the response's head gets the headers of every response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], *self._common_headers()]}
        await self._send(message)

    async def _respond(self, status: int, body: bytes, media_type: str, extra: tuple[tuple[str, str], ...]) -> None:
        headers = [
            (b"content-type", media_type.encode()),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in extra),
        ]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _event(self, name: str, data: bytes) -> None:
        for raw, escaped in _LINE_ENDS:
            data = data.replace(raw, escaped)
        body = b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _pulse(self, pulse_s: float) -> None:
        while True:
            await asyncio.sleep(pulse_s)
            await self._send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})

    async def _end(self) -> None:
        self.streaming = False
        await self._send({"type": "http.response.body", "body": b""})

    def _common_headers(self) -> tuple[tuple[bytes, bytes], ...]:
        # No cache between here and the caller may hand one caller's answer to another.
        return ((b"x-request-id", self.request_id.encode()), (b"cache-control", b"no-store"))

    def _own_id(self) -> str | None:
        sent = [value for name, value in self.headers if name == b"x-request-id"]
        return sent[0].decode() if len(sent) == 1 and _REQUEST_ID.fullmatch(sent[0]) else None

    def _check_headers(self, limit_bytes: int) -> None:
        for name, value in self.headers:
            if name == b"content-length" and not (value.isdigit() and len(value) < 20 and int(value) <= limit_bytes):  # noqa: PLR2004 -- digits of any real length
                raise _too_large(limit_bytes)
            if name == b"content-encoding" and value.lower() != b"identity":
                raise Refused(Problem(code=Code.UNSUPPORTED_ENCODING, detail="Send the body as it is, not compressed."))

    async def _read(self, limit_bytes: int) -> bytes:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            # Nearly every body comes in one piece.
            body: bytes = message.get("body", b"")
            if len(body) > limit_bytes:
                raise _too_large(limit_bytes)
            return body
        pieces = bytearray()
        while message["type"] == "http.request":
            pieces += message.get("body", b"")
            if len(pieces) > limit_bytes:
                raise _too_large(limit_bytes)
            if not message.get("more_body", False):
                return bytes(pieces)
            message = await self._receive()
        raise ClientGone


def _too_large(limit_bytes: int) -> Refused:
    return Refused(Problem(code=Code.BODY_TOO_LARGE, detail=f"A body of this route has at most {limit_bytes} bytes."))
