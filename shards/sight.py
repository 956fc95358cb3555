"""Sight: what one principal sees of an index state, made ready for kernels that read all its parts in one call.

It is made once for all queries of a batch that have the same scope, and holds everything alive whose address it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from shards.authorization import AuthorizedRows
from shards.part import Part
from shards.sight_kernel import SEGMENT_AT, WIDTH


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
        """The sight of these parts; those without an authorized row are left out."""
        seen = tuple([(part, rows) for part, rows in parts if rows.count > 0])
        table = np.empty((len(seen), WIDTH), np.int64)
        for place, (part, rows) in enumerate(seen):
            table[place, :SEGMENT_AT] = rows.numbers
            table[place, SEGMENT_AT:] = part.segment.addresses
        return cls(parts=seen, table=table, authorized=sum([rows.count for _, rows in seen]))
