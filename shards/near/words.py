"""An unknown word made ready for comparison: its letters, how far it may be from a term, and its sounds.

Pure functions of the word; no dictionary is known here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.near.alike import alike_letters
from shards.near.dictionary_kernel import FIRST_UNKNOWN
from shards.near.edit_kernel import LONGEST
from shards.near.endings import EXACT, NO_ENDING, ending_costs
from shards.near.sound_kernel import CLASS_BITS, LEAST_KEY, X_IS_KH, X_IS_KS, is_latin, key_of, sounds_of
from shards.near.sounds import CLASS_OF, SOUND, UNWRITTEN_ELSEWHERE, UNWRITTEN_IN_ARABIC

SHORTEST: Final = 4
"""Letters of a word that is compared: of fewer, one edit makes many others."""

_LONG: Final = 8
"""Letters from which a word may be mistyped twice."""

_LIMIT: Final = 10
_LIMIT_OF_LONG: Final = 17
_LIMIT_OF_SHORT_ABJAD: Final = 7
"""Arabic script leaves vowels out, so that four letters are as many as six or seven are elsewhere."""

_SHORTEST_EDITED: Final = 6
"""Letters before an ending that may be mistyped besides."""

_ENDING_SOUNDS: Final = frozenset(SOUND[name] for name in ("t", "n", "m", "sh"))
_ENDING_COST: Final = 2

_KEPT: Final = 1 << 13
"""Distinct words that are remembered, some 8 MB."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spoken:
    """One way to hear a word: its sounds (uint8[n]), the key of its consonants, and the cost of hearing it so."""

    sounds: npt.NDArray[np.uint8]
    key: int
    cost: int

    @property
    def consonants(self) -> int:
        """How many of them the key holds."""
        return -(-self.key.bit_length() // CLASS_BITS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Word:
    """An unknown word.

    Attributes:
        letters: uint16[n] code points.
        endings: int64[n + 1] of ``ending_costs``.
        limits: int64[n + 1], most that an ending and the edits of what stands before it may cost.
        alike: uint8[256, 256] of its script.
        latin: whether its first letter is Latin.
        unwritten: uint8[sounds], what its script leaves out.
        spoken: how it may sound; empty for scripts whose sounds are not known.
    """

    letters: npt.NDArray[np.uint16]
    endings: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]
    alike: npt.NDArray[np.uint8]
    latin: bool
    unwritten: npt.NDArray[np.uint8]
    spoken: tuple[Spoken, ...]


def looks_like_a_word(term: str) -> bool:
    """Whether an index term may be a misspelt word: letters of a script that parts its words, and enough of them."""
    return SHORTEST <= len(term) <= LONGEST and term.isalpha() and max(term) < chr(FIRST_UNKNOWN)


@lru_cache(maxsize=_KEPT)
def word_of(term: str) -> Word:
    """The word that a term which ``looks_like_a_word`` is."""
    letters = np.array([ord(letter) for letter in term], np.uint16)
    endings = ending_costs(term)
    latin = bool(is_latin(letters))
    return Word(
        letters=letters,
        endings=np.array(endings, np.int64),
        limits=np.array(_limits(term, endings), np.int64),
        alike=alike_letters(term[0]),
        latin=latin,
        unwritten=UNWRITTEN_IN_ARABIC if _is_arabic(term) else UNWRITTEN_ELSEWHERE,
        spoken=tuple(_as_latin(letters) if latin else _as_other(letters)),
    )


def _limits(term: str, endings: Sequence[int]) -> list[int]:
    """-1 where there is no ending; nothing beside the ending itself where little stands before it."""
    limits = [-1] * len(term) + [_limit(term)]
    for cut in range(len(term)):
        if endings[cut] != NO_ENDING:
            edited = _limit(term[:cut]) + EXACT if cut >= _SHORTEST_EDITED else 0
            limits[cut] = max(endings[cut], edited)
    return limits


def _limit(word: str) -> int:
    if len(word) >= _LONG:
        return _LIMIT_OF_LONG
    return _LIMIT_OF_SHORT_ABJAD if len(word) == SHORTEST and _is_arabic(word) else _LIMIT


def _is_arabic(word: str) -> bool:
    return "\u0600" <= word[0] <= "\u06ff"


def _as_other(letters: npt.NDArray[np.uint16]) -> Iterator[Spoken]:
    sounds = sounds_of(letters, X_IS_KH)
    if (key := int(key_of(sounds))) >= LEAST_KEY << CLASS_BITS:
        yield Spoken(sounds=sounds, key=key, cost=0)


def _as_latin(letters: npt.NDArray[np.uint16]) -> Iterator[Spoken]:
    """As it stands, and without a last consonant that stemmers of other scripts may have taken for an ending."""
    for x in (X_IS_KH, X_IS_KS) if ord("x") in letters else (X_IS_KH,):
        sounds = sounds_of(letters, x)
        if (key := int(key_of(sounds))) >= LEAST_KEY:
            yield Spoken(sounds=sounds, key=key, cost=0)
        consonants = np.flatnonzero(CLASS_OF[sounds])
        if len(consonants) and sounds[consonants[-1]] in _ENDING_SOUNDS:
            shorter = sounds[: consonants[-1]]
            if (key := int(key_of(shorter))) >= LEAST_KEY:
                yield Spoken(sounds=shorter, key=key, cost=_ENDING_COST)
