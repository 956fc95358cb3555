"""Compaction: keeps the number of small parts bounded, so that many small changes do not slow searches down.

Small parts are merged with parts of similar size, so each record is rewritten a logarithmic number of times.
"""

from typing import Final

from shards.part import Part
from shards.segment import SEGMENT_ROWS
from shards.segment_merge import merged
from shards.vectors import merged_vectors

SMALL_ROWS: Final = SEGMENT_ROWS // 2
"""Parts with fewer live rows count as small; two of them always fit one segment."""

SMALL_PARTS: Final = 8
"""Small parts a shard keeps side by side."""


def compacted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The same live records in parts of which at most ``SMALL_PARTS`` are small and none is half dead."""
    kept = [_rewritten(part) for part in parts if part.count > 0]
    small = sorted((part for part in kept if part.count < SMALL_ROWS), key=lambda part: part.count)
    if len(small) <= SMALL_PARTS:
        return tuple(kept)
    chosen = _similar(small)
    return (*(part for part in kept if part not in chosen), _merged(chosen))


def _rewritten(part: Part) -> Part:
    """The part itself, or a copy of its live rows where those are the minority."""
    if 2 * part.count >= len(part.segment):
        return part
    return _merged([part])


def _merged(parts: list[Part]) -> Part:
    """One part of the live rows of several, with the vectors they have; a graph is built anew where it is worth it."""
    merge = merged([part.segment for part in parts], [part.live_rows() for part in parts])
    return Part.of(merge.segment, vectors=merged_vectors([part.vectors for part in parts], merge.ranks))


def _similar(small: list[Part]) -> list[Part]:
    """The smallest two, then each next one while it is at most twice as large as those before it together."""
    chosen, rows = small[:2], small[0].count + small[1].count
    for part in small[2:]:
        if part.count > 2 * rows or rows + part.count > SEGMENT_ROWS:
            break
        chosen.append(part)
        rows += part.count
    return chosen
