"""Merging segments: every value is static, so nothing is analysed again and only numbers are remapped.

Which segments should be merged is decided in ``shards.compaction``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.columns import Column, Field
from shards.documents import Documents
from shards.names import Names, NameTable
from shards.postings import Postings, assembled
from shards.segment import Segment, Versions, narrowed, next_uid
from shards.text_table import TextTable

_ORDINAL_BITS: Final = np.uint64(0xFFFF0000)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merge:
    """A merged segment, and where the rows of each that went in are now.

    Attributes:
        ranks: int64[rows] per segment, ordinals in the merged one, -1 for rows that were left out.
    """

    segment: Segment
    ranks: list[npt.NDArray[np.int64]]


def merged(segments: Sequence[Segment], kept: Sequence[npt.NDArray[np.bool_]]) -> Merge:
    """One segment of the kept rows of several; ids of kept rows are distinct and fit one segment."""
    origins = sorted(
        (record_id, part, row)
        for part, (segment, keep) in enumerate(zip(segments, kept, strict=True))
        for row, record_id in enumerate(segment.ids.all_bytes())
        if keep[row]
    )
    ranks = [np.full(len(segment), -1, np.int64) for segment in segments]
    for rank, (_, part, row) in enumerate(origins):
        ranks[part][row] = rank
    columns = {field: _merged_column([segment.columns[field] for segment in segments], ranks) for field in Field}
    bodies = [segments[part].documents.body(row) for _, part, row in origins]
    segment = Segment(
        uid=next_uid(),
        ids=TextTable.of([record_id for record_id, _, _ in origins]),
        versions=_merged_versions([segment.versions for segment in segments], ranks),
        postings=_merged_postings([segment.postings for segment in segments], ranks),
        names=Names.of(_merged_names([segment.names.exact for segment in segments], ranks), columns),
        columns=columns,
        documents=Documents.of(bodies, [len(body) for body in bodies]),
    )
    return Merge(segment=segment, ranks=ranks)


def _merged_versions(versions: Sequence[Versions], ranks: Sequence[npt.NDArray[np.int64]]) -> Versions:
    merged_ranks = np.concatenate(ranks)
    loose = np.concatenate([part.astype(np.int64) for part in versions])[merged_ranks >= 0]
    result = np.zeros(len(loose), np.int64)
    result[merged_ranks[merged_ranks >= 0]] = loose
    return narrowed(result)


def _merged_column(columns: Sequence[Column], ranks: Sequence[npt.NDArray[np.int64]]) -> Column:
    values: list[str] = []
    rows = sum(int(np.count_nonzero(rank >= 0)) for rank in ranks)
    codes = np.zeros(rows, np.uint32)
    for column, rank in zip(columns, ranks, strict=True):
        kept = rank >= 0
        codes[rank[kept]] = column.dense_codes()[kept] + np.uint32(len(values))
        values.extend(column.values)
    return Column.of(values, codes)


def _merged_names(tables: Sequence[NameTable], ranks: Sequence[npt.NDArray[np.int64]]) -> NameTable:
    hashes = np.concatenate([table.hashes for table in tables])
    rows = np.concatenate([rank[table.rows] for table, rank in zip(tables, ranks, strict=True)])
    return NameTable.of(hashes[rows >= 0], rows[rows >= 0].astype(np.uint16))


def _merged_postings(tables: Sequence[Postings], ranks: Sequence[npt.NDArray[np.int64]]) -> Postings:
    dictionaries = [list(table.terms.all_bytes()) for table in tables]
    texts = sorted(set(chain.from_iterable(dictionaries)))
    numbers = {text: number for number, text in enumerate(texts)}
    loose = [
        _renumbered(table, np.fromiter(map(numbers.__getitem__, terms), np.uint64, len(terms)), rank)
        for table, terms, rank in zip(tables, dictionaries, ranks, strict=True)
    ]
    return assembled(texts, np.concatenate(loose))


def _renumbered(
    table: Postings, term_numbers: npt.NDArray[np.uint64], rank: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """The loose postings of the kept rows, with terms and rows of the merged segment."""
    loose = table.packed(term_numbers)
    rows = rank[(loose >> np.uint64(16)).astype(np.uint16)]
    loose = loose[rows >= 0]
    loose &= ~_ORDINAL_BITS
    loose |= rows[rows >= 0].astype(np.uint64) << np.uint64(16)
    return loose
