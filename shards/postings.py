"""Postings: for each term of a segment, which records hold it and its two static channels.

Immutable once assembled. Statistics, weights and masks are not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from shards.bits import words_of
from shards.dense_terms import DenseTerms, are_dense, sets_of
from shards.lists import Lists
from shards.lookup_kernel import list_of
from shards.term_rows import TermRows
from shards.text_table import TextTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Postings:
    """All postings of one segment, grouped by term, ascending by ordinal inside a group.

    Terms that many records hold have sets of rows instead of ordinals. The name channel is 0 in seven of eight
    postings, so those that have one stand in a list of their own, that of a dense term, too.

    Attributes:
        terms: every term that has a posting.
        offsets: uint32[t + 1], where each term's group of ordinals starts; only that of a dense term is empty.
        ordinals: uint16[s], rank of the record's id in the segment.
        impacts: uint8[p], 1..255: first one for each ordinal, then those of the dense terms, one after the other.
        name_offsets: uint32[t + 1], where each term's group of names starts; many are empty.
        name_ordinals: uint16[q].
        names: uint8[q], 1..255.
        dense: the terms that many records hold.
        rows: ``terms`` by text, for queries.
        lists: these arrays as the kernels take them.
    """

    terms: TextTable
    offsets: npt.NDArray[np.uint32]
    ordinals: npt.NDArray[np.uint16]
    impacts: npt.NDArray[np.uint8]
    name_offsets: npt.NDArray[np.uint32]
    name_ordinals: npt.NDArray[np.uint16]
    names: npt.NDArray[np.uint8]
    dense: DenseTerms
    rows: TermRows = field(init=False)
    lists: Lists = field(init=False)

    def __post_init__(self) -> None:
        dense = self.dense
        lists = Lists(
            self.offsets, self.ordinals, self.impacts, self.name_offsets, self.name_ordinals, self.names,
            dense.rows, dense.bits, dense.ranks, dense.starts, dense.most,
        )  # fmt: skip
        object.__setattr__(self, "rows", TermRows(self.terms))
        object.__setattr__(self, "lists", lists.read_only())

    def packed(self, ranks: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """uint64[p], the loose form that ``assembled`` takes, with term row r numbered ``ranks[r]``; in no order."""
        terms, names = np.arange(len(self.terms), dtype=np.uint64), np.zeros(len(self.impacts), np.uint8)
        ordinals = self.all_ordinals()
        in_lists = np.repeat(terms, np.diff(self.offsets))
        holders = np.append(in_lists, np.repeat(terms[self.dense.rows], np.diff(self.dense.starts)))
        # Ordinals and sets are in the order of (term, ordinal) each, and every name has its impact.
        keys = holders << np.uint64(16) | ordinals
        named = np.repeat(terms, np.diff(self.name_offsets)) << np.uint64(16) | self.name_ordinals
        in_sets = np.repeat(np.diff(self.offsets) == 0, np.diff(self.name_offsets))
        first = len(self.ordinals)
        names[np.searchsorted(keys[:first], named[~in_sets])] = self.names[~in_sets]
        names[np.searchsorted(keys[first:], named[in_sets]) + first] = self.names[in_sets]
        return packed(ranks[holders], ordinals, self.impacts, names)

    def ordinals_of(self, row: int) -> npt.NDArray[np.uint16]:
        """uint16[m]: the records that hold the term of a dictionary row, dense or not, ascending."""
        dense = self.dense
        ordinals: npt.NDArray[np.uint16]
        ordinals, _ = list_of(row, self.offsets, self.ordinals, dense.rows, dense.bits, dense.starts)
        return ordinals

    def all_ordinals(self) -> npt.NDArray[np.uint16]:
        """uint16[p]: the rows of the sets behind ``ordinals``, so that each impact has its ordinal."""
        return np.concatenate((self.ordinals, *map(self.ordinals_of, self.dense.rows.tolist())))

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        arrays = (self.offsets, self.ordinals, self.impacts, self.name_offsets, self.name_ordinals, self.names)
        return self.terms.nbytes + self.dense.nbytes + sum(array.nbytes for array in arrays)


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
    impacts = (postings >> np.uint64(8)).astype(np.uint8)
    names = postings.astype(np.uint8)
    named = np.flatnonzero(names)
    name_counts = np.bincount((postings[named] >> np.uint64(32)).astype(np.int64), minlength=len(texts))
    counts, rows = counts[used], int(ordinals.max()) + 1 if len(ordinals) else 0
    dense = are_dense(counts, rows)
    in_sets = np.repeat(dense, counts)
    impacts = np.concatenate((impacts[~in_sets], impacts[in_sets]))
    dense_rows = np.flatnonzero(dense)
    bits = sets_of(dense_rows, _offsets(counts), ordinals, words_of(rows))
    return Postings(
        terms=TextTable.of([texts[term] for term in used.tolist()]),
        offsets=_offsets(np.where(dense, 0, counts)),
        ordinals=ordinals[~in_sets],
        impacts=impacts,
        name_offsets=_offsets(name_counts[used]),
        name_ordinals=ordinals[named],
        names=names[named],
        dense=DenseTerms.of(dense_rows, bits, impacts),
    )


def _offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
    offsets = np.zeros(len(counts) + 1, np.uint32)
    np.cumsum(counts, out=offsets[1:])
    return offsets
