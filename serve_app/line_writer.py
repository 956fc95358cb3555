"""LineWriter: a bounded buffer of lines and the thread that writes them, so that no request waits for a disk.

What does not fit, or cannot be written, is lost and counted. It does not know what the lines say.
"""

import threading
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from serve_app.log_file import Sink

CAPACITY: Final = 16_384
"""Lines that wait at most: seconds of a busy replica, 16 MB."""

PERIOD_S: Final = 1.0
"""Time that a line waits at most while its sink takes lines."""

CLOSE_S: Final = 2.0

_BATCH: Final = 512


class Loss(StrEnum):
    """Why lines were lost."""

    OVERFLOW = "overflow"
    UNWRITABLE = "unwritable"


class LineWriter:
    """Lines are put by one thread, an event loop's, and written by its own.

    Args:
        sink: takes the lines.
        lost: told of lost lines; from either thread.
        capacity: lines that wait at most.
        period_s: time between two writes.
    """

    def __init__(
        self, sink: Sink, lost: Callable[[Loss, int], None], *, capacity: int = CAPACITY, period_s: float = PERIOD_S
    ) -> None:
        self._sink = sink
        self._lost = lost
        self._capacity = capacity
        self._enough = max(1, capacity // 4)
        self._period_s = period_s
        self._lines: deque[bytes] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._torn = False
        self._thread = threading.Thread(target=self._run, name="shortlist-log", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Take a line, its end included; returns at once whatever the sink does."""
        waiting = len(self._lines)
        if waiting >= self._capacity or self._closing:
            self._lost(Loss.OVERFLOW, 1)
            return
        self._lines.append(line)
        if waiting == self._enough:
            self._wake.set()

    def close(self, timeout_s: float = CLOSE_S) -> None:
        """Write what waits and end the thread; after ``timeout_s`` it is left alone, and what it still has is lost."""
        self._closing = True
        self._wake.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(self._period_s)
            self._wake.clear()
            self._write_all()
        self._write_all()

    def _write_all(self) -> None:
        while self._lines:
            batch = [self._lines.popleft() for _ in range(min(len(self._lines), _BATCH))]
            # A batch may have been cut off in the middle of a line; the next one begins on a new line.
            start = b"\n" if self._torn else b""
            try:
                self._sink.append(start + b"".join(batch))
                self._torn = False
            except OSError:
                self._torn = True
                self._lost(Loss.UNWRITABLE, len(batch))
