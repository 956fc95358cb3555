"""TextTable: many sorted texts as one compressed UTF-8 blob, a tenth of what Python strings take.

It knows no meaning of its texts and never changes after it is built.
"""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from shards import text_kernel
from shards.text_kernel import BLOCK


def encoded(text: str) -> bytes:
    """UTF-8 of a text; lone surrogates pass, so that a strange look-up finds nothing instead of failing."""
    return text.encode("utf-8", "surrogatepass")


class TextTable:
    """Distinct texts, ascending by their UTF-8 bytes, which is the order of Python's ``str`` too.

    A row keeps only the bytes after those it shares with the first row of its block of 8 (about half of an id).

    Attributes:
        blob: the kept bytes of all rows.
        offsets: uint32[n + 1], where each row's kept bytes start.
        shared: uint8[n], how many bytes come from the block's first row.
    """

    __slots__ = ("_bytes", "blob", "offsets", "shared")

    def __init__(
        self, blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint32], shared: npt.NDArray[np.uint8]
    ) -> None:
        # Slices of bytes are many times faster than those of arrays; both are views of the same memory.
        self._bytes = blob.tobytes()
        self.blob = np.frombuffer(self._bytes, np.uint8)
        self.offsets = offsets
        self.shared = shared

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Self:
        """A table of distinct, ascending, encoded texts; empty for none."""
        blob, offsets = _joined(texts)
        shared = text_kernel.shared_prefixes(blob, offsets)
        kept = [text[skip:] for text, skip in zip(texts, shared.tolist(), strict=True)]
        return cls(*_joined(kept), shared)

    def __len__(self) -> int:
        return len(self.shared)

    def __getitem__(self, row: int) -> str:
        return self.bytes_at(row).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf-8", "surrogatepass") for text in self.all_bytes())

    def bytes_at(self, row: int) -> bytes:
        """The encoded text of a row; ``row`` in [0, n)."""
        head = int(self.offsets[row - row % BLOCK])
        prefix = self._bytes[head : head + int(self.shared[row])]
        return prefix + self._bytes[self.offsets[row] : self.offsets[row + 1]]

    def all_bytes(self) -> Iterator[bytes]:
        """All encoded texts in order."""
        bounds = self.offsets.tolist()
        for row, skip in enumerate(self.shared.tolist()):
            head = bounds[row - row % BLOCK]
            yield self._bytes[head : head + skip] + self._bytes[bounds[row] : bounds[row + 1]]

    def find(self, text: bytes) -> int:
        """Row of an encoded text, or -1."""
        return int(self.find_all((text,))[0])

    def find_all(self, texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """int64[m]: row of each encoded text, -1 where it is not in."""
        rows: npt.NDArray[np.int64] = text_kernel.find_rows(self.blob, self.offsets, self.shared, *_joined(texts))
        return rows

    def beginning_with(self, prefix: bytes) -> range:
        """The rows of all texts that begin with these bytes of UTF-8."""
        # No byte of UTF-8 is 255, so this lies just behind them.
        first, last = (
            text_kernel.first_at_least(self.blob, self.offsets, self.shared, np.frombuffer(bound, np.uint8))
            for bound in (prefix, prefix + b"\xff")
        )
        return range(first, last)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.blob.nbytes + self.offsets.nbytes + self.shared.nbytes


def _joined(texts: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """All texts one after the other, and where each starts (uint32[n + 1])."""
    offsets = np.zeros(len(texts) + 1, np.uint32)
    np.cumsum(np.fromiter(map(len, texts), np.uint32, len(texts)), out=offsets[1:])
    return np.frombuffer(b"".join(texts), np.uint8), offsets
