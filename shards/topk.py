"""The one total order, (score descending, id ascending), across the segments of a shard.

Inside a segment the kernel keeps it already, because ordinal order is id order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Top:
    """The best rows of one segment, in the total order.

    Attributes:
        rows: uint16[m], ordinals in the segment.
        scores: int32[m], descending, above 0.
    """

    rows: npt.NDArray[np.uint16]
    scores: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Scored:
    """A row of the shard: position of its segment, ordinal in it, id and score."""

    part: int
    row: int
    id: str
    score: int


def merge(tops: Sequence[Top], n: int, id_of: Callable[[int, int], str]) -> list[Scored]:
    """The best ``n`` of all segments in the total order; all of them where there are fewer.

    Args:
        tops: one per segment, each holding its best ``n`` or all it has.
        n: at least 1.
        id_of: the id of (segment position, row); asked only for rows that can be among the best.
    """
    scores = np.concatenate([np.zeros(0, np.int32), *(top.scores for top in tops)])
    # Ties at the cut are all kept until ids decide between them.
    floor = 0 if len(scores) <= n else int(np.partition(scores, len(scores) - n)[len(scores) - n])
    scored = [
        Scored(part, row, id_of(part, row), score)
        for part, top in enumerate(tops)
        for row, score in zip(top.rows.tolist(), top.scores.tolist(), strict=True)
        if score >= floor
    ]
    scored.sort(key=lambda entry: (-entry.score, entry.id))
    return scored[:n]
