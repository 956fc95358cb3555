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

ENOUGH: Final = 8.0
"""Faded answers that must be left before anything is concluded from them: some seconds after a bad time it is
forgotten, and questions are let in to learn anew."""

KNOWN_S: Final = 0.5
"""Faded time at work that must be left for a new crowd to be a matter of speed from its first moment on. Where less is
known, its time begins with its first answer: what stands before that one is a start, cold caches and all."""

KEPT_BACK: Final = 0.25
"""Part of a budget that no wait may take: estimates err, and a search needs time for its documents at the end."""

FILLED: Final = 0.45
"""Part of the longest budget that the mean wait of all who are let near a replica may take: the slowest of a hundred
waits nearly twice as long as the mean. Less than ``check`` grants, so that the proxy turns away in a millisecond whom
the replica would refuse only once it has read the request, after a tenth of a second or two."""


class Overloaded(Exception):
    """Too many questions are ahead of this one.

    Attributes:
        retry_after_s: in whole seconds, at least 1.
        room: requests that may be near the replica at the same time, None where too little is known.
    """

    def __init__(self, retry_after_s: int, room: int | None = None) -> None:
        super().__init__(retry_after_s, room)
        self.retry_after_s = retry_after_s
        self.room = room


class Admission:
    """The questions that one replica works on. Belongs to one event loop.

    By Little's law a question waits for those ahead of it, times the mean time between two that are done. What that
    mean is taken of fades by the clock, not by number: shards answer in batches, so that answers come in bursts, and a
    burst must not pass for speed. Nor must one pause pass for slowness, because what follows it is a burst: the longest
    time between two answers is left out. So the mean errs towards letting in, by one batch at most.

    Args:
        clock: in seconds.
        longest_s: the longest of all budgets, for which ``room`` is counted.
    """

    def __init__(self, clock: Clock, longest_s: float) -> None:
        self._clock = clock
        self._longest_budget_s = longest_s
        self._at_work = 0
        # Faded sums over answers that came while there was a crowd: how many, the time they took together, and the
        # longest part of it without an answer.
        self._done = 0.0
        self._busy_s = 0.0
        self._longest_gap_s = 0.0
        self._learnt_at_s = 0.0
        # Since when the time of a crowd counts; None where there is no crowd, or none of its answers yet.
        self._counted_s: float | None = None
        self._telling_until_s = -math.inf

    @property
    def at_work(self) -> int:
        """Questions that have a place."""
        return self._at_work

    def wait_s(self) -> float:
        """How long a question that comes now would wait for its answer, in seconds; 0 while too little is known."""
        if self._at_work < CROWD or self._done * self._faded(self._clock()) < ENOUGH:
            return 0.0
        return (self._at_work + 1) * self._mean_s()

    def room(self) -> int | None:
        """What an answer has to tell the proxy, None while nobody has to be turned away.

        So many requests may be near the replica at the same time that nearly all are answered inside the longest
        budget. It is told from a refusal on, and as long as the replica stays half as full: the proxy then turns away
        the others, and a replica that said no more would see them again in a burst.
        """
        now_s = self._clock()
        if now_s > self._telling_until_s or (room := self._room()) is None:
            return None
        if self._at_work * 2 >= room:
            self._telling_until_s = now_s + MEMORY_S
        return room

    def check(self, remaining_s: float) -> None:
        """Refuse a question that arrives with so much time left, if it would wait longer, or has none left.

        Raises:
            Overloaded: if so.
        """
        if remaining_s <= 0:
            # All of it went by in a queue of ours.
            raise self._refusal(1)
        wait_s = self.wait_s()
        if wait_s > remaining_s * (1 - KEPT_BACK):
            raise self._refusal(max(1, math.ceil(wait_s - remaining_s)))

    def place(self, remaining_s: float) -> Self:
        """For a ``with`` block, inside which a question with so much time left has a place.

        Raises:
            Overloaded: as ``check``; but whose time went by since it arrived gets its typed answer from the search,
                which does no work for it.
        """
        if remaining_s > 0:
            self.check(remaining_s)
        return self

    def __enter__(self) -> None:
        self._at_work += 1
        if self._at_work == CROWD:
            now_s = self._clock()
            self._counted_s = now_s if self._busy_s * self._faded(now_s) >= KNOWN_S else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._at_work >= CROWD:
            now_s = self._clock()
            if self._counted_s is not None:
                self._learn(now_s, now_s - self._counted_s)
            self._counted_s = now_s
        self._at_work -= 1
        if self._at_work < CROWD:
            self._counted_s = None

    def _mean_s(self) -> float:
        """Between two that are done."""
        return (self._busy_s - self._longest_gap_s) / self._done

    def _refusal(self, retry_after_s: int) -> Overloaded:
        self._telling_until_s = self._clock() + MEMORY_S
        return Overloaded(retry_after_s, self._room())

    def _room(self) -> int | None:
        """Of the longest budget, whoever asks: who has little time must not make the room smaller for the others."""
        if self.wait_s() <= 0:
            return None
        return max(CROWD, int(self._longest_budget_s * FILLED / self._mean_s()))

    def _learn(self, now_s: float, took_s: float) -> None:
        faded = self._faded(now_s)
        self._done = self._done * faded + 1
        self._busy_s = self._busy_s * faded + took_s
        self._longest_gap_s = max(self._longest_gap_s * faded, took_s)
        self._learnt_at_s = now_s

    def _faded(self, now_s: float) -> float:
        return math.exp((self._learnt_at_s - now_s) / MEMORY_S)
