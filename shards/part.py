"""Part: a segment and which of its rows are still alive, at one index state.

A part never changes; removing rows makes another part of the same segment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from shards.segment import Segment, next_uid


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One segment at one index state.

    Attributes:
        uid: unique in this process for each (segment, live) pair.
        live: bool[rows], read-only, or None while every row is alive.
        count: live rows.
    """

    uid: int
    segment: Segment
    live: npt.NDArray[np.bool_] | None
    count: int

    @classmethod
    def of(cls, segment: Segment, live: npt.NDArray[np.bool_] | None = None) -> Self:
        """A part of ``segment`` with the given live rows, or all of them."""
        if live is None or live.all():
            return cls(uid=next_uid(), segment=segment, live=None, count=len(segment))
        live.flags.writeable = False
        return cls(uid=next_uid(), segment=segment, live=live, count=int(np.count_nonzero(live)))

    def ordinal_of(self, record_id: str) -> int:
        """Ordinal of a live record, or -1."""
        ordinal = self.segment.ordinal_of(record_id)
        alive = ordinal >= 0 and (self.live is None or bool(self.live[ordinal]))
        return ordinal if alive else -1

    def without(self, record_ids: Iterable[str]) -> "Part":
        """This part with the given records dead; itself where it holds none of them alive."""
        ordinals = [ordinal for record_id in record_ids if (ordinal := self.ordinal_of(record_id)) >= 0]
        if not ordinals:
            return self
        live = self.live_rows().copy()
        live[ordinals] = False
        return Part.of(self.segment, live)

    def live_rows(self) -> npt.NDArray[np.bool_]:
        """bool[rows], whether each row is alive."""
        return np.ones(len(self.segment), np.bool_) if self.live is None else self.live
