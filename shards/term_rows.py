"""TermRows: the dictionary rows of the terms that queries ask for, remembered in front of a segment's dictionary.

Queries share most of their words, and one look-up among 160,000 terms takes as long as 1,000 postings.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.text_table import TextTable
from shards.utf8 import encoded

REMEMBERED: Final = 4_096
"""Terms, held or not; then all are forgotten, so that what was asked once does not stay for ever."""


class TermRows:
    """Rows of a dictionary by text. It never changes what a look-up finds."""

    __slots__ = ("_known", "_terms")

    def __init__(self, terms: TextTable) -> None:
        self._terms = terms
        self._known: dict[str, int] = {}

    def of(self, terms: Sequence[str]) -> npt.NDArray[np.int64]:
        """int64[m]: row of each term in the dictionary, -1 where it is not in."""
        known = self._known
        try:
            return np.fromiter(map(known.__getitem__, terms), np.int64, len(terms))
        except KeyError:
            return self._looked_up(terms)

    def _looked_up(self, terms: Sequence[str]) -> npt.NDArray[np.int64]:
        known = self._known
        rows = [known.get(term) for term in terms]
        missing = [term for term, row in zip(terms, rows, strict=True) if row is None]
        found = dict(zip(missing, self._terms.find_all([encoded(term) for term in missing]).tolist(), strict=True))
        if len(known) + len(found) > REMEMBERED:
            known.clear()
        known.update(found)
        return np.array([found[term] if row is None else row for term, row in zip(terms, rows, strict=True)], np.int64)
