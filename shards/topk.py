"""The one total order, (score descending, id ascending), across the segments of a shard.

Inside a segment the kernel keeps it already, because ordinal order is id order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import merge_kernel

_NO_SCORES: Final = np.zeros(0, np.int32)
_NO_ROWS: Final = np.zeros(0, np.uint16)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Top:
    """The best rows of one segment, in the total order.

    Attributes:
        rows: uint16[m], ordinals in the segment.
        scores: int32[m], descending, above 0.
    """

    rows: npt.NDArray[np.uint16]
    scores: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranked:
    """Rows of a shard in the total order.

    Attributes:
        parts: int64[m], position of each one's segment.
        rows: uint16[m], ordinals in it.
        scores: int32[m].
    """

    parts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.uint16]
    scores: npt.NDArray[np.int32]


def merge(tops: Sequence[Top], n: int, id_of: Callable[[int, int], str]) -> Ranked:
    """The best ``n`` of all segments in the total order; all of them where there are fewer.

    Args:
        tops: one per segment, each holding its best ``n`` or all it has.
        n: at least 1.
        id_of: the id of (segment position, row); asked only for rows of two segments that score the same.
    """
    scores = np.concatenate([_NO_SCORES, *[top.scores for top in tops]])
    rows = np.concatenate([_NO_ROWS, *[top.rows for top in tops]])
    ends = np.array([*accumulate([len(top.rows) for top in tops])], np.int64)
    most = min(n, len(scores))
    parts, best, found = np.empty(most, np.int64), np.empty(most, np.uint16), np.empty(most, np.int32)
    if merge_kernel.merged(parts, best, found, scores, rows, ends) < most:
        owners = np.repeat(np.arange(len(tops)), [len(top.rows) for top in tops])
        floor = int(np.sort(scores)[-most])
        order = np.array(_by_id(scores, owners, rows, floor, id_of)[:n], np.int64)
        return Ranked(parts=owners[order], rows=rows[order], scores=scores[order])
    return Ranked(parts=parts, rows=best, scores=found)


def _by_id(
    scores: npt.NDArray[np.int32],
    parts: npt.NDArray[np.int64],
    rows: npt.NDArray[np.uint16],
    floor: int,
    id_of: Callable[[int, int], str],
) -> list[int]:
    """Positions of all rows in the total order down to ``floor``; ids are asked for scores that two segments have."""
    owners: dict[int, set[int]] = {}
    places = list(zip(scores.tolist(), parts.tolist(), rows.tolist(), strict=True))
    for score, part, _ in places:
        owners.setdefault(score, set()).add(part)

    def key(at: int) -> tuple[int, str]:
        score, part, row = places[at]
        # The sort is stable: where one segment alone has a score, its rows stand in the order of ids already.
        return -score, id_of(part, row) if score >= floor and len(owners[score]) > 1 else ""

    return sorted(range(len(places)), key=key)
