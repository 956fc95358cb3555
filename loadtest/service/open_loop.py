"""Open loop: requests sent when they are due, whether or not earlier ones were answered, from one lean event loop.

Raw sockets and epoll, because the generator shares the machine with the server. What was due when is given.
"""

import select
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from loadtest.service.connection import WRITE, Connection
from loadtest.service.schedule import Outcome, Reply

PATIENCE_S: Final = 5.0
"""After that a request is given up, and counts as one without an answer."""

MOST_CONNECTIONS: Final = 4_000
"""A request that is due while all of them are busy waits, and its latency counts on."""

_WAIT_S: Final = 0.05


class OpenLoop:
    """One run against one address. Used once.

    Args:
        address: host and port.
        requests: bytes of each HTTP request.
        due_s: float64[n], when each is due after the start, ascending.
    """

    def __init__(self, address: tuple[str, int], requests: Sequence[bytes], due_s: npt.NDArray[np.float64]) -> None:
        self._address = address
        self._requests = requests
        self._due_s: list[float] = due_s.tolist()
        self._sent_s = [0.0] * len(due_s)
        self._replies: list[Reply] = []
        self._following = 0
        self._poll = select.epoll()
        self._open: dict[int, Connection] = {}
        self._idle: list[Connection] = []
        self._pending: deque[tuple[int, Connection]] = deque()
        self._started_s = 0.0

    def run(self) -> list[Reply]:
        """Send everything and wait for every answer, or its patience; replies in the order in which they ended."""
        self._started_s = time.perf_counter()
        try:
            while len(self._replies) < len(self._due_s):
                self._send_due()
                self._give_up()
                self._receive()
        finally:
            for connection in self._open.values():
                connection.close()
            self._poll.close()
        return self._replies

    def _now_s(self) -> float:
        return time.perf_counter() - self._started_s

    def _send_due(self) -> None:
        while self._following < len(self._due_s) and self._due_s[self._following] <= self._now_s():
            if (connection := self._free()) is None:
                return
            number = self._following
            self._following += 1
            self._sent_s[number] = self._now_s()
            self._pending.append((number, connection))
            if (failed := connection.send(number, self._requests[number])) is not None:
                self._lose(connection, failed)

    def _free(self) -> Connection | None:
        if self._idle:
            return self._idle.pop()
        if len(self._open) >= MOST_CONNECTIONS:
            return None
        connection = Connection(self._address, self._poll)
        self._open[connection.descriptor] = connection
        return connection

    def _receive(self) -> None:
        wait_s = _WAIT_S
        if self._following < len(self._due_s):
            wait_s = min(wait_s, max(0.0, self._due_s[self._following] - self._now_s()))
        # epoll waits in whole milliseconds; select on its descriptor does not.
        select.select((self._poll,), (), (), wait_s)
        for descriptor, events in self._poll.poll(0):
            connection = self._open[descriptor]
            outcome = connection.write() if events & WRITE else None
            if outcome is None and events & ~WRITE:
                outcome = connection.read()
            if outcome is Outcome.ERROR:
                self._lose(connection, outcome)
            elif outcome is not None:
                self._end(connection, outcome)

    def _give_up(self) -> None:
        longest_s = self._now_s() - PATIENCE_S
        while self._pending and self._sent_s[self._pending[0][0]] < longest_s:
            number, connection = self._pending.popleft()
            if connection.number == number:
                self._lose(connection, Outcome.NO_ANSWER)

    def _end(self, connection: Connection, outcome: Outcome) -> None:
        """The response is whole; the connection goes on unless the server ends it."""
        closes = connection.response.closes
        self._note(connection, outcome, retry_after=connection.response.retry_after)
        if closes:
            self._close(connection)
        else:
            self._idle.append(connection)

    def _lose(self, connection: Connection, outcome: Outcome) -> None:
        if connection.number is None:
            self._idle.remove(connection)
        else:
            self._note(connection, outcome, retry_after=False)
        self._close(connection)

    def _note(self, connection: Connection, outcome: Outcome, *, retry_after: bool) -> None:
        number = connection.number
        if number is None:
            return
        due_s = self._due_s[number]
        self._replies.append(
            Reply(
                outcome=outcome,
                late_ms=1_000 * (self._sent_s[number] - due_s),
                latency_ms=1_000 * (self._now_s() - due_s),
                retry_after=retry_after,
            )
        )
        connection.number = None

    def _close(self, connection: Connection) -> None:
        del self._open[connection.descriptor]
        connection.close()
