"""Segment: up to 65,536 records sorted by id, immutable.

Ordinals are ranks of ids, so ordinal order is id order. Which rows are still alive is the index's knowledge.
"""

from dataclasses import dataclass, field
from itertools import count
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.columns import Columns
from shards.documents import Documents
from shards.names import GROUPS, Names
from shards.near.terms import NearTerms
from shards.postings import Postings
from shards.sight_kernel import segment_numbers
from shards.text_table import TextTable
from shards.utf8 import encoded

SEGMENT_ROWS: Final = 65_536
"""Records a segment can hold: what a 16-bit ordinal can number."""

next_uid = count(1).__next__
"""Numbers segments and their live states in this process; caches are keyed by them."""


Versions = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32] | npt.NDArray[np.int64]


def narrowed(versions: npt.NDArray[np.int64]) -> Versions:
    """The same versions in as few bytes as all of them fit: one for records that changed less than 256 times."""
    least, most = (int(versions.min()), int(versions.max())) if len(versions) else (0, 0)
    if least < 0 or most > np.iinfo(np.uint32).max:
        return versions
    if most > np.iinfo(np.uint16).max:
        return versions.astype(np.uint32)
    return versions.astype(np.uint16) if most > np.iinfo(np.uint8).max else versions.astype(np.uint8)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """Everything a shard knows of its records, by ordinal.

    Attributes:
        uid: unique in this process.
        ids: ascending.
        versions: uint8[rows], or uint16, uint32 or int64[rows] where one needs it.
        near: the terms of the postings, made ready for words that are none of them; in no snapshot.
        addresses: int64[...], where the arrays are that a search reads (``shards.sight_kernel``).
    """

    uid: int
    ids: TextTable
    versions: Versions
    postings: Postings
    names: Names
    columns: Columns
    documents: Documents
    near: NearTerms = field(init=False)
    addresses: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        # Derived at once, in 20 ms for 140,000 terms, so that no search waits for it.
        object.__setattr__(self, "near", NearTerms(self.postings.terms))
        object.__setattr__(self, "addresses", self._addresses())

    def __len__(self) -> int:
        return len(self.ids)

    def ordinal_of(self, record_id: str) -> int:
        """Ordinal of an id, or -1."""
        return self.ids.find(encoded(record_id))

    def _addresses(self) -> npt.NDArray[np.int64]:
        names = (self.names.exact, *(self.names.groups[mention] for mention in GROUPS))
        ids = (self.ids.blob, self.ids.blocks)
        return segment_numbers(self.postings.lists, ids, self.versions, [table.hashes for table in names])

    @property
    def nbytes(self) -> int:
        """Memory of all but the documents, in bytes."""
        columns = sum(column.nbytes for column in self.columns.values())
        parts = (self.ids, self.versions, self.postings, self.names, self.near)
        return sum(part.nbytes for part in parts) + columns
