"""Arrival: when a request reached the endpoint, from the stamp that HAProxy puts on it, on the clock of this replica.

What it waited in HAProxy's queue and in sockets is part of its budget. It believes no stamp further than a caller could
lose by it: none lies in the future, and none takes more than the longest budget. Stamps are of the wall clock, because
HAProxy knows no other; where that of another machine differs by more than any wait, it is found out, but not set right.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import Final

from cluster.budget import Clock
from serve_app.haproxy import ARRIVAL_HEADER

WINDOW_S: Final = 5.0
"""Time, and ``ENOUGH`` the number of stamps, in which at least one request finds no queue."""

ENOUGH: Final = 8

FUTURE_S: Final = 0.05
"""How far in the future all stamps of a window may lie: clocks are never quite the same."""

_HEADER: Final = ARRIVAL_HEADER.encode()
_MOST_DIGITS: Final = 18
"""A stamp of now has 16. Python refuses to read thousands of digits, which a caller past HAProxy could send."""

_log = logging.getLogger(__name__)


class Arrivals:
    """Times of arrival of the requests of one replica.

    Args:
        clock: on which they are told, in seconds.
        longest_s: the longest of all budgets.
        wall_clock: seconds of the Unix epoch, to compare stamps with.
    """

    def __init__(self, clock: Clock, longest_s: float, wall_clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._longest_s = longest_s
        self._wall_clock = wall_clock
        # HAProxy holds no request for longer than that.
        self._difference = ClockDifference(longest_s)

    def of(self, headers: Iterable[tuple[bytes, bytes]]) -> float:
        """When a request with these raw ASGI headers arrived: now, where they do not say."""
        now_s = self._clock()
        for name, value in headers:
            if name == _HEADER and value.isdigit() and len(value) <= _MOST_DIGITS:
                behind_s = self._wall_clock() - int(value) / 1e6
                waited_s = behind_s - self._difference.seen(behind_s, now_s)
                return now_s - min(max(waited_s, 0.0), self._longest_s)
        return now_s


class ClockDifference:
    """How far this machine's wall clock is ahead of HAProxy's, told from how far stamps lie behind it.

    A wait is never negative, and hardly any is long for every request of seconds: where the least of them all is, it is
    no wait. One stamp that lies nearer ends that at once, as after a clock was set right.

    Args:
        plausible_s: up to which a difference passes for a wait.
    """

    def __init__(self, plausible_s: float) -> None:
        self._plausible_s = plausible_s
        self._began_s = -math.inf
        self._number = 0
        # Least and most of this window, and of the one before.
        self._now = self._before = (math.inf, -math.inf)
        self._differs = False

    def seen(self, behind_s: float, now_s: float) -> float:
        """The difference in seconds, with one more stamp that lies so far behind; 0 where there is none to be told."""
        if self._number >= ENOUGH and now_s - self._began_s >= WINDOW_S:
            self._before, self._now = self._now, (math.inf, -math.inf)
            self._number = 0
        if not self._number:
            self._began_s = now_s
        self._number += 1
        self._now = min(self._now[0], behind_s), max(self._now[1], behind_s)
        least_s, most_s = min(self._now[0], self._before[0]), max(self._now[1], self._before[1])
        differs = self._before[0] < math.inf and (least_s > self._plausible_s or most_s < -FUTURE_S)
        if differs is not self._differs:
            self._differs = differs
            _log.warning("clocks_differ" if differs else "clocks_agree", extra={"ahead_s": round(least_s, 3)})
        return least_s if differs else 0.0
