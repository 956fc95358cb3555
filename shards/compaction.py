"""Compaction: keeps the number of small parts bounded, so that many small changes do not slow searches down.

Small parts are merged with parts of similar size, so each record is rewritten a logarithmic number of times. One change
rewrites one segment's worth of records at most, in about a second; what is left over waits for the next change.
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

REWRITTEN_ROWS: Final = SEGMENT_ROWS // 2
"""Rows of mostly dead parts that one change copies, half a second's work; each such part has fewer."""


def compacted(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The same live records; where ``parts`` are one small part too many, not more than ``SMALL_PARTS`` are left.

    A part that is mostly dead is rewritten now, or after a later change where the rows of this one are used up.
    """
    kept = tuple(part for part in parts if part.count > 0)
    small = sorted((part for part in kept if part.count < SMALL_ROWS), key=lambda part: part.count)
    if len(small) <= SMALL_PARTS:
        return _without_dead_rows(kept, REWRITTEN_ROWS)
    chosen = _similar(small)
    merged_part = _merged(chosen)
    rest = tuple(part for part in kept if part not in chosen)
    return (*_without_dead_rows(rest, REWRITTEN_ROWS - merged_part.count), merged_part)


def _without_dead_rows(parts: tuple[Part, ...], rows: int) -> tuple[Part, ...]:
    """The parts; the deadest of those that are mostly dead as copies of their live rows, ``rows`` of them at most."""
    rewritten: dict[int, Part] = {}
    for part in sorted(parts, key=lambda part: part.count / len(part.segment)):
        if 2 * part.count >= len(part.segment) or part.count > rows:
            break
        rewritten[part.uid] = _merged([part])
        rows -= part.count
    return tuple(rewritten.get(part.uid, part) for part in parts)


def _merged(parts: list[Part]) -> Part:
    """One part of the live rows of several, with the vectors they have; a graph is built anew where it is worth it."""
    merge = merged([part.segment for part in parts], [part.live_rows() for part in parts])
    return Part.of(merge.segment, vectors=merged_vectors([part.vectors for part in parts], merge.ranks))


def _similar(small: list[Part]) -> list[Part]:
    """The smallest parts of similar size: two, then each next one while it is at most twice those before it together.

    Where each part is more than twice as large as the one before it, the smallest two: few rows then, as there are many
    parts. A single new record is thus never merged into one of many large parts, change after change.
    """
    pairs = range(len(small) - 1)
    first = next((place for place in pairs if small[place + 1].count <= 2 * small[place].count), 0)
    chosen = small[first : first + 2]
    rows = chosen[0].count + chosen[1].count
    for part in small[first + 2 :]:
        if part.count > 2 * rows or rows + part.count > SEGMENT_ROWS:
            break
        chosen.append(part)
        rows += part.count
    return chosen
