"""Arrival: when a request reached the endpoint, from the stamp that HAProxy puts on it, on the clock of this replica.

What it waited in HAProxy's queue and in sockets is part of its budget. It believes no stamp further than a caller could
lose by it: none lies in the future, and none takes more than the longest budget.
"""

import time
from collections.abc import Callable, Iterable
from typing import Final

from cluster.budget import Clock
from serve_app.haproxy import ARRIVAL_HEADER

_HEADER: Final = ARRIVAL_HEADER.encode()
_MOST_DIGITS: Final = 18
"""A stamp of now has 16. Python refuses to read thousands of digits, which a caller past HAProxy could send."""


def arrival_of(
    headers: Iterable[tuple[bytes, bytes]], clock: Clock, longest_s: float, wall_clock: Callable[[], float] = time.time
) -> float:
    """The time on ``clock`` at which a request with these raw ASGI headers arrived: now, where they do not say.

    The stamp is of the wall clock, perhaps of another machine's: a clock that is wrong costs ``longest_s`` at most.
    """
    now_s = clock()
    for name, value in headers:
        if name == _HEADER and value.isdigit() and len(value) <= _MOST_DIGITS:
            waited_s = wall_clock() - int(value) / 1e6
            return now_s - min(max(waited_s, 0.0), longest_s)
    return now_s
