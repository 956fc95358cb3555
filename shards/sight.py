"""Sight: what one principal sees of an index state, made ready for kernels that read all its parts in one call.

It is made once for all queries that a generation gets of a scope, and holds everything alive whose address it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from shards.authorization import AuthorizedRows
from shards.mask import ENTRY_BYTES
from shards.part import Part
from shards.sight_kernel import PLACE, SEGMENT_AT, WIDTH


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sight:
    """The parts that hold an authorized row.

    Attributes:
        parts: each with its authorized rows.
        table: int64[parts, WIDTH], the same as numbers and addresses.
        authorized: how many rows they are.
    """

    parts: tuple[tuple[Part, AuthorizedRows], ...]
    table: npt.NDArray[np.int64]
    authorized: int

    @classmethod
    def of(cls, parts: Sequence[tuple[Part, AuthorizedRows]]) -> Self:
        """The sight of all parts of an index; those without an authorized row are left out."""
        places = [place for place, (_, rows) in enumerate(parts) if rows.count > 0]
        seen = tuple([parts[place] for place in places])
        table = np.empty((len(seen), WIDTH), np.int64)
        for (part, rows), place, row in zip(seen, places, table, strict=True):
            row[:PLACE] = rows.numbers
            row[PLACE] = place
            row[SEGMENT_AT:] = part.segment.addresses
        return cls(parts=seen, table=table, authorized=sum([rows.count for _, rows in seen]))

    def place(self, record_id: str) -> tuple[int, int] | None:
        """Position in ``parts`` and ordinal of an authorized record, None for any other."""
        for position, (part, rows) in enumerate(self.parts):
            ordinal = part.segment.ordinal_of(record_id)
            if ordinal >= 0 and rows.holds(ordinal):
                return position, ordinal
        return None

    @property
    def nbytes(self) -> int:
        """Memory in bytes, that of the rows included: they live as long as this."""
        return self.table.nbytes + sum(rows.nbytes + ENTRY_BYTES for _, rows in self.parts)
