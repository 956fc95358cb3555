"""NearTerms: the terms of one dictionary that an unknown word may have meant, each with its likeness.

Likeness depends on the word and the term alone, so that neither other terms nor hidden records can change it, and the
best of several dictionaries are the best of all. Who may see a term is not known here.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.near import dictionary_kernel as kernel
from shards.near.edit_kernel import LONGEST
from shards.near.sound_kernel import LEAST_KEY
from shards.near.words import word_of
from shards.text_table import TextTable
from shards.utf8 import encoded

SAME_WORD: Final = 256

LIKENESS_LOST: Final = 38
"""Likeness that a cost of 1 takes from a word of one letter: an edit (10) in five letters takes 76."""

_SPOKEN_LIKENESS: Final = 236
"""Likeness of a word spelt in another script as its tables say."""

_SPELLING_SHARE: Final = 12
_SPELLING_LIMITS_FROM_LATIN: Final = (0, 0, 2, 5, 9)
_SPELLING_LIMITS_TO_LATIN: Final = (0, 0, 0, 3, 6)
"""Most that a spelling may cost, by the consonants it rests on; Latin words are many, and few are Persian."""


class NearTerms:
    """A dictionary made ready for comparison: 12 bytes per term that looks like a word, beside the texts."""

    def __init__(self, terms: TextTable) -> None:
        self._terms = terms
        self._texts = (terms.blob, terms.blocks)
        signatures, counts, keys = kernel.described(terms.blob, len(terms))
        pages = -(-len(terms) >> kernel.PAGE_BITS)
        by_length = _ordered(counts, 1)
        self._signatures, self._rows = signatures[by_length], by_length.astype(np.uint16)
        self._starts = _length_starts(by_length, counts, pages)
        by_key = _ordered(keys, LEAST_KEY)
        self._fences, self._spoken_rows = keys[by_key[:: kernel.FENCE]], by_key.astype(np.uint16)
        self._spoken_starts = np.searchsorted(by_key >> kernel.PAGE_BITS, np.arange(pages + 1)).astype(np.int64)

    def written(self, term: str) -> list[tuple[int, int]]:
        """(row, likeness in 1..256) of every term that is spelt much like one that ``looks_like_a_word``.

        Likest first, then in the order of rows, which is that of texts. The term itself has likeness 256.
        """
        word = word_of(term)
        letters = len(word.letters)
        compared = (self._signatures, self._rows, self._starts)
        similar = kernel.similar(*self._texts, *compared, word.letters, word.endings, word.limits, word.alike)
        longer = self._terms.beginning_with(encoded(term))
        continuing = kernel.continuing(*self._texts, longer.start, longer.stop, letters)
        return _likest(
            (row, max(1, SAME_WORD - LIKENESS_LOST * cost // letters))
            for row, cost in chain(similar.tolist(), continuing.tolist())
        )

    def spoken(self, term: str) -> list[tuple[int, int]]:
        """As ``written``, of every term that says the word in another script."""
        word = word_of(term)
        limits = _SPELLING_LIMITS_FROM_LATIN if word.latin else _SPELLING_LIMITS_TO_LATIN
        found: list[tuple[int, int]] = []
        for way in word.spoken:
            rows = (self._fences, self._spoken_rows, self._spoken_starts)
            sounding = kernel.sounding(*self._texts, *rows, way.key, way.sounds, word.unwritten, word.latin)
            limit = limits[min(way.consonants, len(limits) - 1)] - way.cost
            found += [
                (row, _SPOKEN_LIKENESS - _SPELLING_SHARE * (cost + way.cost))
                for row, cost in sounding.tolist()
                if cost <= limit
            ]
        return _likest(found)

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without the texts."""
        kept = (self._signatures, self._rows, self._starts, self._fences, self._spoken_rows, self._spoken_starts)
        return sum(array.nbytes for array in kept)


def _ordered(values: npt.NDArray[np.uint8] | npt.NDArray[np.uint32], least: int) -> npt.NDArray[np.int64]:
    """int64[k]: rows whose value is at least ``least``, by page, then by value, then by row."""
    rows = np.flatnonzero(values >= least)
    return rows[np.lexsort((values[rows], rows >> kernel.PAGE_BITS))]


def _length_starts(rows: npt.NDArray[np.int64], counts: npt.NDArray[np.uint8], pages: int) -> npt.NDArray[np.int64]:
    """int64[pages, LONGEST + 2]: where in ``rows`` those of each page begin that have so many letters or more."""
    places = (rows >> kernel.PAGE_BITS) * (LONGEST + 2) + counts[rows]
    return np.searchsorted(places, np.arange(pages * (LONGEST + 2))).astype(np.int64).reshape(pages, LONGEST + 2)


def _likest(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each row once, with its best likeness, likest first."""
    likeness: dict[int, int] = {}
    for row, near in found:
        likeness[row] = max(near, likeness.get(row, 0))
    return sorted(likeness.items(), key=lambda item: (-item[1], item[0]))
