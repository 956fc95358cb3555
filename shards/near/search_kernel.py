"""The near terms of a word in several dictionaries, and which of them authorized records hold: one call each.

It knows addresses and integers only (``shards.addresses``). Compiled when this module is imported; releases the GIL,
returns new arrays.

A near term is one number, which sorts as near terms do: those spelt like the word before those of another script, then
by what they lack of ``SAME_WORD``, then by row.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.addresses import i64_at, lists_at, u8_at, u16_at, u32_at, u64_at
from shards.bits import Bits, contains, in_both
from shards.dense_terms import place_of
from shards.lists import I64, LISTS, U8, U16, U64, Lists
from shards.near.edit_kernel import TABLE
from shards.near.spoken_kernel import sounding
from shards.near.written_kernel import continuing, similar
from shards.sight_kernel import BITS, SEGMENT_AT
from shards.text_kernel import BLOCK, append_text

SAME_WORD: Final = 256

LIKENESS_LOST: Final = 38
"""Likeness that a cost of 1 takes from a word of one letter: an edit (10) in five letters takes 76."""

SPOKEN_LIKENESS: Final = 236
"""Likeness of a word spelt in another script as its tables say."""

SPELLING_SHARE: Final = 12

ROW_BITS: Final = 32
SPOKEN_BIT: Final = 48
ROW: Final = (1 << ROW_BITS) - 1
_LACK_BITS: Final = SPOKEN_BIT - ROW_BITS
LACK: Final = (1 << _LACK_BITS) - 1

ROWS, TEXTS, SIGNATURES, PLACES, STARTS, FENCES, SPOKEN, SPOKEN_STARTS, WIDTH = 0, 1, 5, 7, 9, 11, 13, 15, 17
"""Columns of a dictionary: how many rows, then address and length of its arrays (``TEXTS`` are two)."""

_TABLE = types.Array(types.int64, 2, "C", readonly=True)
_WAYS = types.Array(types.int64, 2, "C", readonly=True)
_PAIRS = types.int64[:, ::1]


@numba.njit(types.int64[::1](_PAIRS, types.int64, types.int64, types.int64), nogil=True, cache=True)
def _nearest(found: npt.NDArray[np.int64], size: int, silent: int, spoken: int) -> npt.NDArray[np.int64]:
    """The numbers of the first ``size`` pairs of row and likeness (``found``) above ``silent``, sorted, a row once."""
    numbers = np.empty(size, np.int64)
    kept = 0
    for place in range(size):
        if found[place, 1] > silent:
            numbers[kept] = found[place, 0] << _LACK_BITS | (SAME_WORD - found[place, 1])
            kept += 1
    numbers = numbers[:kept]
    numbers.sort()
    once, before = 0, -1
    for place in range(kept):
        # Of the numbers of one row the first is the likest.
        row, lack = numbers[place] >> _LACK_BITS, numbers[place] & LACK
        if row != before:
            numbers[once] = spoken << SPOKEN_BIT | lack << ROW_BITS | row
            once += 1
        before = row
    numbers = numbers[:once]
    numbers.sort()
    return numbers


@numba.njit(
    types.Tuple((types.int64[::1], types.int64[::1]))(
        _TABLE, U16, I64, I64, TABLE, U8, _WAYS, U8, U8, types.boolean, types.int64, types.int64
    ),
    nogil=True,
    cache=True,
)
def search(  # noqa: PLR0917 -- Numba wants positions
    dictionaries: npt.NDArray[np.int64],
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    alike: npt.NDArray[np.uint8],
    text: npt.NDArray[np.uint8],
    ways: npt.NDArray[np.int64],
    said: npt.NDArray[np.uint8],
    unwritten: npt.NDArray[np.uint8],
    latin: bool,  # noqa: FBT001 -- as above
    silent_written: int,
    silent_spoken: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Numbers of the near terms of a word in each dictionary, and where those of each begin (int64[dictionaries + 1]).

    Args:
        dictionaries: int64[dictionaries, WIDTH].
        word: as ``similar`` takes it.
        endings: likewise.
        limits: likewise.
        alike: likewise.
        text: the word as ``continuing`` takes it.
        ways: int64[ways, 4], how the word may sound: key, cost, most that a spelling may cost, end of its sounds.
        said: the sounds of all ways, one after the other.
        unwritten: what its script leaves out.
        latin: whether its script is the Latin one.
        silent_written: likeness up to which a term that is spelt like the word does not count.
        silent_spoken: likewise, of one of another script.
    """
    bounds = np.zeros(len(dictionaries) + 1, np.int64)
    numbers = np.empty(64, np.int64)
    found = np.empty((256, 2), np.int64)
    for place in range(len(dictionaries)):
        row = dictionaries[place]
        blob, blocks = u8_at(row, TEXTS), u32_at(row, TEXTS + 2)
        found, size = similar(
            found, 0, blob, blocks, u64_at(row, SIGNATURES), u16_at(row, PLACES), u32_at(row, STARTS), word, endings,
            limits, alike,
        )  # fmt: skip
        found, size = continuing(found, size, blob, blocks, row[ROWS], text, len(word))
        for pair in range(size):
            found[pair, 1] = max(1, SAME_WORD - LIKENESS_LOST * found[pair, 1] // len(word))
        written = _nearest(found, size, silent_written, 0)
        size, start = 0, 0
        for way in range(len(ways)):
            before = size
            found, size = sounding(
                found, size, blob, blocks, u32_at(row, FENCES), u16_at(row, SPOKEN), i64_at(row, SPOKEN_STARTS),
                np.uint32(ways[way, 0]), said[start : ways[way, 3]], unwritten, latin,
            )  # fmt: skip
            start = ways[way, 3]
            for pair in range(before, size):
                cost = found[pair, 1]
                near = SPOKEN_LIKENESS - SPELLING_SHARE * (cost + ways[way, 1])
                # Below every limit: 0 is no likeness.
                found[pair, 1] = near if cost <= ways[way, 2] else 0
        spoken = _nearest(found, size, silent_spoken, 1)
        start, end = bounds[place], bounds[place] + len(written) + len(spoken)
        if end > len(numbers):
            larger = np.empty(2 * end, np.int64)
            larger[:start] = numbers[:start]
            numbers = larger
        numbers[start : start + len(written)] = written
        numbers[start + len(written) : end] = spoken
        bounds[place + 1] = end
    return numbers[: bounds[-1]], bounds


@numba.njit(types.int64(LISTS, U64, types.int64), nogil=True, cache=True)
def held(lists: Lists, allowed: Bits, row: int) -> int:
    """How many allowed records hold the term of a dictionary row."""
    start, end = lists.offsets[row], lists.offsets[row + 1]
    if start == end:
        return int(in_both(lists.bits[place_of(lists.dense, row)], allowed))
    count = 0
    for posting in range(start, end):
        count += contains(allowed, lists.ordinals[posting])
    return count


@numba.njit(
    types.Tuple((_PAIRS, types.uint8[::1], types.int64[::1]))(_TABLE, _TABLE, I64, I64, types.int64, types.int64),
    nogil=True,
    cache=True,
)
def authorized(  # noqa: PLR0917 -- Numba wants positions
    sight: npt.NDArray[np.int64],
    dictionaries: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
    parts: int,
    most: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Of each list of near terms the first ``most`` of each kind that an authorized record holds.

    Args:
        sight: the table of a ``Sight``.
        dictionaries: int64[parts, WIDTH], of the same parts.
        numbers: near terms, list after list.
        bounds: int64[lists + 1], where each list begins.
        parts: how many; list i is of part ``i % parts``.
        most: at least 1.

    Returns:
        int64[found, 4]: list, 1 for another script, likeness, and how many authorized records hold it.
        their texts, one after the other.
        int64[found + 1], where each text begins.
    """
    room_for = 2 * most * (len(bounds) - 1)
    found, ends = np.empty((room_for, 4), np.int64), np.zeros(room_for + 1, np.int64)
    texts, room = np.empty(256, np.uint8), np.empty((BLOCK, 2), np.int64)
    size = 0
    for place in range(len(bounds) - 1):
        part = place % parts
        lists, allowed = lists_at(sight[part], SEGMENT_AT), u64_at(sight[part], BITS)
        blob, blocks = u8_at(dictionaries[part], TEXTS), u32_at(dictionaries[part], TEXTS + 2)
        taken = np.zeros(2, np.int64)
        for at in range(bounds[place], bounds[place + 1]):
            number = numbers[at]
            kind, row = number >> SPOKEN_BIT, number & ROW
            if taken[kind] == most:
                continue
            count = held(lists, allowed, row)
            if count:
                found[size, 0], found[size, 1], found[size, 3] = place, kind, count
                found[size, 2] = SAME_WORD - (number >> ROW_BITS & LACK)
                texts, ends[size + 1] = append_text(texts, ends[size], blob, blocks, row, room)
                taken[kind] += 1
                size += 1
    return found[:size].copy(), texts[: ends[size]], ends[: size + 1].copy()
