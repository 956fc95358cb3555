"""A min-heap of the best keys so far: its root is what the next one must exceed.

Keys of rows are ``score << 16 | 65535 - row``, so that their order is the total order of a segment. It knows integers
only. Compiled when this module is imported.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import I32, U16

ROW_BITS: Final = 16
ROW_MASK: Final = (1 << ROW_BITS) - 1


@numba.njit(types.void(types.int64[::1], types.int64), nogil=True, cache=True)
def sift_down(heap: npt.NDArray[np.int64], size: int) -> None:
    """Restore the min-heap order of ``heap[:size]`` after its root was replaced."""
    position = 0
    key = heap[0]
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[position] = heap[child]
        position = child
    heap[position] = key


@numba.njit(types.void(types.int64[::1], types.int64), nogil=True, cache=True)
def sift_up(heap: npt.NDArray[np.int64], position: int) -> None:
    """Restore the min-heap order after a key was appended at ``position``."""
    key = heap[position]
    while position > 0 and heap[(position - 1) >> 1] > key:
        heap[position] = heap[(position - 1) >> 1]
        position = (position - 1) >> 1
    heap[position] = key


@numba.njit(types.int64(types.int64[::1], types.int64, types.int64), nogil=True, cache=True)
def offered(heap: npt.NDArray[np.int64], size: int, key: int) -> int:
    """Keep ``key`` if it is among the best ``len(heap)`` (at least 1) of all offered; the size afterwards."""
    if size < len(heap):
        heap[size] = key
        sift_up(heap, size)
        return size + 1
    if key > heap[0]:
        heap[0] = key
        sift_down(heap, size)
    return size


@numba.njit(
    types.int64(types.uint16[::1], types.int32[::1], U16, I32, types.int64),
    nogil=True,
    cache=True,
)
def best_of(
    best: npt.NDArray[np.uint16],
    found: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    scores: npt.NDArray[np.int32],
    limit: int,
) -> int:
    """Put the best of distinct rows that score at least ``limit``, in the total order, into ``best``; how many.

    Args:
        best: uint16[n], room for the rows; n is at least 1.
        found: int32[n], room for their scores.
        rows: uint16[m].
        scores: int32[m], theirs.
        limit: above 0.
    """
    heap = np.empty(len(best), np.int64)
    size = 0
    for place in range(len(rows)):
        if scores[place] >= limit:
            size = offered(heap, size, (np.int64(scores[place]) << ROW_BITS) | (ROW_MASK - rows[place]))
    keys = np.sort(heap[:size])
    for position in range(size):
        key = keys[size - 1 - position]
        best[position] = ROW_MASK - (key & ROW_MASK)
        found[position] = key >> ROW_BITS
    return size
