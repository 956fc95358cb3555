"""Admission: a question that would wait longer than its budget is refused at once, not answered too late.

Pure logic on an injected clock. It queues nothing and knows no request: it counts the questions that one replica works
on, and how fast it gets them done.
"""

import math
from types import TracebackType
from typing import Final, Self

from cluster.budget import Clock

CROWD: Final = 8
"""Questions at work at the same time, below which none is refused and nothing is learnt: so few tell how long one
takes, not how many the replica gets done."""

MEMORY_S: Final = 2.0
"""Time in which what was learnt fades to a third."""

ENOUGH: Final = 4.0
"""Faded answers that must be left before anything is concluded from them: some seconds after a bad time it is
forgotten, and questions are let in to learn anew."""

KEPT_BACK: Final = 0.25
"""Part of a budget that no wait may take: estimates err, and a search needs time for its documents at the end."""


class Overloaded(Exception):
    """Too many questions are ahead of this one; ``retry_after_s`` is in whole seconds, at least 1."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(retry_after_s)
        self.retry_after_s = retry_after_s


class Admission:
    """The questions that one replica works on. Belongs to one event loop.

    By Little's law a question waits for those ahead of it, times the mean time between two that are done. What that
    mean is taken of fades by the clock, not by number: shards answer in batches, so that answers come in bursts, and a
    burst must not pass for speed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at_work = 0
        # Faded sums over answers that came while there was a crowd: how many, and the time they took together.
        self._done = 0.0
        self._busy_s = 0.0
        self._learnt_at_s = 0.0
        self._crowded_since_s: float | None = None

    @property
    def at_work(self) -> int:
        """Questions that have a place."""
        return self._at_work

    def wait_s(self) -> float:
        """How long a question that comes now would wait for its answer, in seconds; 0 while too little is known."""
        if self._at_work < CROWD or self._done * self._faded(self._clock()) < ENOUGH:
            return 0.0
        return (self._at_work + 1) * self._busy_s / self._done

    def check(self, remaining_s: float) -> None:
        """Refuse a question with so much time left, if it would wait longer.

        Raises:
            Overloaded: if so.
        """
        wait_s = self.wait_s()
        # One whose time is over gets its typed answer from the search, which does no work for it.
        if remaining_s > 0 and wait_s > remaining_s * (1 - KEPT_BACK):
            raise Overloaded(max(1, math.ceil(wait_s - remaining_s)))

    def place(self, remaining_s: float) -> Self:
        """For a ``with`` block, inside which a question with so much time left has a place.

        Raises:
            Overloaded: as ``check``.
        """
        self.check(remaining_s)
        return self

    def __enter__(self) -> None:
        self._at_work += 1
        if self._at_work == CROWD:
            self._crowded_since_s = self._clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._crowded_since_s is not None:
            now_s = self._clock()
            faded = self._faded(now_s)
            self._busy_s = self._busy_s * faded + now_s - self._crowded_since_s
            self._done = self._done * faded + 1
            self._learnt_at_s = self._crowded_since_s = now_s
        self._at_work -= 1
        if self._at_work < CROWD:
            self._crowded_since_s = None

    def _faded(self, now_s: float) -> float:
        return math.exp((self._learnt_at_s - now_s) / MEMORY_S)
