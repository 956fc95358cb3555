"""How long this machine stood still: what a promise of time cannot answer for, measured beside the promise."""

import threading
import time
from typing import Self


class Pauses:
    """Inside the block a thread wakes every few milliseconds; by how much it came late at most is ``longest_s``.

    Never more than ``MOST_S``: a service that takes the machine for itself would else excuse its own lateness.
    """

    MOST_S = 1.0
    _EVERY_S = 0.005

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def longest_ms(self) -> float:
        """The same in milliseconds."""
        return self.longest_s * 1000

    def _watch(self) -> None:
        before_s = time.monotonic()
        while not self._over.wait(self._EVERY_S):
            now_s = time.monotonic()
            self.longest_s = min(self.MOST_S, max(self.longest_s, now_s - before_s - self._EVERY_S))
            before_s = now_s
