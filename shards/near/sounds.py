"""Sounds: what letters of Latin, Arabic and Cyrillic script stand for, so that a word meets itself in another script.

Tables only, from the usual ways in which Persian and Russian are written in Latin letters ("moshtari", "schet") and
loanwords in theirs («فاکتور», «сервер»); the loops over them are in ``shards.near.sound_kernel``.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

NAMES: Final = (
    "none", "b", "p", "t", "d", "f", "s", "z", "k", "g", "gh", "kh", "h", "ch", "sh", "j", "zh", "l", "m", "n", "r",
    "v", "y", "a", "e", "i", "o", "u", "alef", "first alef", "ain", "vav", "mute vav", "ye", "last he", "sign",
)  # fmt: skip
"""Every sound, and every letter that may stand for several; its place is its number, ``none`` is 0."""

LAST_WRITTEN: Final = 0x0700
"""Code points of the letters of all three scripts lie below."""

SOUND: Final = {name: number for number, name in enumerate(NAMES)}

_CLASSES: Final = ("b", "p", "t", "d", "f", "s z", "k g gh", "kh h", "ch", "sh", "j zh", "l", "m", "n", "r")
"""Consonants that writers take for each other share a class; vowels and the half vowels v and y are in none."""

_LATIN: Final = "a b k d e f g h i j k l m n o p gh r s t u v v kh y z"
"""What the letters from a to z sound like by themselves."""

_PAIRS: Final = {
    "ch": "ch", "sh": "sh", "kh": "kh", "gh": "gh", "zh": "zh", "ph": "f", "th": "t", "ck": "k", "oo": "u", "ou": "u",
    "ee": "i", "aa": "a",
}  # fmt: skip
_OTHER: Final = {
    "ا": "alef", "ب": "b", "پ": "p", "ت": "t", "ث": "s", "ج": "j", "چ": "ch", "ح": "h", "خ": "kh", "د": "d", "ذ": "z",
    "ر": "r", "ز": "z", "ژ": "zh", "س": "s", "ش": "sh", "ص": "s", "ض": "z", "ط": "t", "ظ": "z", "ع": "ain", "غ": "gh",
    "ف": "f", "ق": "gh", "ک": "k", "گ": "g", "ل": "l", "م": "m", "ن": "n", "و": "vav", "ه": "h", "ی": "ye",
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "zh", "з": "z", "и": "i", "й": "y", "к": "k",
    "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh",
    "ц": "t s", "ч": "ch", "ш": "sh", "щ": "sh ch", "ъ": "sign", "ы": "i", "ь": "sign", "э": "e", "ю": "y u",
    "я": "y a",
}  # fmt: skip

IMPOSSIBLE: Final = 100
"""Cost of what does not happen; above every limit."""

_WRITTEN_AS: Final = """
s z 3, z s 3, k g 4, g k 4, k gh 2, gh k 2, g gh 1, gh g 1, kh h 2, h kh 2, j zh 1, zh j 1
a alef 0, o alef 3, u alef 3, e alef 6, i alef 6
a first_alef 0, e first_alef 0, i first_alef 0, o first_alef 0, u first_alef 0
a ain 0, e ain 0, i ain 1, o ain 0, u ain 1
v vav 0, u vav 0, o vav 0, a vav 7, v mute_vav 0, u mute_vav 0, o mute_vav 0
i ye 0, y ye 0, e ye 2, a ye 5
e last_he 0, a last_he 0, h last_he 0
a o 2, o a 2, e i 3, i e 3, i y 0, y i 0, e y 2, o u 3, u o 3, a e 4, e a 4
"""
"""Cost of a sound (first) that stands as a letter of another name (second); the same name costs nothing."""

_UNSAID: Final = (
    "alef 8, first_alef 3, ain 1, vav 8, mute_vav 0, ye 6, last_he 0, y 1, sign 0, a 8, e 8, i 8, o 8, u 8, v 8"
)
"""Cost of a written letter that the Latin word leaves out; consonants never are."""

_UNWRITTEN_IN_ARABIC: Final = "a 0, e 0, o 0, i 6, u 6, y 3, v 6, h 2"
"""Cost of a Latin letter that Arabic script leaves out; the consonants of both always agree (``CLASS_OF``)."""

_UNWRITTEN_ELSEWHERE: Final = "a 8, e 8, o 8, i 8, u 8, y 2, v 8, h 2"
"""The same for a script that writes its vowels."""

_UNWRITTEN_LAST: Final = "a 5, e 1, o 4, i 1, u 5, y 1, v 6, h 1"
"""The same at the end of a word, in any script: stems lose their last vowels, and Persian joins words by an -e."""


def _costs(table: str) -> npt.NDArray[np.uint8]:
    costs = np.full(len(NAMES), IMPOSSIBLE, np.uint8)
    for entry in table.split(","):
        name, cost = entry.split()
        costs[SOUND[name.replace("_", " ")]] = int(cost)
    return _frozen(costs)


def _frozen(array: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    array.flags.writeable = False
    return array


def _latin_pairs() -> npt.NDArray[np.uint8]:
    pairs = np.zeros((26, 26), np.uint8)
    for pair, name in _PAIRS.items():
        pairs[ord(pair[0]) - 97, ord(pair[1]) - 97] = SOUND[name]
    return _frozen(pairs)


def _other_letters() -> npt.NDArray[np.uint8]:
    letters = np.zeros((LAST_WRITTEN, 2), np.uint8)
    for letter, names in _OTHER.items():
        for place, name in enumerate(names.split()):
            letters[ord(letter), place] = SOUND[name]
    return _frozen(letters)


def _classes() -> npt.NDArray[np.uint8]:
    classes = np.zeros(len(NAMES), np.uint8)
    for number, names in enumerate(_CLASSES, start=1):
        classes[[SOUND[name] for name in names.split()]] = number
    return _frozen(classes)


def _written_as() -> npt.NDArray[np.uint8]:
    costs = np.full((len(NAMES), len(NAMES)), IMPOSSIBLE, np.uint8)
    np.fill_diagonal(costs, 0)
    for entry in _WRITTEN_AS.replace("\n", ",").split(","):
        if entry.strip():
            said, written, cost = entry.split()
            costs[SOUND[said], SOUND[written.replace("_", " ")]] = int(cost)
    return _frozen(costs)


LATIN: Final = _frozen(np.array([SOUND[name] for name in _LATIN.split()], np.uint8))
"""uint8[26], the sound of each Latin letter."""

LATIN_PAIRS: Final = _latin_pairs()
"""uint8[26, 26], the one sound of two Latin letters, 0 for none."""

OTHER: Final = _other_letters()
"""uint8[LAST_WRITTEN, 2], up to two sounds of each letter of another script, 0 for none."""

CLASS_OF: Final = _classes()
"""uint8[sounds], the class of a consonant from 1 on, 0 for anything else."""

WRITTEN_AS: Final = _written_as()
UNSAID: Final = _costs(_UNSAID)
UNWRITTEN_IN_ARABIC: Final = _costs(_UNWRITTEN_IN_ARABIC)
UNWRITTEN_ELSEWHERE: Final = _costs(_UNWRITTEN_ELSEWHERE)
UNWRITTEN_LAST: Final = _costs(_UNWRITTEN_LAST)
