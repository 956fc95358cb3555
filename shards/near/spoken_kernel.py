"""Terms of another script that say a word: found by a key of its consonants, then compared sound by sound.

It knows code points and integers only. Compiled when this module is imported; releases the GIL.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import I64, U8, U16, U32
from shards.near import sounds
from shards.near.dictionary_kernel import PAGE_BITS, letters_at, rooms
from shards.near.sound_kernel import X_IS_KS, key_of, sounds_of, spelling_cost
from shards.near.written_kernel import appended

FENCE: Final = 8
"""Of this many sound keys one is stored; the others are computed where they are needed."""

_FIRST_ARABIC: Final = 0x0600
_VOWELS, _ALL_LETTERS = sounds.UNWRITTEN_IN_ARABIC, sounds.UNWRITTEN_ELSEWHERE
_PAIRS = types.int64[:, ::1]


@numba.njit(types.int64(U32, types.int64, types.int64, types.uint32), nogil=True, cache=True)
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
    types.Tuple((_PAIRS, types.int64))(
        _PAIRS, types.int64, U8, U32, U32, U16, I64, types.uint32, U8, U8, types.boolean
    ),
    nogil=True,
    cache=True,
)
def sounding(  # noqa: PLR0917 -- Numba wants positions
    found: npt.NDArray[np.int64],
    size: int,
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    fences: npt.NDArray[np.uint32],
    rows: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.int64],
    key: int,
    said: npt.NDArray[np.uint8],
    unwritten: npt.NDArray[np.uint8],
    latin: bool,  # noqa: FBT001 -- as above
) -> tuple[npt.NDArray[np.int64], int]:
    """Append rows of another script whose consonants are those of a word, and the cost of that spelling.

    ``rows`` (uint16[k], places in their pages) are those of a ``TextTable`` that have a key, by page, then those of
    other scripts before the Latin ones, then by key; the others of page p begin at ``starts[2 * p]``, its Latin ones at
    the next start (int64[2 * pages + 1]). ``fences`` (uint32) is every ``FENCE``th of these keys. ``key`` is that of
    the word, ``said`` its sounds, ``unwritten`` what its script leaves out, and ``latin`` says whether that is the
    Latin one.
    """
    text, places, letters = rooms()
    for page in range(len(starts) // 2):
        start = starts[2 * page + (0 if latin else 1)]
        end = starts[2 * page + (1 if latin else 2)]
        for place in range(_first_place(fences, start, end, key), end):
            row = page << PAGE_BITS | np.int64(rows[place])
            other = letters[: letters_at(blob, blocks, row, text, places, letters)]
            heard = sounds_of(other, X_IS_KS)
            own_key = key_of(heard)
            if own_key > key:
                break
            if own_key < key:
                continue
            if latin:
                cost = spelling_cost(said, heard, _VOWELS if other[0] >= _FIRST_ARABIC else _ALL_LETTERS)
            else:
                cost = spelling_cost(heard, said, unwritten)
            found, size = appended(found, size, row, cost)
    return found, size
