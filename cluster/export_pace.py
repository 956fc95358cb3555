"""Pace: how many pages one caller may read in a minute. It counts in memory only; a restart forgives."""

from collections.abc import Callable
from math import ceil
from typing import Final

from cluster.errors import ExportsExceeded

MINUTE_S: Final = 60.0

Reader = tuple[str, str]
"""Tenant and subject."""


class Pace:
    """Counts by minutes that begin with the first page read in them, the same ones for every reader.

    Args:
        most: pages of one reader in one minute.
        clock: monotonic, in seconds.
    """

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._began_s = clock()
        self._read: dict[Reader, int] = {}

    def admit(self, reader: Reader) -> None:
        """Count one page.

        Raises:
            ExportsExceeded: if this minute's pages have been read; it says when the next minute begins.
        """
        now_s = self._clock()
        if now_s - self._began_s >= MINUTE_S:
            self._began_s = now_s
            self._read.clear()
        read = self._read.get(reader, 0)
        if read >= self._most:
            rest_s = self._began_s + MINUTE_S - now_s
            raise ExportsExceeded("pages_per_minute", self._most, max(1, ceil(rest_s)))
        self._read[reader] = read + 1
