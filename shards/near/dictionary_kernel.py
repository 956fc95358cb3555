"""The loop over all terms of a dictionary that says what each is made of, and how one of them is read again.

It knows code points and integers only. Compiled when this module is imported; releases the GIL, returns new arrays.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import U8, U16, U32
from shards.near.edit_kernel import LONGEST
from shards.near.sound_kernel import X_IS_KS, is_latin, key_of, sounds_of
from shards.text_kernel import BLOCK, copy_text, entry_at

SHORTEST: Final = 3
FIRST_UNKNOWN: Final = 0x0E00
"""Code points from here on belong to scripts that do not part their words; all letters compared lie below."""

PAGE_BITS: Final = 16
"""Rows of a page of 65,536 fit 16 bits; a row is its page's number, then its place in the page."""

INITIALS: Final = 32
"""First letters are told apart by their code points modulo this."""

GROUPS: Final = (LONGEST + 1) * INITIALS
"""A term's group is its number of letters and its first one, ``letters * INITIALS + initial``; 0 = not compared."""

LONGEST_BYTES: Final = 3 * LONGEST + 1
"""A text of as many bytes has more letters than are compared, or some that are not compared at all."""

_LETTER_A: Final = 0x61
_LETTER_Z: Final = 0x7A
_ONE_BYTE, _CONTINUATION, _THREE_BYTES = 0x80, 0xC0, 0xE0
"""First bytes of UTF-8 from here on are none of one byte, none inside a letter, none of two bytes."""


@numba.njit(types.int64(U8, types.int64, types.uint16[::1]), nogil=True, cache=True)
def letters_of(text: npt.NDArray[np.uint8], length: int, letters: npt.NDArray[np.uint16]) -> int:
    """Write the letters of ``text[:length]`` and return how many; 0 for a text that is not compared.

    Letters are a to z and what lies from U+00C0 up to ``FIRST_UNKNOWN``; terms are normalised, so that no capital, mark
    or foreign digit is among them.
    """
    if length >= LONGEST_BYTES:
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
    types.int64(U8, U32, types.int64, types.uint8[::1], types.int64[:, ::1], types.uint16[::1]),
    nogil=True,
    cache=True,
)
def letters_at(  # noqa: PLR0917 -- Numba wants positions
    blob: npt.NDArray[np.uint8],
    blocks: npt.NDArray[np.uint32],
    row: int,
    text: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    letters: npt.NDArray[np.uint16],
) -> int:
    """As ``letters_of``, of a row of a ``TextTable``; ``text``, ``places`` and ``letters`` are ``rooms``."""
    return int(letters_of(text, copy_text(blob, blocks, row, text, places), letters))


@numba.njit(types.Tuple((types.uint8[::1], types.int64[:, ::1], types.uint16[::1]))(), nogil=True, cache=True)
def rooms() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.uint16]]:
    """What ``letters_at`` works in: bytes of a text, places of a block, letters."""
    return np.empty(LONGEST_BYTES, np.uint8), np.empty((BLOCK, 2), np.int64), np.empty(LONGEST, np.uint16)


@numba.njit(types.uint64(U16, types.int64), nogil=True, cache=True)
def signature(letters: npt.NDArray[np.uint16], count: int) -> np.uint64:
    """Which letters occur (low half) and which occur again (high half), modulo 32.

    A letter more sets one bit at most, a letter less clears one at most.
    """
    found = np.uint64(0)
    for position in range(count):
        bit = np.uint64(1) << np.uint64(letters[position] & 31)
        found |= bit << np.uint64(32) if found & bit else bit
    return found


@numba.njit(
    types.Tuple((types.uint64[::1], types.uint16[::1], types.uint32[::1], types.boolean[::1]))(U8, types.int64),
    nogil=True,
    cache=True,
)
def described(
    blob: npt.NDArray[np.uint8], rows: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint16], npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
    """Signature, group (0 = not compared), sound key, and whether the first letter is Latin, of each row.

    ``blob`` is that of a ``TextTable`` of ``rows`` texts; the arrays are uint64[n], uint16[n], uint32[n] and bool[n].
    """
    signatures, groups = np.zeros(rows, np.uint64), np.zeros(rows, np.uint16)
    keys, latin = np.zeros(rows, np.uint32), np.zeros(rows, np.bool_)
    text, _, letters = rooms()
    at = 0
    for row in range(rows):
        # Text by text, each over the one before it.
        shared, own, start = entry_at(blob, at)
        for position in range(min(own, len(text) - shared)):
            text[shared + position] = blob[start + position]
        at = start + own
        count = letters_of(text, shared + own, letters)
        if count:
            groups[row] = count * INITIALS + letters[0] % INITIALS
            signatures[row] = signature(letters, count)
            keys[row] = key_of(sounds_of(letters[:count], X_IS_KS))
            latin[row] = is_latin(letters)
    return signatures, groups, keys, latin
