"""The loops over all terms of a dictionary: what they are made of, which are near a word, which sound like it.

They know code points and integers only. Compiled when this module is imported; release the GIL, return new arrays.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import Bits, contains, in_both
from shards.dense_terms import place_of
from shards.near import sounds
from shards.near.edit_kernel import DOUBLED, FAR, I64, LONGEST, TABLE, U16, edit_cost
from shards.near.sound_kernel import X_IS_KS, is_latin, key_of, sounds_of, spelling_cost
from shards.text_kernel import BLOCK, copy_text, entry_at

SHORTEST: Final = 3
FIRST_UNKNOWN: Final = 0x0E00
"""Code points from here on belong to scripts that do not part their words; all letters compared lie below."""

COMPLETED: Final = 8
"""Cost of a word that breaks off, and 1 more for each letter that it lacks."""

MOST_COMPLETED: Final = 6
"""Letters that a word may lack at its end."""

PAGE_BITS: Final = 16
"""Rows of a page of 65,536 fit 16 bits; a row is its page's number, then its place in the page."""

FENCE: Final = 8
"""Of this many sound keys one is stored; the others are computed where they are needed."""

_LONGEST_BYTES: Final = 3 * LONGEST + 1
"""A text of as many bytes has more letters than are compared, or some that are not compared at all."""

_FIRST_ARABIC: Final = 0x0600
_VOWELS, _ALL_LETTERS = sounds.UNWRITTEN_IN_ARABIC, sounds.UNWRITTEN_ELSEWHERE
_LETTER_A: Final = 0x61
_LETTER_Z: Final = 0x7A
_ONE_BYTE, _CONTINUATION, _THREE_BYTES = 0x80, 0xC0, 0xE0
"""First bytes of UTF-8 from here on are none of one byte, none inside a letter, none of two bytes."""


def _read(dtype: object) -> object:
    """A one-dimensional contiguous array that may be read-only."""
    return types.Array(dtype, 1, "C", readonly=True)


_U8, _U32, _U64 = map(_read, (types.uint8, types.uint32, types.uint64))
_U64_2: Final = types.Array(types.uint64, 2, "C", readonly=True)
_STARTS: Final = types.Array(types.int64, 2, "C", readonly=True)


@numba.njit(types.int64(_U8, types.int64, types.uint16[::1]), nogil=True, cache=True)
def _letters(text: npt.NDArray[np.uint8], length: int, letters: npt.NDArray[np.uint16]) -> int:
    """Write the letters of ``text[:length]`` and return how many; 0 for a text that is not compared.

    Letters are a to z and what lies from U+00C0 up to ``FIRST_UNKNOWN``; terms are normalised, so that no capital, mark
    or foreign digit is among them.
    """
    if length >= _LONGEST_BYTES:
        return 0
    count, code, more = 0, 0, 0
    for position in range(length):
        byte = int(text[position])
        if byte < _ONE_BYTE:
            if byte < _LETTER_A or byte > _LETTER_Z:
                return 0
            code = byte
        elif byte < _CONTINUATION:
            code, more = code << 6 | (byte & 0x3F), more - 1
        elif byte < _THREE_BYTES:
            code, more = byte & 0x1F, 1
        elif byte == _THREE_BYTES:
            code, more = 0, 2
        else:
            return 0
        if more:
            continue
        if count == LONGEST or code >= FIRST_UNKNOWN:
            return 0
        letters[count] = code
        count += 1
    return count if count >= SHORTEST else 0


@numba.njit(
    types.int64(_U8, _U32, types.int64, types.uint8[::1], types.int64[:, ::1], types.uint16[::1]),
    nogil=True,
    cache=True,
)
def _letters_at(  # noqa: PLR0917 -- Numba wants positions
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    row: int,
    text: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    letters: npt.NDArray[np.uint16],
) -> int:
    """As ``_letters``, of a row of a ``TextTable``; ``text`` and ``places`` are of ``_rooms``."""
    return int(_letters(text, copy_text(blob, blocks, row, text, places), letters))


@numba.njit(types.Tuple((types.uint8[::1], types.int64[:, ::1], types.uint16[::1]))(), nogil=True, cache=True)
def _rooms() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.uint16]]:
    """What ``_letters_at`` works in: bytes of a text, places of a block, letters."""
    return np.empty(_LONGEST_BYTES, np.uint8), np.empty((BLOCK, 2), np.int64), np.empty(LONGEST, np.uint16)


@numba.njit(types.uint64(U16, types.int64), nogil=True, cache=True)
def _signature(letters: npt.NDArray[np.uint16], count: int) -> np.uint64:
    """Which letters occur (low half) and which occur again (high half), modulo 32; one edit flips two bits at most."""
    found = np.uint64(0)
    for position in range(count):
        bit = np.uint64(1) << np.uint64(letters[position] & 31)
        found |= bit << np.uint64(32) if found & bit else bit
    return found


@numba.njit(types.int64(types.uint64), nogil=True, cache=True)
def _bits(flags: np.uint64) -> int:
    """Number of bits set."""
    value = flags - ((flags >> np.uint64(1)) & np.uint64(0x5555555555555555))
    value = (value & np.uint64(0x3333333333333333)) + ((value >> np.uint64(2)) & np.uint64(0x3333333333333333))
    value = (value + (value >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((value * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(
    types.Tuple((types.uint64[::1], types.uint8[::1], types.uint32[::1]))(_U8, types.int64), nogil=True, cache=True
)
def described(
    blob: npt.NDArray[np.uint8], rows: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Signature (uint64[n]), number of letters (uint8[n], 0 = not compared), sound key (uint32[n]) of each row.

    ``blob`` is that of a ``TextTable`` of ``rows`` texts.
    """
    signatures, counts, keys = np.zeros(rows, np.uint64), np.zeros(rows, np.uint8), np.zeros(rows, np.uint32)
    text, _, letters = _rooms()
    at = 0
    for row in range(rows):
        # Text by text, each over the one before it.
        shared, own, start = entry_at(blob, at)
        for position in range(min(own, len(text) - shared)):
            text[shared + position] = blob[start + position]
        at = start + own
        count = _letters(text, shared + own, letters)
        if count:
            counts[row] = count
            signatures[row] = _signature(letters, count)
            keys[row] = key_of(sounds_of(letters[:count], X_IS_KS))
    return signatures, counts, keys


@numba.njit(types.int64[::1](_U64, U16, _STARTS, U16, I64, I64), nogil=True, cache=True)
def _plausible(  # noqa: PLR0917 -- Numba wants positions
    signatures: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.int64],
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Rows whose letters allow few enough edits, with repeats; arguments as for ``similar``."""
    found = np.empty(256, np.int64)
    size = 0
    for cut in range(SHORTEST, len(word) + 1):
        if endings[cut] > limits[cut]:
            continue
        edits = (limits[cut] - endings[cut]) // DOUBLED
        wanted = _signature(word, cut)
        for page in range(len(starts)):
            for place in range(starts[page, max(0, cut - edits)], starts[page, min(LONGEST, cut + edits) + 1]):
                # Each edit takes one letter away at most, and adds one at most.
                if _bits(wanted & ~signatures[place]) > edits or _bits(signatures[place] & ~wanted) > edits:
                    continue
                if size == len(found):
                    larger = np.empty(2 * size, np.int64)
                    larger[:size] = found
                    found = larger
                found[size] = page << PAGE_BITS | rows[place]
                size += 1
    return found[:size]


@numba.njit(types.int64[:, ::1](_U8, _U32, _U64, U16, _STARTS, U16, I64, I64, TABLE), nogil=True, cache=True)
def similar(  # noqa: PLR0917 -- Numba wants positions
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    signatures: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.int64],
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    alike: npt.NDArray[np.uint8],
) -> npt.NDArray[np.int64]:
    """int64[m, 2]: every row that few edits make of a word, and their cost; a row may come twice.

    ``blob`` and ``blocks`` are a ``TextTable``, ``signatures`` uint64[k] those of its compared ``rows`` (uint16[k],
    places in their pages), by page, then by number of letters; those of page p with n letters stand in
    ``starts[p, n]:starts[p, n + 1]`` (int64[pages, LONGEST + 2]).

    ``word`` has ``SHORTEST`` to ``LONGEST`` letters. ``endings`` (int64[letters + 1]) is the cost of ``word[n:]`` as an
    ending that a term need not have, 0 for the whole word, and ``limits`` the most that this ending and the edits
    before it may cost, below ``endings`` where it is none. ``alike`` (uint8[256, 256]) is not 0 where two letters,
    modulo 256, are easily taken for each other.
    """
    plausible = _plausible(signatures, rows, starts, word, endings, limits)
    text, places, letters = _rooms()
    lines = np.empty((3, LONGEST + 1), np.int64)
    found = np.empty((len(plausible), 2), np.int64)
    size = 0
    for row in plausible:
        count = _letters_at(blob, blocks, row, text, places, letters)
        cost = edit_cost(word, endings, limits, letters, count, alike, lines)
        if cost < FAR:
            found[size, 0], found[size, 1] = row, cost
            size += 1
    return found[:size].copy()


@numba.njit(types.int64[:, ::1](_U8, _U32, types.int64, types.int64, types.int64), nogil=True, cache=True)
def continuing(
    blob: npt.NDArray[np.uint8], blocks: npt.NDArray[np.uint32], first: int, last: int, length: int
) -> npt.NDArray[np.int64]:
    """int64[m, 2]: which of the rows ``first:last`` add few letters to a word of ``length`` letters, and their cost.

    All these rows begin with that word.
    """
    text, places, letters = _rooms()
    found = np.empty((last - first, 2), np.int64)
    size = 0
    for row in range(first, last):
        count = _letters_at(blob, blocks, row, text, places, letters)
        if length < count <= length + MOST_COMPLETED:
            found[size, 0], found[size, 1] = row, COMPLETED + count - length
            size += 1
    return found[:size].copy()


@numba.njit(types.int64(_U32, types.int64, types.int64, types.uint32), nogil=True, cache=True)
def _first_place(fences: npt.NDArray[np.uint32], start: int, end: int, key: int) -> int:
    """A place in ``start:end`` that is at most ``FENCE`` before the first one whose key is not below ``key``."""
    low, high = (start + FENCE - 1) // FENCE, (end + FENCE - 1) // FENCE
    # Invariant: fences below `low` are below `key`, those from `high` on are not.
    while low < high:
        middle = (low + high) >> 1
        if fences[middle] < key:
            low = middle + 1
        else:
            high = middle
    return max(start, (low - 1) * FENCE)


@numba.njit(
    types.int64[:, ::1](_U8, _U32, _U32, U16, I64, types.uint32, _U8, _U8, types.boolean), nogil=True, cache=True
)
def sounding(  # noqa: PLR0917 -- Numba wants positions
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    fences: npt.NDArray[np.uint32],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.int64],
    key: int,
    said: npt.NDArray[np.uint8],
    unwritten: npt.NDArray[np.uint8],
    latin: bool,  # noqa: FBT001 -- as above
) -> npt.NDArray[np.int64]:
    """int64[m, 2]: rows of another script whose consonants are those of a word, and the cost of that spelling.

    ``rows`` (uint16[k], places in their pages) are those of a ``TextTable`` that have a key, by page, then by key;
    those of page p stand in ``starts[p]:starts[p + 1]`` (int64[pages + 1]). ``fences`` (uint32) is every ``FENCE``th of
    these keys. ``key`` is that of the word, ``said`` its sounds, ``unwritten`` what its script leaves out, and
    ``latin`` says whether that is the Latin one.
    """
    found = np.empty((64, 2), np.int64)
    text, places, letters = _rooms()
    size = 0
    for page in range(len(starts) - 1):
        for place in range(_first_place(fences, starts[page], starts[page + 1], key), starts[page + 1]):
            row = page << PAGE_BITS | rows[place]
            other = letters[: _letters_at(blob, blocks, row, text, places, letters)]
            heard = sounds_of(other, X_IS_KS)
            own_key = key_of(heard)
            if own_key > key:
                break
            if own_key < key or is_latin(other) == latin:
                continue
            if latin:
                cost = spelling_cost(said, heard, _VOWELS if other[0] >= _FIRST_ARABIC else _ALL_LETTERS)
            else:
                cost = spelling_cost(heard, said, unwritten)
            if size == len(found):
                larger = np.empty((2 * size, 2), np.int64)
                larger[:size] = found
                found = larger
            found[size, 0], found[size, 1] = row, cost
            size += 1
    return found[:size].copy()


@numba.njit(types.int64[:, ::1](I64, _U32, U16, I64, _U64_2, _U64, types.int64), nogil=True, cache=True)
def held(  # noqa: PLR0917 -- Numba wants positions
    rows: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    allowed: Bits,
    most: int,
) -> npt.NDArray[np.int64]:
    """int64[m, 2]: places in ``rows`` of the first ``most`` terms that an allowed record holds, and how many hold each.

    ``rows`` is int64[k], rows of a dictionary, ``offsets`` and ``ordinals`` the lists of its postings, ``dense`` and
    ``bits`` their sets.
    """
    found = np.empty((min(most, len(rows)), 2), np.int64)
    size = 0
    for place in range(len(rows)):
        if size == len(found):
            break
        count = 0
        start, end = offsets[rows[place]], offsets[rows[place] + 1]
        for posting in range(start, end):
            count += contains(allowed, ordinals[posting])
        if start == end:
            count = in_both(bits[place_of(dense, rows[place])], allowed)
        if count:
            found[size, 0], found[size, 1] = place, count
            size += 1
    return found[:size].copy()
