"""Names: exact look-ups of normalised names, aliases, capabilities and domains.

They find rows; what a mention is worth and who may see a row is decided elsewhere.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.analyzer import name_key
from shards.columns import Column, Columns, Field
from shards.messages import Mention, MentionField
from shards.record import Record
from shards.text_table import TextTable, encoded

GROUPS: Final = {MentionField.CAPABILITY: Field.CAPABILITY, MentionField.DOMAIN: Field.DOMAIN}
"""Mention fields that are looked up over the distinct values of a column."""


def key_hash(key: str) -> int:
    """The 64-bit hash under which a key is kept; stable across processes and machines."""
    return int.from_bytes(hashlib.blake2b(encoded(key), digest_size=8).digest())


def key_hashes(mentions: Sequence[Mention]) -> npt.NDArray[np.uint64]:
    """uint64[n_mentions]: ``key_hash`` of each mention, computed once per query for all segments."""
    return np.fromiter((key_hash(mention.key) for mention in mentions), np.uint64, len(mentions))


def name_keys(record: Record) -> set[str]:
    """The normal forms of a record's name and aliases, without empty ones."""
    return {key for text in (record.name, *record.aliases) if (key := name_key(text))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameTable:
    """Hashed keys with the rows that have them.

    Keys are told apart by 64 bits of blake2b alone: two of a million names share one with a chance of 3e-8, and
    then a record gets a bonus too many; it never becomes visible to anyone.

    Attributes:
        hashes: uint64[m], ascending, repeated where several rows share a key.
        rows: uint16[m], ascending inside equal hashes.
    """

    hashes: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, hashes: npt.NDArray[np.uint64], rows: npt.NDArray[np.uint16]) -> Self:
        """A table of loose (hash, row) pairs."""
        order = np.lexsort((rows, hashes))
        return cls(hashes=hashes[order], rows=rows[order])

    @classmethod
    def of_values(cls, values: TextTable) -> Self:
        """A table from the normal form of each value to its row; empty values have none."""
        pairs = [(key_hash(key), row) for row, value in enumerate(values) if (key := name_key(value))]
        return cls.of(
            np.array([digest for digest, _ in pairs], np.uint64), np.array([row for _, row in pairs], np.uint16)
        )

    def spans(self, hashes: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Start and end in ``rows`` (int64[n_keys] each) of the rows of each key; equal where no row has it."""
        return self.hashes.searchsorted(hashes), self.hashes.searchsorted(hashes, "right")

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.hashes.nbytes + self.rows.nbytes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Names:
    """All exact look-ups of one segment.

    Attributes:
        exact: normalised names and aliases -> ordinals.
        groups: normalised values of a column -> codes of that column.
    """

    exact: NameTable
    groups: dict[MentionField, NameTable]

    @classmethod
    def of(cls, exact: NameTable, columns: Columns) -> Self:
        """Look-ups over names and over the values of ``columns``."""
        groups = {mention: NameTable.of_values(columns[field].values) for mention, field in GROUPS.items()}
        return cls(exact=exact, groups=groups)

    def bonuses(
        self, mentions: Sequence[Mention], hashes: npt.NDArray[np.uint64], columns: Columns, rows: int
    ) -> npt.NDArray[np.int32]:
        """int32[rows]: bonus of each record, the best per field summed over fields; int32[0] where none has one.

        Args:
            mentions: looked up in any order; an empty key names nothing.
            hashes: their ``key_hashes``.
            columns: of the segment.
            rows: number of its records.
        """
        total = np.zeros(0, np.int32)
        for field in MentionField:
            asked = np.array([place for place, mention in enumerate(mentions) if mention.field is field], np.int64)
            best = self._best(field, [mentions[place] for place in asked], hashes[asked], columns, rows)
            if len(best):
                total = total + best if len(total) else best
        return total

    def _best(
        self,
        field: MentionField,
        mentions: Sequence[Mention],
        hashes: npt.NDArray[np.uint64],
        columns: Columns,
        rows: int,
    ) -> npt.NDArray[np.int32]:
        table = self.exact if field is MentionField.NAME else self.groups[field]
        starts, ends = table.spans(hashes)
        best = np.zeros(0, np.int32)
        for place in np.flatnonzero(ends > starts).tolist():
            mention = mentions[place]
            found = table.rows[starts[place] : ends[place]]
            ordinals = (
                found if field is MentionField.NAME else _rows_of_group(columns[GROUPS[field]], found, mention.key)
            )
            if mention.key and len(ordinals):
                best = best if len(best) else np.zeros(rows, np.int32)
                best[ordinals] = np.maximum(best[ordinals], mention.bonus)
        return best

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.exact.nbytes + sum(table.nbytes for table in self.groups.values())


def _rows_of_group(column: Column, codes: npt.NDArray[np.uint16], key: str) -> npt.NDArray[np.int64]:
    """Ordinals of the records whose value has the normal form ``key``; hashes may have met by chance."""
    named = [code for code in codes.tolist() if name_key(column.values[code]) == key]
    return np.concatenate([np.zeros(0, np.int64), *(column.rows_of(code) for code in named)])
