"""TermRows: the dictionary rows of the terms that queries ask for, remembered in front of a segment's dictionary.

Queries share most of their words, and one look-up among 160,000 terms takes as long as 1,000 postings.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.text_table import TextTable, joined
from shards.utf8 import encoded

REMEMBERED: Final = 8_192
"""Terms, held or not, after which those are forgotten that were not asked for since there were last so many: at most
twice as many are remembered at a time, some 2 MB of a dictionary that is asked a lot."""

Joined = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]
_NONE: Final = joined(())


class TermRows:
    """Rows of a dictionary by text. It never changes what a look-up finds."""

    __slots__ = ("_before", "_known", "_terms")

    def __init__(self, terms: TextTable) -> None:
        self._terms = terms
        self._known: dict[str, int] = {}
        self._before: dict[str, int] = {}

    def of(self, terms: Sequence[str]) -> npt.NDArray[np.int64]:
        """int64[m]: row of each term in the dictionary, -1 where it is not in."""
        found: npt.NDArray[np.int64] = rows_of((self,), terms)[0]
        return found

    def remembered(self, terms: Sequence[str]) -> list[int] | None:
        """The row of each term, None where one of them is not remembered or was not asked for lately."""
        try:
            return list(map(self._known.__getitem__, terms))
        except KeyError:
            return None

    def forgotten(self, terms: Sequence[str]) -> list[str]:
        """Those of the terms that are not remembered."""
        known, before = self._known, self._before
        return [term for term in terms if term not in known and term not in before]

    def looked_up(self, terms: Sequence[str], forgotten: Sequence[str], texts: Joined) -> list[int]:
        """The row of each term; ``texts`` are those of the forgotten ones."""
        found = dict(zip(forgotten, self._terms.find_joined(*texts).tolist(), strict=True)) if forgotten else {}
        known, before = self._known, self._before
        for term in terms:
            if term not in known:
                known[term] = found[term] if term in found else before[term]
        rows = list(map(known.__getitem__, terms))
        if len(known) > REMEMBERED:
            self._before, self._known = known, {}
        return rows


def rows_of(dictionaries: Sequence[TermRows], terms: Sequence[str]) -> npt.NDArray[np.int64]:
    """int64[dictionaries, terms]: row of each term in each dictionary, -1 where it is not in."""
    found = np.empty((len(dictionaries), len(terms)), np.int64)
    encoded_terms: list[str] = []
    texts = _NONE
    for place, dictionary in enumerate(dictionaries):
        rows = dictionary.remembered(terms)
        if rows is None:
            forgotten = dictionary.forgotten(terms)
            # Mostly the same ones in all dictionaries.
            if forgotten != encoded_terms:
                encoded_terms, texts = forgotten, joined(list(map(encoded, forgotten)))
            rows = dictionary.looked_up(terms, forgotten, texts)
        found[place] = rows
    return found
