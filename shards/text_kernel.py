"""The few loops over packed texts that Python is too slow for: head compression and binary search.

It knows bytes only. All are compiled when this module is imported and release the GIL.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

BLOCK: Final = 8
"""Texts of a block share prefixes with its first text, its head; a power of two."""

_MAX_SHARED: Final = 255

_U8 = types.Array(types.uint8, 1, "C", readonly=True)
_U32 = types.Array(types.uint32, 1, "C", readonly=True)


@numba.njit(types.uint8[::1](_U8, _U32), nogil=True, cache=True)
def shared_prefixes(blob: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """uint8[n]: how many first bytes (at most 255) each text has in common with its block's head; 0 for heads."""
    shared = np.zeros(len(offsets) - 1, np.uint8)
    for row in range(len(shared)):
        head = row - row % BLOCK
        if head == row:
            continue
        limit = min(int(offsets[head + 1] - offsets[head]), int(offsets[row + 1] - offsets[row]), _MAX_SHARED)
        length = 0
        while length < limit and blob[offsets[head] + length] == blob[offsets[row] + length]:
            length += 1
        shared[row] = length
    return shared


@numba.njit(types.int64(_U8, _U32, _U8, types.int64, _U8), nogil=True, cache=True)
def _compare(
    blob: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.uint32],
    shared: npt.NDArray[np.uint8],
    row: int,
    text: npt.NDArray[np.uint8],
) -> int:
    """Negative, zero or positive as the text of ``row`` is below, equal to or above ``text``, by bytes."""
    prefix, start, head = int(shared[row]), int(offsets[row]), int(offsets[row - row % BLOCK])
    length = prefix + int(offsets[row + 1]) - start
    for position in range(len(text)):
        if position >= length:
            return -1
        own = blob[head + position] if position < prefix else blob[start + position - prefix]
        if own != text[position]:
            return int(own) - int(text[position])
    return length - len(text)


@numba.njit(types.int64[::1](_U8, _U32, _U8, _U8, _U32), nogil=True, cache=True)
def find_rows(
    blob: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.uint32],
    shared: npt.NDArray[np.uint8],
    texts: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.uint32],
) -> npt.NDArray[np.int64]:
    """int64[m]: row of each text ``texts[bounds[i]:bounds[i + 1]]`` in a sorted table, -1 where it is not in."""
    rows = np.full(len(bounds) - 1, -1, np.int64)
    for asked in range(len(rows)):
        text = texts[bounds[asked] : bounds[asked + 1]]
        low, high = 0, len(shared)
        # Invariant: texts below `low` are smaller than `text`, those from `high` on are larger.
        while low < high:
            middle = (low + high) >> 1
            order = _compare(blob, offsets, shared, middle, text)
            if order == 0:
                rows[asked] = middle
                break
            if order < 0:
                low = middle + 1
            else:
                high = middle
    return rows


@numba.njit(types.int64(_U8, _U32, _U8, _U8), nogil=True, cache=True)
def first_at_least(
    blob: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.uint32],
    shared: npt.NDArray[np.uint8],
    text: npt.NDArray[np.uint8],
) -> int:
    """The first row of a sorted table whose text is not below ``text``; the number of rows if there is none."""
    low, high = 0, len(shared)
    while low < high:
        middle = (low + high) >> 1
        if _compare(blob, offsets, shared, middle, text) < 0:
            low = middle + 1
        else:
            high = middle
    return low
