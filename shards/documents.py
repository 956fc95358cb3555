"""Documents: the canonical JSON of a segment's records, kept apart from what a search touches.

The blob may be a memory-mapped file. Nothing here looks inside a body.
"""

import mmap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Documents:
    """Bodies by ordinal.

    Attributes:
        blob: all bodies one after the other.
        offsets: uint32[rows + 1], or int64 for 4 GiB and more; ascending, from 0 to the length of the blob.
    """

    blob: bytes | mmap.mmap
    offsets: npt.NDArray[np.uint32] | npt.NDArray[np.int64]

    @classmethod
    def of(cls, bodies: Iterable[bytes], lengths: Sequence[int]) -> Self:
        """Documents in the given order; ``lengths`` are those of ``bodies``."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(np.asarray(lengths, np.int64), out=offsets[1:])
        fits = offsets[-1] <= np.iinfo(np.uint32).max
        return cls(blob=b"".join(bodies), offsets=offsets.astype(np.uint32) if fits else offsets)

    def body(self, ordinal: int) -> bytes:
        """The body of one record."""
        return self.blob[int(self.offsets[ordinal]) : int(self.offsets[ordinal + 1])]

    @property
    def nbytes(self) -> int:
        """Bytes of blob and offsets, mapped or not."""
        return len(self.blob) + self.offsets.nbytes
