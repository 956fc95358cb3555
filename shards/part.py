"""Part: a segment, which of its rows are still alive, and the vectors that have come for it, at one index state.

A part never changes; removing rows or adding vectors makes another part of the same segment.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from shards.segment import Segment, next_uid
from shards.text_table import joined
from shards.utf8 import encoded
from shards.vectors import Vectors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One segment at one index state.

    Attributes:
        uid: unique in this process for each (segment, live) pair, whatever its vectors.
        live: bool[rows], read-only, or None while every row is alive.
        count: live rows.
        vectors: None while no row has one.
    """

    uid: int
    segment: Segment
    live: npt.NDArray[np.bool_] | None
    count: int
    vectors: Vectors | None = None

    @classmethod
    def of(cls, segment: Segment, live: npt.NDArray[np.bool_] | None = None, vectors: Vectors | None = None) -> Self:
        """A part of ``segment`` with the given live rows, or all of them."""
        if live is None or live.all():
            return cls(uid=next_uid(), segment=segment, live=None, count=len(segment), vectors=vectors)
        live.flags.writeable = False
        return cls(uid=next_uid(), segment=segment, live=live, count=int(np.count_nonzero(live)), vectors=vectors)

    def without(self, record_ids: Iterable[str]) -> "Part":
        """This part with the given records dead; itself where it holds none of them alive."""
        return self.without_joined(*joined([encoded(record_id) for record_id in record_ids]))

    def without_joined(self, ids: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> "Part":
        """As ``without``, for encoded ids that are ``joined`` once for all parts."""
        ordinals = self.segment.ids.find_joined(ids, bounds)
        live = self.live_rows().copy()
        live[ordinals[ordinals >= 0]] = False
        if np.count_nonzero(live) == self.count:
            return self
        return Part.of(self.segment, live, self.vectors)

    def with_vectors(self, vectors: Vectors | None) -> "Part":
        """This part with other vectors; who may see its rows stays the same, and so does ``uid``."""
        return replace(self, vectors=vectors)

    def live_rows(self) -> npt.NDArray[np.bool_]:
        """bool[rows], whether each row is alive."""
        return np.ones(len(self.segment), np.bool_) if self.live is None else self.live
