"""An unknown word made ready for comparison: its letters, how far it may be from a term, and its sounds.

Pure functions of the word; no dictionary is known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.near.alike import alike_letters
from shards.near.dictionary_kernel import FIRST_UNKNOWN
from shards.near.edit_kernel import LONGEST
from shards.near.endings import EXACT, NO_ENDING, ending_costs
from shards.near.sound_kernel import ways_of
from shards.near.sounds import UNWRITTEN_ELSEWHERE, UNWRITTEN_IN_ARABIC
from shards.utf8 import encoded

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

_SPELLING_LIMITS_FROM_LATIN: Final = (0, 0, 2, 5, 9)
_SPELLING_LIMITS_TO_LATIN: Final = (0, 0, 0, 3, 6)
"""Most that a spelling may cost, by the consonants it rests on; Latin words are many, and few are Persian."""

_KEPT: Final = 1 << 8
"""Words that are remembered, while one dictionary after the other is asked for them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Word:
    """An unknown word.

    Attributes:
        letters: uint16[n] code points.
        endings: int64[n + 1] of ``ending_costs``.
        limits: int64[n + 1], most that an ending and the edits of what stands before it may cost.
        alike: uint8[256, 256] of its script.
        latin: whether its first letter is Latin.
        text: uint8[bytes], the word in UTF-8.
        unwritten: uint8[sounds], what its script leaves out.
        ways: int64[ways, 4], how it may sound: key, cost, most that a spelling may cost, and where its sounds end; none
            for scripts whose sounds are not known.
        sounds: uint8[n], the sounds of all ways, one after the other.
    """

    letters: npt.NDArray[np.uint16]
    endings: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]
    alike: npt.NDArray[np.uint8]
    latin: bool
    text: npt.NDArray[np.uint8]
    unwritten: npt.NDArray[np.uint8]
    ways: npt.NDArray[np.int64]
    sounds: npt.NDArray[np.uint8]


def looks_like_a_word(term: str) -> bool:
    """Whether an index term may be a misspelt word: letters of a script that parts its words, and enough of them."""
    letters = SHORTEST <= len(term) <= LONGEST and term.isalpha()
    return letters and (term.isascii() or max(term) < chr(FIRST_UNKNOWN))


@lru_cache(maxsize=_KEPT)
def word_of(term: str) -> Word:
    """The word that a term which ``looks_like_a_word`` is."""
    letters = np.frombuffer(term.encode("utf-16-le"), np.dtype("<u2")).astype(np.uint16)
    endings = ending_costs(term)
    costs = np.array((endings, _limits(term, endings)), np.int64)
    latin = "a" <= term[0] <= "z"
    ways, said = ways_of(letters)
    # What a spelling may cost depends on the consonants it rests on.
    limits = _SPELLING_LIMITS_FROM_LATIN if latin else _SPELLING_LIMITS_TO_LATIN
    ways[:, 2] = [limits[min(consonants, len(limits) - 1)] - cost for _, cost, consonants, _ in ways.tolist()]
    return Word(
        letters=letters,
        endings=costs[0],
        limits=costs[1],
        alike=alike_letters(term[0]),
        latin=latin,
        text=np.frombuffer(encoded(term), np.uint8),
        unwritten=UNWRITTEN_IN_ARABIC if _is_arabic(term) else UNWRITTEN_ELSEWHERE,
        ways=ways,
        sounds=said,
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
