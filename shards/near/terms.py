"""NearTerms: the terms of one dictionary that an unknown word may have meant, each with its likeness.

Likeness depends on the word and the term alone, so that neither other terms nor hidden records can change it, and the
best of several dictionaries are the best of all. Who may see a term is not known here.
"""

from collections.abc import Sequence
from itertools import count
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.addresses import addresses_of
from shards.near import dictionary_kernel, search_kernel
from shards.near.sound_kernel import LEAST_KEY
from shards.near.spoken_kernel import FENCE
from shards.near.words import word_of
from shards.text_table import TextTable

SAME_WORD: Final = search_kernel.SAME_WORD
"""Likeness of the word itself."""


_UIDS: Final = count()


class NearTerms:
    """A dictionary made ready for comparison: 12 bytes per term that looks like a word, beside the texts.

    Attributes:
        uid: unique in this process.
        numbers: int64[WIDTH], the dictionary as ``search_kernel`` takes it; valid as long as this lives.
    """

    def __init__(self, terms: TextTable) -> None:
        signatures, groups, keys, latin = dictionary_kernel.described(terms.blob, len(terms))
        pages = -(-len(terms) >> dictionary_kernel.PAGE_BITS)
        by_group = np.flatnonzero(groups)
        page_groups = (by_group >> dictionary_kernel.PAGE_BITS) * dictionary_kernel.GROUPS + groups[by_group]
        order = np.argsort(page_groups, kind="stable")
        by_group, page_groups = by_group[order], page_groups[order]
        starts = np.searchsorted(page_groups, np.arange(pages * dictionary_kernel.GROUPS + 1)).astype(np.uint32)
        by_key = np.flatnonzero(keys >= LEAST_KEY)
        halves = (by_key >> dictionary_kernel.PAGE_BITS) * 2 + latin[by_key]
        order = np.lexsort((keys[by_key], halves))
        by_key, halves = by_key[order], halves[order]
        spoken_starts = np.searchsorted(halves, np.arange(2 * pages + 1)).astype(np.int64)
        self._kept: tuple[npt.NDArray[np.generic], ...] = (
            signatures[by_group], by_group.astype(np.uint16), starts,
            keys[by_key[::FENCE]], by_key.astype(np.uint16), spoken_starts,
        )  # fmt: skip
        self._terms = terms
        self.uid = next(_UIDS)
        self.numbers = np.array([len(terms), *addresses_of((terms.blob, terms.blocks, *self._kept))], np.int64)

    def written(self, term: str) -> list[tuple[int, int]]:
        """(row, likeness in 1..256) of every term that is spelt much like one that ``looks_like_a_word``.

        Likest first, then in the order of rows, which is that of texts. The term itself has likeness 256.
        """
        return self.both(term)[0]

    def spoken(self, term: str) -> list[tuple[int, int]]:
        """As ``written``, of every term that says the word in another script."""
        return self.both(term)[1]

    def both(self, term: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """``written`` and ``spoken`` by one search."""
        found: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for one in nearest((self,), term, 0, 0)[0].tolist():
            likeness = SAME_WORD - (one >> search_kernel.ROW_BITS & search_kernel.LACK)
            found[one >> search_kernel.SPOKEN_BIT].append((one & search_kernel.ROW, likeness))
        return found

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without the texts."""
        return sum(array.nbytes for array in self._kept)


def nearest(
    dictionaries: Sequence[NearTerms], term: str, silent_written: int, silent_spoken: int
) -> list[npt.NDArray[np.int64]]:
    """Of each dictionary the numbers (``search_kernel``) of the terms near one that ``looks_like_a_word``.

    Only those count whose likeness is above ``silent_written``, or above ``silent_spoken`` if they say it in another
    script.
    """
    word = word_of(term)
    numbers, bounds = search_kernel.search(
        np.array([one.numbers for one in dictionaries]), word.letters, word.endings, word.limits, word.alike, word.text,
        word.ways, word.sounds, word.unwritten, word.latin, silent_written, silent_spoken,
    )  # fmt: skip
    ends = bounds.tolist()
    return [numbers[ends[place] : ends[place + 1]] for place in range(len(dictionaries))]
