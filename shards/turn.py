"""Turn: a lock that threads get in the order in which they came for it. It counts and times nothing."""

import threading
from collections import deque
from types import TracebackType


class Turn:
    """A context manager that one thread at a time is inside of; a thread must not enter it twice.

    A plain lock is often taken again by the thread that just let it go, before one that waits has woken up: a stream of
    searches could keep a change waiting for as long as it lasts. Here whoever leaves hands over to the first in line.
    """

    def __init__(self) -> None:
        self._line_lock = threading.Lock()
        self._line: deque[threading.Lock] = deque()
        self._taken = False

    def __enter__(self) -> None:
        with self._line_lock:
            if not self._taken:
                self._taken = True
                return
            ticket = threading.Lock()
            ticket.acquire()
            self._line.append(ticket)
        # Let go by whoever leaves before: the turn is this thread's then, and was never free in between.
        ticket.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._line_lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._taken = False
