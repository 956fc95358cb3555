"""Letters that are easily taken for each other: neighbours on a keyboard, and letters that sound the same.

Tables per script; what a mistake costs is the business of ``shards.near.edit_kernel``.
"""

from itertools import pairwise, permutations
from typing import Final

import numpy as np
import numpy.typing as npt

_KEYBOARDS: Final = {
    "latin": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "arabic": ("ضصثقفغعهخحجچ", "شسیبلاتنمکگ", "ظطزرذدپو"),
    "cyrillic": ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
}
_SOUNDS: Final = {
    "latin": ("aeiouy", "ck", "sz", "cs"),
    "arabic": ("سصث", "زذضظ", "تط", "هح", "قغ", "اع"),
    "cyrillic": ("ая", "эе", "ой", "ао", "еи", "ий", "уы", "шщ", "ьъ"),
}


def _beside(rows: tuple[str, ...]) -> set[tuple[str, str]]:
    """Pairs of keys that touch; each row of a keyboard stands half a key to the right of the one above it."""
    pairs = {pair for row in rows for pair in pairwise(row)}
    for upper, lower in pairwise(rows):
        for place, letter in enumerate(lower):
            pairs |= {(letter, above) for above in upper[place : place + 2]}
    return pairs


def _table(script: str) -> npt.NDArray[np.uint8]:
    table = np.zeros((256, 256), np.uint8)
    pairs = _beside(_KEYBOARDS[script]).union(*(permutations(letters, 2) for letters in _SOUNDS[script]))
    for first, second in pairs:
        # Modulo 256 the letters of one script stay apart.
        table[ord(first) & 255, ord(second) & 255] = table[ord(second) & 255, ord(first) & 255] = 1
    table.flags.writeable = False
    return table


_LATIN: Final = _table("latin")
_ARABIC: Final = _table("arabic")
_CYRILLIC: Final = _table("cyrillic")
_NONE: Final = np.zeros((256, 256), np.uint8)


def alike_letters(letter: str) -> npt.NDArray[np.uint8]:
    """uint8[256, 256] by code points modulo 256: 1 for a pair of letters of this letter's script that are alike."""
    if "a" <= letter <= "z":
        return _LATIN
    if "\u0400" <= letter <= "\u04ff":
        return _CYRILLIC
    return _ARABIC if "\u0600" <= letter <= "\u06ff" else _NONE
