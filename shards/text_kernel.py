"""The loops over front-coded texts that Python is too slow for: packing, unpacking, and search by bytes.

It knows bytes only. All are compiled when this module is imported, release the GIL and return new arrays.

A packed text is a header byte, then the bytes that it does not share with the text before it. The header's halves are
how many bytes it shares and how many follow; a half of 15 means that much and a number of 7 bits a byte, lowest first,
behind the header. The first text of each block of 32 shares nothing, so that a search can begin there.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

BLOCK: Final = 32
"""Texts of a block; more take less memory, and longer to read one of."""

_HALF: Final = 15
_LONGEST_HEADER: Final = 11

_U8 = types.Array(types.uint8, 1, "C", readonly=True)
_U32 = types.Array(types.uint32, 1, "C", readonly=True)
_I64 = types.Array(types.int64, 1, "C", readonly=True)
_PLACES = types.int64[:, ::1]


@numba.njit(types.UniTuple(types.int64, 2)(_U8, types.int64, types.int64), nogil=True, cache=True)
def _number(blob: npt.NDArray[np.uint8], at: int, half: int) -> tuple[int, int]:
    """The number that a half of a header begins, and where its other bytes, from ``at`` on, end."""
    if half < _HALF:
        return half, at
    value, shift = _HALF, 0
    while True:
        byte = np.int64(blob[at])
        value += int((byte & 127) << shift)
        at, shift = at + 1, shift + 7
        if byte < 128:  # noqa: PLR2004 -- the bit above 7
            return value, at


@numba.njit(types.UniTuple(types.int64, 3)(_U8, types.int64), nogil=True, cache=True)
def entry_at(blob: npt.NDArray[np.uint8], at: int) -> tuple[int, int, int]:
    """Of the packed text at ``at``: bytes shared with the one before, bytes of its own, and where these start."""
    header = np.int64(blob[at])
    shared, at = _number(blob, at + 1, header >> 4)
    own, at = _number(blob, at, header & _HALF)
    return shared, own, at


@numba.njit(types.int64(types.uint8[::1], types.int64, types.int64, types.int64), nogil=True, cache=True)
def _write_more(blob: npt.NDArray[np.uint8], at: int, value: int, half: int) -> int:
    """Write what does not fit a half of a header; where the next byte goes."""
    if half < _HALF:
        return at
    rest = value - _HALF
    while rest > 127:  # noqa: PLR2004 -- as above
        blob[at] = np.uint8(rest & 127 | 128)
        at, rest = at + 1, rest >> 7
    blob[at] = np.uint8(rest)
    return at + 1


@numba.njit(types.Tuple((types.uint8[::1], types.uint32[::1]))(_U8, _I64), nogil=True, cache=True)
def packed(
    texts: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """The packed form of the texts ``texts[bounds[i]:bounds[i + 1]]``, and where each block starts in it."""
    rows = len(bounds) - 1
    blob = np.empty(len(texts) + _LONGEST_HEADER * rows, np.uint8)
    blocks = np.empty((rows + BLOCK - 1) // BLOCK, np.uint32)
    size = 0
    for row in range(rows):
        start, length = bounds[row], bounds[row + 1] - bounds[row]
        shared = 0
        if row % BLOCK == 0:
            blocks[row // BLOCK] = size
        else:
            before = bounds[row - 1]
            limit = min(start - before, length)
            while shared < limit and texts[before + shared] == texts[start + shared]:
                shared += 1
        own = length - shared
        halves = min(shared, _HALF), min(own, _HALF)
        blob[size] = np.uint8(halves[0] << 4 | halves[1])
        size = _write_more(blob, size + 1, shared, halves[0])
        size = _write_more(blob, size, own, halves[1])
        blob[size : size + own] = texts[start + shared : start + length]
        size += own
    return blob[:size].copy(), blocks


@numba.njit(types.int64(_U8, _U32), nogil=True, cache=True)
def counted(blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32]) -> int:
    """How many texts there are."""
    if len(blocks) == 0:
        return 0
    rows, at = (len(blocks) - 1) * BLOCK, np.int64(blocks[-1])
    while at < len(blob):
        _, own, start = entry_at(blob, at)
        rows, at = rows + 1, start + own
    return rows


@numba.njit(types.int64(_U8, _U32, types.int64, _PLACES), nogil=True, cache=True)
def _walked(
    blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32], row: int, places: npt.NDArray[np.int64]
) -> int:
    """Write (bytes shared, where its own start) of each text from the block's first to ``row``; the length of that one.

    ``places`` is int64[BLOCK, 2].
    """
    at, length = np.int64(blocks[row // BLOCK]), 0
    for place in range(row % BLOCK + 1):
        shared, own, start = entry_at(blob, at)
        places[place, 0], places[place, 1] = shared, start
        at, length = start + own, shared + own
    return length


@numba.njit(types.void(_U8, _PLACES, types.int64, types.uint8[::1], types.int64, types.int64), nogil=True, cache=True)
def _copy_walked(  # noqa: PLR0917 -- Numba wants positions
    blob: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    place: int,
    texts: npt.NDArray[np.uint8],
    target: int,
    length: int,
) -> None:
    """Write the first ``length`` bytes of the text at ``place`` of its block to ``texts``, from ``target`` on."""
    missing = length
    # Each text has the bytes after those it shares; what is still missing then stands in one before it.
    while missing > 0:
        shared, start = places[place, 0], places[place, 1]
        for position in range(shared, missing):
            texts[target + position] = blob[start + position - shared]
        missing, place = min(missing, shared), place - 1


@numba.njit(types.int64(_U8, _U32, types.int64, types.uint8[::1], _PLACES), nogil=True, cache=True)
def copy_text(
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    row: int,
    text: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
) -> int:
    """Write the first bytes of a row's text, as many as ``text`` holds; the length of the whole one.

    ``places`` (int64[BLOCK, 2]) is room to work in.
    """
    length = _walked(blob, blocks, row, places)
    _copy_walked(blob, places, row % BLOCK, text, 0, min(length, len(text)))
    return int(length)


@numba.njit(types.uint8[::1](_U8, _U32, types.int64), nogil=True, cache=True)
def text_at(blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32], row: int) -> npt.NDArray[np.uint8]:
    """The text of a row."""
    places = np.empty((BLOCK, 2), np.int64)
    text = np.empty(_walked(blob, blocks, row, places), np.uint8)
    _copy_walked(blob, places, row % BLOCK, text, 0, len(text))
    return text


@numba.njit(
    types.Tuple((types.uint8[::1], types.int64))(types.uint8[::1], types.int64, _U8, _U32, types.int64, _PLACES),
    nogil=True,
    cache=True,
)
def append_text(  # noqa: PLR0917 -- Numba wants positions
    texts: npt.NDArray[np.uint8],
    start: int,
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    row: int,
    places: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.uint8], int]:
    """Write the text of a row to ``texts`` from ``start`` on; these or a larger copy of them, and where it ends.

    ``places`` is room, int64[BLOCK, 2].
    """
    length = _walked(blob, blocks, row, places)
    if start + length > len(texts):
        larger = np.empty(2 * (start + length), np.uint8)
        larger[:start] = texts[:start]
        texts = larger
    _copy_walked(blob, places, row % BLOCK, texts, start, length)
    return texts, start + length


@numba.njit(types.Tuple((types.uint8[::1], types.int64[::1]))(_U8, _U32, _I64), nogil=True, cache=True)
def texts_at(
    blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The texts of some rows one after the other, and their bounds (int64[m + 1])."""
    bounds = np.zeros(len(rows) + 1, np.int64)
    places = np.empty((BLOCK, 2), np.int64)
    texts = np.empty(64 * len(rows), np.uint8)
    for asked in range(len(rows)):
        texts, bounds[asked + 1] = append_text(texts, bounds[asked], blob, blocks, rows[asked], places)
    return texts[: bounds[-1]], bounds


@numba.njit(types.Tuple((types.uint8[::1], types.int64[::1]))(_U8, types.int64), nogil=True, cache=True)
def all_texts(blob: npt.NDArray[np.uint8], rows: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """As ``texts_at``, of all rows in order."""
    bounds = np.zeros(rows + 1, np.int64)
    at = 0
    for row in range(rows):
        shared, own, start = entry_at(blob, at)
        bounds[row + 1], at = bounds[row] + shared + own, start + own
    texts = np.empty(bounds[-1], np.uint8)
    at = 0
    for row in range(rows):
        shared, own, start = entry_at(blob, at)
        first = bounds[row]
        for position in range(shared):
            texts[first + position] = texts[bounds[row - 1] + position]
        for position in range(own):
            texts[first + shared + position] = blob[start + position]
        at = start + own
    return texts, bounds


@numba.njit(types.boolean(_U8, types.int64, _U8), nogil=True, cache=True)
def _begins_above(blob: npt.NDArray[np.uint8], at: int, text: npt.NDArray[np.uint8]) -> bool:
    """Whether the first text of a block, which is packed at ``at``, is above ``text``."""
    _, length, start = entry_at(blob, at)
    for position in range(min(length, len(text))):
        if blob[start + position] != text[position]:
            return bool(blob[start + position] > text[position])
    return bool(length > len(text))


@numba.njit(types.int64(_U8, _U32, types.int64, _U8), nogil=True, cache=True)
def located(blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32], rows: int, text: npt.NDArray[np.uint8]) -> int:
    """Row of a text in a sorted table of ``rows`` texts; ``-1 - n`` where it is not in and n texts are below it."""
    low, high = 0, len(blocks)
    # Invariant: blocks below `low` do not begin above `text`, those from `high` on do.
    while low < high:
        middle = (low + high) >> 1
        if _begins_above(blob, np.int64(blocks[middle]), text):
            high = middle
        else:
            low = middle + 1
    if low == 0:
        return -1
    row, at, matched = (low - 1) * BLOCK, np.int64(blocks[low - 1]), 0
    last = min(row + BLOCK, rows)
    # Invariant: the texts before `row` are below `text`, which has its first `matched` bytes in common with the last of
    # them. So a text that shares more with that one is below, too, and one that shares less is above.
    while row < last:
        shared, own, start = entry_at(blob, at)
        if shared < matched:
            break
        if shared == matched:
            same, limit = 0, min(own, len(text) - matched)
            while same < limit and blob[start + same] == text[matched + same]:
                same += 1
            matched += same
            if same == own and matched == len(text):
                return row
            if same < own and (matched == len(text) or blob[start + same] > text[matched]):
                break
        row, at = row + 1, start + own
    return -1 - row


@numba.njit(types.int64[::1](_U8, _U32, types.int64, _U8, _I64), nogil=True, cache=True)
def find_rows(
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    rows: int,
    texts: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """int64[m]: row of each text ``texts[bounds[i]:bounds[i + 1]]`` in a sorted table, -1 where it is not in."""
    found = np.empty(len(bounds) - 1, np.int64)
    for asked in range(len(found)):
        found[asked] = max(-1, located(blob, blocks, rows, texts[bounds[asked] : bounds[asked + 1]]))
    return found
