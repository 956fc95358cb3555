"""TextTable: many sorted texts as one compressed UTF-8 blob, a twentieth of what Python strings take.

It knows no meaning of its texts and never changes after it is built.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from shards import text_kernel


def joined(texts: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All texts one after the other, and where each starts (int64[n + 1]): what ``TextTable.find_joined`` looks up."""
    bounds = np.array(list(accumulate(map(len, texts), initial=0)), np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), bounds


class TextTable:
    """Distinct texts, ascending by their UTF-8 bytes, which is the order of Python's ``str`` too.

    A row keeps only the bytes that the row before it does not share, but for the first row of each block
    (``shards.text_kernel`` has the layout).

    Attributes:
        blob: uint8[bytes], the packed rows.
        blocks: uint32[ceil(n / text_kernel.BLOCK)], where each block starts in ``blob``.
    """

    __slots__ = ("_rows", "blob", "blocks")

    def __init__(self, blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32]) -> None:
        self.blob = blob
        self.blocks = blocks
        self._rows = int(text_kernel.counted(blob, blocks))

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Self:
        """A table of distinct, ascending, encoded texts; empty for none."""
        return cls(*text_kernel.packed(*joined(texts)))

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: int) -> str:
        return self.bytes_at(row).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (text.decode("utf-8", "surrogatepass") for text in self.all_bytes())

    def bytes_at(self, row: int) -> bytes:
        """The encoded text of a row; ``row`` in [0, n)."""
        text: bytes = text_kernel.text_at(self.blob, self.blocks, row).tobytes()
        return text

    def texts_at(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The texts of some rows, each in [0, n); several times as fast as one by one."""
        return list(parted(*text_kernel.texts_at(self.blob, self.blocks, np.ascontiguousarray(rows))))

    def all_bytes(self) -> Iterator[bytes]:
        """All encoded texts in order."""
        return _parted(*text_kernel.all_texts(self.blob, self._rows))

    def find(self, text: bytes) -> int:
        """Row of an encoded text, or -1."""
        return max(-1, self._located(text))

    def find_all(self, texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """int64[m]: row of each encoded text, -1 where it is not in."""
        return self.find_joined(*joined(texts))

    def find_joined(self, texts: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """As ``find_all``, for texts that are ``joined`` once and looked up in many tables."""
        rows: npt.NDArray[np.int64] = text_kernel.find_rows(self.blob, self.blocks, self._rows, texts, bounds)
        return rows

    def beginning_with(self, prefix: bytes) -> range:
        """The rows of all texts that begin with these bytes of UTF-8."""
        # No byte of UTF-8 is 255, so the upper bound lies just behind them and is no text itself.
        first, last = self._located(prefix), self._located(prefix + b"\xff")
        return range(first if first >= 0 else -1 - first, -1 - last)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.blob.nbytes + self.blocks.nbytes

    def _located(self, text: bytes) -> int:
        return int(text_kernel.located(self.blob, self.blocks, self._rows, np.frombuffer(text, np.uint8)))


def parted(texts: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The encoded texts that stand one after the other in ``texts``; text i ends at ``bounds[i + 1]``."""
    content = texts.tobytes()
    if not content.isascii():
        return tuple([text.decode("utf-8", "surrogatepass") for text in _parted(texts, bounds)])
    # A character a byte: decoded in one go, a third of the time.
    whole = content.decode("ascii")
    return tuple([whole[start:end] for start, end in pairwise(bounds.tolist())])


def _parted(texts: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> Iterator[bytes]:
    content, places = texts.tobytes(), bounds.tolist()
    return (content[start:end] for start, end in pairwise(places))
