"""BoundedCache: least recently used values under a ceiling of bytes.

It does not know when a value turns stale: keys must name everything the value depends on.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Values with their sizes; the least recently used go when the sum exceeds the ceiling."""

    def __init__(self, ceiling_bytes: int) -> None:
        self._ceiling_bytes = ceiling_bytes
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: K) -> V | None:
        """The value of a key, now the most recently used, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Keep a value; one larger than the whole ceiling is not kept."""
        old = self._entries.pop(key, None)
        if old is not None:
            self._bytes -= old[1]
        self._entries[key] = (value, size_bytes)
        self._bytes += size_bytes
        while self._bytes > self._ceiling_bytes:
            _, (_, freed_bytes) = self._entries.popitem(last=False)
            self._bytes -= freed_bytes

    @property
    def held_bytes(self) -> int:
        """Bytes of all values held, by the sizes that came with them."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._entries)
