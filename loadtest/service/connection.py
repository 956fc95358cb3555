"""Connection: one non-blocking socket that carries one HTTP request after the other. It keeps no time."""

import select
import socket
from typing import Final

from loadtest.service.replies import Response
from loadtest.service.schedule import Outcome

READ: Final = select.EPOLLIN
WRITE: Final = select.EPOLLOUT

_PIECE: Final = 65_536


class Connection:
    """Known to ``poll`` by its descriptor until it is closed.

    Attributes:
        number: of the request it carries, None while it is idle.
        response: of that request, whole when ``read`` gave an outcome.
    """

    __slots__ = ("_poll", "_socket", "_waiting", "_watching", "descriptor", "number", "response")

    def __init__(self, address: tuple[str, int], poll: select.epoll) -> None:
        """Begin to connect; what is sent meanwhile waits."""
        self._socket = socket.socket()
        self._socket.settimeout(0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.connect_ex(address)
        self._poll = poll
        self._waiting = b""
        self._watching = READ
        self.descriptor: Final = self._socket.fileno()
        self.number: int | None = None
        self.response = Response()
        poll.register(self.descriptor, READ)

    def send(self, number: int, request: bytes) -> Outcome | None:
        """Carry a request; its outcome where it failed at once."""
        self.number = number
        self.response = Response()
        self._waiting = request
        return self.write()

    def write(self) -> Outcome | None:
        """Send what waits, as far as it goes; an outcome where the connection is lost."""
        try:
            sent = self._socket.send(self._waiting)
        except BlockingIOError:
            sent = 0
        except OSError:
            # A connection that is still being made is not ready rather than broken.
            if self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                return Outcome.ERROR
            sent = 0
        self._waiting = self._waiting[sent:]
        watched = READ | WRITE if self._waiting else READ
        if watched != self._watching:
            self._poll.modify(self.descriptor, watched)
            self._watching = watched
        return None

    def read(self) -> Outcome | None:
        """Take what came; an outcome once the response is whole, or the connection is lost."""
        try:
            piece = self._socket.recv(_PIECE)
        except BlockingIOError:
            return None
        except OSError:
            return Outcome.ERROR
        if not piece or self.number is None:
            return Outcome.ERROR
        try:
            return self.response.outcome() if self.response.feed(piece) else None
        except ValueError:
            return Outcome.ERROR

    def close(self) -> None:
        """End it."""
        self._poll.unregister(self.descriptor)
        self._socket.close()
