"""Postings: for each term of a segment, which records hold it and its two static channels.

Immutable once assembled. Statistics, weights and masks are not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shards.text_table import TextTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Postings:
    """All postings of one segment, grouped by term, ascending by ordinal inside a group.

    The name channel is 0 in seven of eight postings, so those that have one stand in a list of their own.

    Attributes:
        terms: every term that has a posting.
        offsets: uint32[t + 1], where each term's group starts.
        ordinals: uint16[p], rank of the record's id in the segment.
        impacts: uint8[p], 1..255.
        name_offsets: uint32[t + 1], where each term's group of names starts; many are empty.
        name_ordinals: uint16[q].
        names: uint8[q], 1..255.
    """

    terms: TextTable
    offsets: npt.NDArray[np.uint32]
    ordinals: npt.NDArray[np.uint16]
    impacts: npt.NDArray[np.uint8]
    name_offsets: npt.NDArray[np.uint32]
    name_ordinals: npt.NDArray[np.uint16]
    names: npt.NDArray[np.uint8]

    def packed(self, ranks: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """uint64[p], the loose form that ``assembled`` takes, with term row r numbered ``ranks[r]``."""
        rows = np.repeat(np.arange(len(self.terms), dtype=np.uint64), np.diff(self.offsets))
        name_rows = np.repeat(np.arange(len(self.terms), dtype=np.uint64), np.diff(self.name_offsets))
        names = np.zeros(len(self.ordinals), np.uint8)
        # Both lists are in the order of (term, ordinal), and every name has its impact.
        keys = rows << np.uint64(16) | self.ordinals
        names[np.searchsorted(keys, name_rows << np.uint64(16) | self.name_ordinals)] = self.names
        return packed(ranks[rows], self.ordinals, self.impacts, names)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        arrays = (self.offsets, self.ordinals, self.impacts, self.name_offsets, self.name_ordinals, self.names)
        return self.terms.nbytes + sum(array.nbytes for array in arrays)


def packed(
    terms: npt.NDArray[np.uint64],
    ordinals: npt.NDArray[np.uint16],
    impacts: npt.NDArray[np.uint8],
    names: npt.NDArray[np.uint8],
) -> npt.NDArray[np.uint64]:
    """uint64[p]: one number per posting whose order is that of (term, ordinal)."""
    result = terms << np.uint64(32)
    result |= ordinals.astype(np.uint64) << np.uint64(16)
    result |= impacts.astype(np.uint64) << np.uint64(8)
    result |= names
    return result


def assembled(texts: Sequence[bytes], postings: npt.NDArray[np.uint64]) -> Postings:
    """Group loose postings by term.

    Args:
        texts: distinct encoded terms, ascending; those without a posting are left out.
        postings: uint64[p] as ``packed``, terms numbered by their place in ``texts``, a (term, ordinal) pair once;
            sorted in place.
    """
    postings.sort()
    counts = np.bincount((postings >> np.uint64(32)).astype(np.int64), minlength=len(texts))
    used = np.flatnonzero(counts)
    ordinals = (postings >> np.uint64(16)).astype(np.uint16)
    names = postings.astype(np.uint8)
    named = np.flatnonzero(names)
    name_counts = np.bincount((postings[named] >> np.uint64(32)).astype(np.int64), minlength=len(texts))
    return Postings(
        terms=TextTable.of([texts[term] for term in used.tolist()]),
        offsets=_offsets(counts[used]),
        ordinals=ordinals,
        impacts=(postings >> np.uint64(8)).astype(np.uint8),
        name_offsets=_offsets(name_counts[used]),
        name_ordinals=ordinals[named],
        names=names[named],
    )


def _offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    offsets = np.zeros(len(counts) + 1, np.uint32)
    np.cumsum(counts, out=offsets[1:])
    return offsets
