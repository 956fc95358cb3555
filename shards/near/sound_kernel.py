"""The loops that compare words across scripts: letters to sounds, a key of the consonants, the cost of a spelling.

It knows code points and the tables of ``shards.near.sounds`` only. Compiled on import; releases the GIL.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.near import sounds
from shards.near.sounds import IMPOSSIBLE, LAST_WRITTEN, SOUND

CLASS_BITS: Final = 4
CLASSES_KEPT: Final = 8
"""A key holds the first eight consonants, four bits each."""

LEAST_KEY: Final = 1 << CLASS_BITS
"""Keys below hold one consonant or none, which says too little."""

_LATIN, _PAIRS, _OTHER, _CLASS_OF = sounds.LATIN, sounds.LATIN_PAIRS, sounds.OTHER, sounds.CLASS_OF
_WRITTEN_AS, _UNSAID = sounds.WRITTEN_AS, sounds.UNSAID
_LAST = sounds.UNWRITTEN_LAST
_S, _K, _H, _KH = SOUND["s"], SOUND["k"], SOUND["h"], SOUND["kh"]
_ALEF, _FIRST_ALEF, _VAV, _MUTE_VAV, _LAST_HE = (
    SOUND[name] for name in ("alef", "first alef", "vav", "mute vav", "last he")
)
X_IS_KH: Final = 0
X_IS_KS: Final = 1

ENDING_COST: Final = 2
"""Cost of hearing a word without its last consonant."""

_MAY_END: Final = np.zeros(len(sounds.NAMES), np.bool_)
_MAY_END[[SOUND[name] for name in ("t", "n", "m", "sh")]] = True

_A, _C, _E, _I, _X, _Y, _Z = (ord(letter) for letter in "aceixyz")


def _read(dtype: object) -> object:
    return types.Array(dtype, 1, "C", readonly=True)


_U8, _U16 = _read(types.uint8), _read(types.uint16)


@numba.njit(types.boolean(_U16), nogil=True, cache=True)
def is_latin(letters: npt.NDArray[np.uint16]) -> bool:
    """Whether the first letter is one of a to z."""
    return bool(_A <= letters[0] <= _Z)


@numba.njit(types.uint8[::1](_U16, types.int64), nogil=True, cache=True)
def _latin_sounds(letters: npt.NDArray[np.uint16], x: int) -> npt.NDArray[np.uint8]:
    found = np.empty(2 * len(letters), np.uint8)
    size, position = 0, 0
    while position < len(letters):
        code = np.int64(letters[position])
        if not _A <= code <= _Z:
            return found[:0]
        after = np.int64(letters[position + 1]) if position + 1 < len(letters) else 0
        pair = _PAIRS[code - _A, after - _A] if _A <= after <= _Z else np.uint8(0)
        # A doubled letter is one sound, or one long vowel.
        position += 2 if pair or code == after else 1
        if code == _X and x == X_IS_KS:
            found[size] = _K
            size += 1
            found[size] = _S
        elif code == _C and not pair and (after in (_E, _I, _Y)):
            found[size] = _S
        else:
            found[size] = pair or _LATIN[code - _A]
        size += 1
    return found[:size]


@numba.njit(types.uint8[::1](_U16), nogil=True, cache=True)
def _other_sounds(letters: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint8]:
    found = np.empty(2 * len(letters), np.uint8)
    size = 0
    for position in range(len(letters)):
        code = letters[position]
        if code >= LAST_WRITTEN or _OTHER[code, 0] == 0:
            return found[:0]
        found[size] = _OTHER[code, 0]
        if found[size] == _ALEF and size == 0:
            found[size] = _FIRST_ALEF
        elif found[size] == _VAV and size and found[size - 1] == _KH:
            found[size] = _MUTE_VAV
        elif found[size] == _H and position == len(letters) - 1:
            found[size] = _LAST_HE
        size += 1
        if _OTHER[code, 1]:
            found[size] = _OTHER[code, 1]
            size += 1
    return found[:size]


@numba.njit(types.uint8[::1](_U16, types.int64), nogil=True, cache=True)
def sounds_of(letters: npt.NDArray[np.uint16], x: int) -> npt.NDArray[np.uint8]:
    """The sounds of a word in their order; empty where a letter has none.

    ``x`` is ``X_IS_KS`` for words of languages written in Latin letters, ``X_IS_KH`` for Persian written so.
    """
    said: npt.NDArray[np.uint8] = _latin_sounds(letters, x) if is_latin(letters) else _other_sounds(letters)
    return said


@numba.njit(types.uint32(_U8), nogil=True, cache=True)
def key_of(said: npt.NDArray[np.uint8]) -> np.uint32:
    """The classes of the first consonants, a last h left out; equal for the spellings of one word in any script."""
    last = len(said)
    while last and _CLASS_OF[said[last - 1]] == 0:
        last -= 1
    if last and said[last - 1] == _H:
        last -= 1
    key, kept = np.uint32(0), 0
    for position in range(last):
        number = _CLASS_OF[said[position]]
        if number and kept < CLASSES_KEPT:
            key = np.uint32(key << np.uint32(CLASS_BITS)) | np.uint32(number)
            kept += 1
    return key


@numba.njit(types.int64(_U8, _U8, _U8), nogil=True, cache=True)
def spelling_cost(said: npt.NDArray[np.uint8], written: npt.NDArray[np.uint8], unwritten: npt.NDArray[np.uint8]) -> int:
    """Least cost of writing the sounds of a Latin word as those of another script, ``IMPOSSIBLE`` where none is less.

    ``unwritten`` is uint8[sounds], what the other script leaves out (``sounds.UNWRITTEN_IN_ARABIC``).
    """
    above = np.zeros(len(written) + 1, np.int64)
    current = np.zeros(len(written) + 1, np.int64)
    for column in range(1, len(written) + 1):
        above[column] = above[column - 1] + _UNSAID[written[column - 1]]
    for line in range(1, len(said) + 1):
        sound = said[line - 1]
        left_out = np.int64(_LAST[sound] if line == len(said) else unwritten[sound])
        current[0] = above[0] + left_out
        for column in range(1, len(written) + 1):
            letter = written[column - 1]
            current[column] = min(
                above[column - 1] + _WRITTEN_AS[sound, letter],
                above[column] + left_out,
                current[column - 1] + _UNSAID[letter],
            )
        above, current = current, above
    return int(min(above[len(written)], np.int64(IMPOSSIBLE)))


@numba.njit(types.Tuple((types.int64[:, ::1], types.uint8[::1]))(_U16), nogil=True, cache=True)
def ways_of(letters: npt.NDArray[np.uint16]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """How a word may sound: int64[ways, 4] of key, cost, consonants, and where its sounds end among those of all ways.

    Of a Latin word that is as it stands, with either sound of an x, and each of these without a last consonant that
    stemmers of other scripts may have taken for an ending. A way with too few consonants is left out.
    """
    latin = is_latin(letters)
    ways, said = np.empty((4, 4), np.int64), np.empty(8 * len(letters), np.uint8)
    size, end = 0, 0
    for x in range(X_IS_KH, X_IS_KS + 1):
        if x == X_IS_KS and not (latin and (letters == _X).any()):
            continue
        whole = sounds_of(letters, x)
        for cost in (0, ENDING_COST):
            last = len(whole)
            if cost:
                while last and _CLASS_OF[whole[last - 1]] == 0:
                    last -= 1
                if not latin or last == 0 or not _MAY_END[whole[last - 1]]:
                    continue
                last -= 1
            key = np.int64(key_of(whole[:last]))
            if key < (LEAST_KEY if latin else LEAST_KEY << CLASS_BITS):
                continue
            said[end : end + last] = whole[:last]
            consonants = 0
            while key >> CLASS_BITS * consonants:
                consonants += 1
            end += last
            ways[size, 0], ways[size, 1], ways[size, 2], ways[size, 3] = key, cost, consonants, end
            size += 1
    return ways[:size].copy(), said[:end].copy()
