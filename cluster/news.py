"""News: what copies that answer searches were told a moment ago, for those who work behind the acknowledgement.

It is a hint: a listener that is slow misses names, never that there were any, and then has to look for itself.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

_MOST_NAMES: Final = 512
"""Ids that are kept for a slow listener; the newest stay."""

_log = logging.getLogger(__name__)


class News:
    """One teller, one listener, one event loop."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._ids: dict[str, None] = {}

    def ring(self) -> None:
        """Something is new, whatever it is."""
        self._rung.set()

    def changed(self, ids: Iterable[str]) -> None:
        """These records were written."""
        for record_id in ids:
            # Taken out first, so that the newest stand last.
            self._ids.pop(record_id, None)
            self._ids[record_id] = None
        for oldest in list(self._ids)[: max(0, len(self._ids) - _MOST_NAMES)]:
            del self._ids[oldest]
        self.ring()

    def take(self, most: int) -> tuple[str, ...]:
        """At most ``most`` of the records written, each told once, the oldest first."""
        taken = tuple(self._ids)[:most]
        for record_id in taken:
            del self._ids[record_id]
        return taken

    async def wait(self, timeout_s: float | None) -> None:
        """Return at the next news, those since the last return included, or after ``timeout_s``."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        except TimeoutError:
            _log.debug("no_news")
        self._rung.clear()
