"""Names: exact look-ups of normalised names, aliases, capabilities and domains.

They find rows; what a mention is worth and who may see a row is decided elsewhere.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.analyzer import name_key
from shards.columns import Columns, Field
from shards.messages import Mention, MentionField
from shards.record import Record
from shards.text_table import TextTable, encoded

GROUPS: Final = {MentionField.CAPABILITY: Field.CAPABILITY, MentionField.DOMAIN: Field.DOMAIN}
"""Mention fields that are looked up over the distinct values of a column."""


def key_hash(key: str) -> int:
    """The 64-bit hash under which a key is kept; stable across processes and machines."""
    return int.from_bytes(hashlib.blake2b(encoded(key), digest_size=8).digest())


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

    def rows_of(self, key: str) -> npt.NDArray[np.uint16]:
        """Rows that have ``key``, ascending; empty for an unknown or empty key."""
        if not key:
            return self.rows[:0]
        digest = np.uint64(key_hash(key))
        start, end = self.hashes.searchsorted(digest), self.hashes.searchsorted(digest, "right")
        return self.rows[start:end]

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

    def ordinals(self, field: MentionField, key: str, columns: Columns) -> npt.NDArray[np.integer]:
        """Ordinals of the records that have ``key`` in ``field``, each once, in no particular order."""
        if field is MentionField.NAME:
            return self.exact.rows_of(key)
        column = columns[GROUPS[field]]
        codes = [code for code in self.groups[field].rows_of(key).tolist() if name_key(column.values[code]) == key]
        return np.concatenate([np.zeros(0, np.int64), *(column.rows_of(code) for code in codes)])

    def bonuses(self, mentions: Sequence[Mention], columns: Columns, rows: int) -> npt.NDArray[np.int32]:
        """int32[rows]: bonus of each record, the best per field summed over fields; int32[0] where none has one."""
        total = np.zeros(0, np.int32)
        for field in MentionField:
            best = self._best(field, [mention for mention in mentions if mention.field is field], columns, rows)
            if len(best):
                total = total + best if len(total) else best
        return total

    def _best(
        self, field: MentionField, mentions: Iterable[Mention], columns: Columns, rows: int
    ) -> npt.NDArray[np.int32]:
        best = np.zeros(0, np.int32)
        for mention in mentions:
            ordinals = self.ordinals(field, mention.key, columns)
            if len(ordinals) and not len(best):
                best = np.zeros(rows, np.int32)
            if len(ordinals):
                best[ordinals] = np.maximum(best[ordinals], mention.bonus)
        return best

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.exact.nbytes + sum(table.nbytes for table in self.groups.values())
