"""Names: exact look-ups of normalised names, aliases, capabilities and domains.

They find rows; what a mention is worth and who may see a row is decided elsewhere.
"""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shards.analyzer import name_key
from shards.columns import Column, Columns, Field
from shards.mention_kernel import any_held
from shards.mentions import FIELDS, MentionField, Mentions, key_hash
from shards.record import Record
from shards.text_table import TextTable

GROUPS: Final = {MentionField.CAPABILITY: Field.CAPABILITY, MentionField.DOMAIN: Field.DOMAIN}
"""Mention fields that are looked up over the distinct values of a column."""


NO_BONUS: Final = np.zeros(0, np.int32)


def name_keys(record: Record) -> set[str]:
    """The normal forms of a record's name and aliases, without empty ones."""
    return {key for text in (record.name, *record.aliases) if (key := name_key(text))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NameTable:
    """Hashed keys with the rows that have them.

    Keys are told apart by 64 bits of blake2b alone: see ``Mentions``.

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

    def bonuses(self, mentions: Mentions, columns: Columns, rows: int) -> npt.NDArray[np.int32]:
        """int32[rows]: bonus of each record, the best per field summed over fields; int32[0] where none has one.

        Args:
            mentions: of the query.
            columns: of the segment.
            rows: number of its records.
        """
        if not self._holds_any(mentions):
            return NO_BONUS
        total = NO_BONUS
        for field in FIELDS:
            best = self._best(field, mentions, columns, rows)
            if len(best):
                total = total + best if len(total) else best
        return total

    def _holds_any(self, mentions: Mentions) -> bool:
        """Of most queries, no segment holds any mention: that must cost next to nothing."""
        _, first, second, _ = mentions.bounds
        held: bool = any_held(
            self.exact.hashes,
            self.groups[MentionField.CAPABILITY].hashes,
            self.groups[MentionField.DOMAIN].hashes,
            mentions.hashes,
            first,
            second,
        )
        return held

    def _best(self, field: MentionField, mentions: Mentions, columns: Columns, rows: int) -> npt.NDArray[np.int32]:
        start, end = mentions.span(field)
        table = self.exact if field is MentionField.NAME else self.groups[field]
        starts, ends = table.spans(mentions.hashes[start:end])
        best = NO_BONUS
        for place in np.flatnonzero(ends > starts).tolist():
            found = table.rows[starts[place] : ends[place]]
            ordinals = found if field is MentionField.NAME else _rows_of_groups(columns[GROUPS[field]], found)
            best = best if len(best) else np.zeros(rows, np.int32)
            best[ordinals] = np.maximum(best[ordinals], mentions.bonuses[start + place])
        return best

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.exact.nbytes + sum(table.nbytes for table in self.groups.values())


def _rows_of_groups(column: Column, codes: npt.NDArray[np.uint16]) -> npt.NDArray[np.int64]:
    """Ordinals of the records whose value stands at one of these codes."""
    return np.concatenate([column.rows_of(code) for code in codes.tolist()])
