"""Look-ups of rows in the lists of a segment, many rows at a time.

It knows integers only. All are compiled when this module is imported.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import PLACES, WORD, Bits, lowest, ones, write_eight
from shards.dense_terms import holds, place_of, rank_of
from shards.lists import I64, LISTS, U16, U32, U64, U64_2, Lists

LOOKUP: Final = 16
"""To look up one row in a list takes about as long as to walk this many postings."""


@numba.njit(types.void(types.int64[::1], U16, U16, types.int64, types.int64), nogil=True, cache=True)
def look_up(
    found: npt.NDArray[np.int64], rows: npt.NDArray[np.uint16], ordinals: npt.NDArray[np.uint16], start: int, end: int
) -> None:
    """Where each of ``rows`` stands in the ascending ``ordinals[start:end]``, or -1, into ``found``."""
    size = end - start
    found[: len(rows)] = start if size > 0 else -1
    # All searches halve the same list in step: the steps of one row wait for memory, those of many do not.
    while size > 1:
        half = size >> 1
        for place in range(len(rows)):
            found[place] += half * np.int64(ordinals[found[place] + half - 1] < rows[place])
        size -= half
    for place in range(len(rows)):
        if size == 1 and ordinals[found[place]] != rows[place]:
            found[place] = -1


@numba.njit(types.void(types.int64[::1], U16, types.int64, LISTS), nogil=True, cache=True)
def look_up_term(found: npt.NDArray[np.int64], rows: npt.NDArray[np.uint16], term: int, lists: Lists) -> None:
    """Where the impact of a term stands for each of ``rows``, or -1, into ``found``."""
    start, end = np.int64(lists.offsets[term]), np.int64(lists.offsets[term + 1])
    if start < end:
        look_up(found, rows, lists.ordinals, start, end)
        return
    place = place_of(lists.dense, term)
    start = lists.starts[place]
    for at in range(len(rows)):
        row = np.int64(rows[at])
        held = holds(lists.bits, place, row)
        found[at] = start + rank_of(lists.bits, lists.ranks, place, row) if held else -1


@numba.njit(types.uint16[::1](U64, types.int64), nogil=True, cache=True)
def rows_of(allowed: Bits, count: int) -> npt.NDArray[np.uint16]:
    """uint16[count]: the rows of a set of ``count``, ascending."""
    rows = np.empty(count, np.uint16)
    at = 0
    for word in range(len(allowed)):
        left = allowed[word]
        while left:
            rows[at] = WORD * word + lowest(left)
            at += 1
            left &= left - np.uint64(1)
    return rows


@numba.njit(types.uint16[::1](U64, types.int64), nogil=True, cache=True)
def dense_rows_of(holders: Bits, count: int) -> npt.NDArray[np.uint16]:
    """As ``rows_of``, for a set that most words have rows of: as long for few rows as for many."""
    # Eight are written in one go, whether there are so many or not; the next ones come over what was too much.
    rows = np.empty(count + 8, np.uint16)
    at = 0
    for word in range(len(holders)):
        left, first = holders[word], WORD * word
        while left:
            held = left & np.uint64(255)
            write_eight(rows, at, PLACES, held, first)
            at += ones(held)
            left >>= np.uint64(8)
            first += 8
    return rows[:count]


@numba.njit(types.Tuple((U16, types.int64))(types.int64, U32, U16, I64, U64_2, I64), nogil=True, cache=True)
def list_of(  # noqa: PLR0917 -- Numba wants positions
    term: int,
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.uint16], int]:
    """uint16[m]: the rows that hold a term, dense or not, ascending, and where the first one's impact stands."""
    start, end = np.int64(offsets[term]), np.int64(offsets[term + 1])
    place = place_of(dense, term) if start == end else -1
    if place < 0:
        return ordinals[start:end], int(start)
    return dense_rows_of(bits[place], starts[place + 1] - starts[place]), int(starts[place])
