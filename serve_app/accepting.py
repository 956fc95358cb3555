"""Accepting: a replica takes all connections that wait at its door at once, not one in each pass of its event loop.

libuv, on which the loop stands, accepts one connection a pass. Under load a pass takes 20 to 40 milliseconds: of a
hundred connections that HAProxy opened together, the last was read after more than a second, too late for its budget.
It listens on nothing and reads nothing: that stays the server's.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Final

MOST_AT_ONCE: Final = 1_024
"""Connections taken in one pass beside the loop's own."""

_ProtocolFactory = Callable[[], asyncio.BaseProtocol]


def accept_all_at_once(loop: asyncio.AbstractEventLoop) -> None:
    """From now on, every server that ``loop`` opens without TLS on a given socket takes its connections so.

    Serve opens the server of a replica by itself, on the loop that it also calls the replica's constructor on, and only
    after it: to replace the loop's own method there is the one way in.
    """
    original = loop.create_server

    async def create_server(factory: _ProtocolFactory, *args: Any, **kwargs: Any) -> asyncio.Server:  # noqa: ANN401 -- as the method it stands for
        listener = kwargs.get("sock")
        if not isinstance(listener, socket.socket) or kwargs.get("ssl") is not None:
            return await original(factory, *args, **kwargs)
        return await original(_Door(loop, listener, factory).opened, *args, **kwargs)

    loop.create_server = create_server  # type: ignore[assignment, method-assign]


class _Door:
    """A listening socket, and what answers behind it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, listener: socket.socket, factory: _ProtocolFactory) -> None:
        self._loop = loop
        self._listener = listener
        self._factory = factory
        # The loop holds tasks weakly.
        self._opening: set[asyncio.Task[Any]] = set()

    def opened(self) -> asyncio.BaseProtocol:
        """The protocol of a connection that the loop has accepted; whoever waits behind it is taken, too."""
        for _ in range(MOST_AT_ONCE):
            try:
                connection, _ = self._listener.accept()
            except ConnectionAbortedError:
                continue
            except OSError:
                # Nobody waits any more, or the door was closed. A lack of descriptors the loop meets by itself.
                break
            task = self._loop.create_task(self._loop.connect_accepted_socket(self._factory, connection))
            self._opening.add(task)
            task.add_done_callback(self._ended)
        return self._factory()

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._opening.discard(task)
        fault = None if task.cancelled() else task.exception()
        # A peer that has gone meanwhile is nobody's fault.
        if fault is not None and not isinstance(fault, OSError):
            self._loop.call_exception_handler({"message": "A connection was not opened", "exception": fault})
