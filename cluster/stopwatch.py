"""Stopwatch: wall time per stage of one request, on the request's own clock."""

from typing import Final

from cluster.budget import Clock

_DIGITS: Final = 3
"""Microseconds are enough."""


class Stopwatch:
    """Starts at once; each ``lap`` ends one stage and begins the next."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started_s = self._lap_s = clock()
        self._laps_ms: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Give the time since the last lap to ``stage``."""
        now_s = self._clock()
        self._laps_ms[stage] = round((now_s - self._lap_s) * 1000, _DIGITS)
        self._lap_s = now_s

    def timings_ms(self) -> dict[str, float]:
        """Milliseconds per stage, and ``total`` since the start."""
        return self._laps_ms | {"total": round((self._clock() - self._started_s) * 1000, _DIGITS)}
