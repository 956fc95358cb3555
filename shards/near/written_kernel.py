"""Terms that are spelt much like a word: found by the letters they are made of, then compared letter by letter.

It knows code points and integers only. Compiled when this module is imported; releases the GIL.

A term with other letters than the word needs an edit for each that it lacks or has too many, and one with another first
letter pays for that besides, so that most groups of terms need not be looked at and most terms of the others not be
read. What is left is compared exactly.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import I64, U8, U16, U32, U64
from shards.near.dictionary_kernel import (
    GROUPS,
    INITIALS,
    LONGEST_BYTES,
    PAGE_BITS,
    SHORTEST,
    letters_at,
    letters_of,
    rooms,
    signature,
)
from shards.near.edit_kernel import ALIKE, DOUBLED, FAR, FIRST_LETTER, INSERTED, LONGEST, TABLE, edit_cost
from shards.text_kernel import BLOCK, entry_at, located

COMPLETED: Final = 8
"""Cost of a word that breaks off, and 1 more for each letter that it lacks."""

MOST_COMPLETED: Final = 6
"""Letters that a word may lack at its end."""

_STRETCH: Final = 64
"""Terms whose signatures are compared at once."""

_PAIRS = types.int64[:, ::1]


@numba.njit(types.Tuple((_PAIRS, types.int64))(_PAIRS, types.int64, types.int64, types.int64), nogil=True, cache=True)
def appended(found: npt.NDArray[np.int64], size: int, row: int, cost: int) -> tuple[npt.NDArray[np.int64], int]:
    """``found`` (int64[room, 2]) or a larger copy with one more pair behind ``size``, and how many it then has."""
    if size == len(found):
        larger = np.empty((2 * size, 2), np.int64)
        larger[:size] = found
        found = larger
    found[size, 0], found[size, 1] = row, cost
    return found, size + 1


@numba.njit(types.uint64(types.uint64, types.int64), nogil=True, cache=True, inline="always")
def _without(flags: np.uint64, count: int) -> np.uint64:
    """The flags but for the ``count`` lowest ones, of 0, 1 or 2: said so that many are done at once."""
    one = flags & (flags - np.uint64(1))
    two = one & (one - np.uint64(1))
    return flags if count <= 0 else (one if count == 1 else two)


@numba.njit(
    types.boolean(U64, types.int64, types.int64, types.uint64, types.int64, types.int64), nogil=True, cache=True
)
def _any_plausible(  # noqa: PLR0917 -- Numba wants positions
    signatures: npt.NDArray[np.uint64], start: int, end: int, wanted: np.uint64, missing: int, extra: int
) -> bool:
    """Whether any of the signatures ``start:end`` lacks ``missing`` letters at most and has ``extra`` more at most."""
    found = np.uint64(0)
    for place in range(start, end):
        theirs = signatures[place]
        found |= np.uint64((_without(wanted & ~theirs, missing) | _without(theirs & ~wanted, extra)) == np.uint64(0))
    return bool(found != np.uint64(0))


@numba.njit(types.int64[::1](U16, types.int64, TABLE), nogil=True, cache=True)
def _edits_by_initial(
    word: npt.NDArray[np.uint16], allowance: int, alike: npt.NDArray[np.uint8]
) -> npt.NDArray[np.int64]:
    """int64[INITIALS]: edits that ``allowance`` buys at most where a term has this first letter; -1 for not one.

    A term that begins with the first or second letter of the word may cost nothing for that; all others need an edit
    of the first letter, and pay ``FIRST_LETTER`` besides.
    """
    edits = np.empty(INITIALS, np.int64)
    for initial in range(INITIALS):
        if initial in {word[0] % INITIALS, word[1] % INITIALS}:
            edits[initial] = allowance // DOUBLED
            continue
        first = INSERTED
        for letter in range(initial, 256, INITIALS):
            if alike[word[0] & 255, letter]:
                first = ALIKE
        rest = allowance - FIRST_LETTER - first
        edits[initial] = 1 + rest // DOUBLED if rest >= 0 else -1
    return edits


@numba.njit(
    types.Tuple((_PAIRS, types.int64))(
        _PAIRS, types.int64, U64, U16, types.int64, types.int64, types.int64, types.uint64, types.int64, types.int64
    ),
    nogil=True,
    cache=True,
)
def _plausible_between(  # noqa: PLR0917 -- Numba wants positions
    found: npt.NDArray[np.int64],
    size: int,
    signatures: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint16],
    start: int,
    end: int,
    page: int,
    wanted: np.uint64,
    missing: int,
    extra: int,
) -> tuple[npt.NDArray[np.int64], int]:
    """Append the rows among ``start:end`` of a page that ``_any_plausible`` looks for."""
    for first in range(start, end, _STRETCH):
        last = min(end, first + _STRETCH)
        if _any_plausible(signatures, first, last, wanted, missing, extra):
            for place in range(first, last):
                theirs = signatures[place]
                if (_without(wanted & ~theirs, missing) | _without(theirs & ~wanted, extra)) == np.uint64(0):
                    found, size = appended(found, size, page << PAGE_BITS | np.int64(rows[place]), 0)
    return found, size


@numba.njit(
    types.Tuple((_PAIRS, types.int64))(_PAIRS, types.int64, U64, U16, U32, U16, I64, I64, TABLE),
    nogil=True,
    cache=True,
)
def _plausible(  # noqa: PLR0917 -- Numba wants positions
    found: npt.NDArray[np.int64],
    size: int,
    signatures: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.uint32],
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    alike: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.int64], int]:
    """Append rows whose letters allow few enough edits, with repeats; arguments as for ``similar``."""
    for cut in range(SHORTEST, len(word) + 1):
        if endings[cut] > limits[cut]:
            continue
        wanted = signature(word, cut)
        edits = _edits_by_initial(word, limits[cut] - endings[cut], alike)
        initial = 0
        while initial < INITIALS:
            # Groups of neighbouring first letters stand together.
            first, most = initial, edits[initial]
            while initial < INITIALS and edits[initial] == most:
                initial += 1
            if most < 0:
                continue
            for count in range(max(SHORTEST, cut - most), min(LONGEST, cut + most) + 1):
                # An edit takes a letter away, or adds one, or both.
                missing, extra = most - max(0, count - cut), most - max(0, cut - count)
                for page in range(len(starts) // GROUPS):
                    group = page * GROUPS + count * INITIALS
                    start, end = np.int64(starts[group + first]), np.int64(starts[group + initial])
                    found, size = _plausible_between(
                        found, size, signatures, rows, start, end, page, wanted, missing, extra
                    )
    return found, size


@numba.njit(
    types.Tuple((_PAIRS, types.int64))(_PAIRS, types.int64, U8, U32, U64, U16, U32, U16, I64, I64, TABLE),
    nogil=True,
    cache=True,
)
def similar(  # noqa: PLR0917 -- Numba wants positions
    found: npt.NDArray[np.int64],
    size: int,
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    signatures: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.uint32],
    word: npt.NDArray[np.uint16],
    endings: npt.NDArray[np.int64],
    limits: npt.NDArray[np.int64],
    alike: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.int64], int]:
    """Append every row that few edits make of a word, and their cost, as ``appended`` does; a row may come twice.

    ``blob`` and ``blocks`` are a ``TextTable``, ``signatures`` uint64[k] those of its compared ``rows`` (uint16[k],
    places in their pages), by page, then by group; group g of page p stands in ``starts[p * GROUPS + g]`` up to the
    next start (uint32[pages * GROUPS + 1]).

    ``word`` has ``SHORTEST`` to ``LONGEST`` letters. ``endings`` (int64[letters + 1]) is the cost of ``word[n:]`` as an
    ending that a term need not have, 0 for the whole word, and ``limits`` the most that this ending and the edits
    before it may cost, below ``endings`` where it is none, and too little for three edits where it is one. ``alike``
    (uint8[256, 256]) is not 0 where two letters, modulo 256, are easily taken for each other.
    """
    first = size
    found, size = _plausible(found, size, signatures, rows, starts, word, endings, limits, alike)
    text, places, letters = rooms()
    lines = np.empty((3, LONGEST + 1), np.int64)
    kept = first
    for place in range(first, size):
        count = letters_at(blob, blocks, found[place, 0], text, places, letters)
        cost = edit_cost(word, endings, limits, letters, count, alike, lines)
        if cost < FAR:
            found[kept, 0], found[kept, 1] = found[place, 0], cost
            kept += 1
    return found, kept


@numba.njit(
    types.Tuple((_PAIRS, types.int64))(_PAIRS, types.int64, U8, U32, types.int64, U8, types.int64),
    nogil=True,
    cache=True,
)
def continuing(  # noqa: PLR0917 -- Numba wants positions
    found: npt.NDArray[np.int64],
    size: int,
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    rows: int,
    word: npt.NDArray[np.uint8],
    length: int,
) -> tuple[npt.NDArray[np.int64], int]:
    """Append every row that adds few letters to a word of ``length`` letters, and their cost, as ``appended`` does.

    ``blob`` and ``blocks`` are a ``TextTable`` of ``rows`` texts; ``word`` is the word in UTF-8.
    """
    first = located(blob, blocks, rows, word)
    first = first if first >= 0 else -1 - first
    if first == rows:
        return found, size
    text, letters = np.empty(LONGEST_BYTES, np.uint8), np.empty(LONGEST, np.uint16)
    row = first // BLOCK * BLOCK
    at = np.int64(blocks[row // BLOCK])
    while row < rows:
        # Text by text, each over the one before it.
        shared, own, start = entry_at(blob, at)
        for position in range(min(own, len(text) - shared)):
            text[shared + position] = blob[start + position]
        at = start + own
        if row >= first:
            if shared + own < len(word) or (text[: len(word)] != word).any():
                break
            count = letters_of(text, shared + own, letters)
            if length < count <= length + MOST_COMPLETED:
                found, size = appended(found, size, row, COMPLETED + count - length)
        row += 1
    return found, size
