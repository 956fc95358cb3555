"""DenseTerms: the few terms of a segment that many of its rows hold, as sets of rows in place of lists.

A quarter of a thousandth of all terms has most of what a query's words touch. A set of rows tells in a machine word
what 64 rows hold, so that whole lists need not be walked, and takes less memory than they do. What each row's impact is
stands in ``Postings``: this tells where.
"""

import itertools
from dataclasses import dataclass
from typing import Final, Self

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import WORD, ones

SHARE: Final = 16
"""A term is dense where more than every 16th row holds it: then its set is hardly larger than a list of ordinals."""

LEAST_ROWS: Final = 256
"""A list of at most this many rows is walked as fast as looked up."""

RANK_WORDS: Final = 4
"""Words between two ranks."""

_U32 = types.Array(types.uint32, 1, "C", readonly=True)
_U16 = types.Array(types.uint16, 1, "C", readonly=True)
_I64 = types.Array(types.int64, 1, "C", readonly=True)
_U64_2 = types.Array(types.uint64, 2, "C", readonly=True)
_U16_2 = types.Array(types.uint16, 2, "C", readonly=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DenseTerms:
    """Terms that many rows hold.

    Attributes:
        rows: int64[d], their dictionary rows, ascending.
        bits: uint64[d, words], the rows that hold each.
        ranks: uint16[d, ceil(words / 4)], how many rows before every fourth word hold it; derived, in no snapshot.
        starts: int64[d + 1], where each one's impacts start among all, by ascending row; derived.
        most: uint8[d], the largest impact of each; derived.
    """

    rows: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    ranks: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.int64]
    most: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, rows: npt.NDArray[np.int64], bits: npt.NDArray[np.uint64], impacts: npt.NDArray[np.uint8]) -> Self:
        """These dense terms, whose impacts are the last of ``impacts`` (uint8[p])."""
        counts = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        starts = len(impacts) - counts.sum() + np.append(0, np.cumsum(counts))
        # Derived at once, in a millisecond for 150 sets, so that no search waits for it.
        most = [impacts[start:end].max() for start, end in itertools.pairwise(starts.tolist())]
        return cls(rows=rows, bits=bits, ranks=_ranks(bits), starts=starts, most=np.array(most, np.uint8))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(array.nbytes for array in (self.rows, self.bits, self.ranks, self.starts, self.most))


def are_dense(counts: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.bool_]:
    """bool[t]: whether terms that so many (int64[t]) of ``rows`` rows hold are dense."""
    dense: npt.NDArray[np.bool_] = counts > max(LEAST_ROWS, rows // SHARE)
    return dense


@numba.njit(types.uint64[:, ::1](_I64, _U32, _U16, types.int64), nogil=True, cache=True)
def sets_of(
    terms: npt.NDArray[np.int64], offsets: npt.NDArray[np.uint32], ordinals: npt.NDArray[np.uint16], words: int
) -> npt.NDArray[np.uint64]:
    """uint64[d, words]: the rows in the list ``ordinals[offsets[t]:offsets[t + 1]]`` of each of ``terms``."""
    sets = np.zeros((len(terms), words), np.uint64)
    for place in range(len(terms)):
        for row in ordinals[offsets[terms[place]] : offsets[terms[place] + 1]]:
            sets[place, row // WORD] |= np.uint64(1) << np.uint64(row % WORD)
    return sets


def _ranks(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint16]:
    counts = np.bitwise_count(bits).astype(np.int64)
    before = np.cumsum(counts, axis=1) - counts
    return np.ascontiguousarray(before[:, ::RANK_WORDS].astype(np.uint16))


@numba.njit(types.int64(_I64, types.int64), nogil=True, cache=True)
def place_of(terms: npt.NDArray[np.int64], term: int) -> int:
    """Where a dictionary row stands in ``DenseTerms.rows``, or -1."""
    low, high = 0, len(terms)
    while low < high:
        middle = (low + high) >> 1
        if terms[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < len(terms) and terms[low] == term else -1


@numba.njit(types.bool_(_U64_2, types.int64, types.int64), nogil=True, cache=True)
def holds(bits: npt.NDArray[np.uint64], place: int, row: int) -> bool:
    """Whether a row holds the dense term at ``place``."""
    word = row // WORD
    return bool(word < bits.shape[1] and (bits[place, word] >> np.uint64(row % WORD)) & np.uint64(1) != 0)


@numba.njit(types.int64(_U64_2, _U16_2, types.int64, types.int64), nogil=True, cache=True)
def rank_of(bits: npt.NDArray[np.uint64], ranks: npt.NDArray[np.uint16], place: int, row: int) -> int:
    """Where in the list of the dense term at ``place`` the posting of a row stands that holds it."""
    last = row // WORD
    first = last & ~(RANK_WORDS - 1)
    rank = int(ranks[place, first // RANK_WORDS])
    for word in range(first, last):
        rank += ones(bits[place, word])
    return rank + int(ones(bits[place, last] & ((np.uint64(1) << np.uint64(row % WORD)) - np.uint64(1))))
