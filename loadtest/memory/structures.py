"""Structures: which part of an index takes how many bytes a record. It asks the arrays, not the operating system."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from loadtest.tiers import Share, scope_of
from shards import snapshot
from shards.index import ShardIndex
from shards.part import Part

IN_THE_INDEX: Final = ("postings", "dictionary", "near_words", "names", "columns", "ids", "versions")
"""What a search needs of every record; documents and vectors stand beside it, masks are per caller."""


def structures(places: Sequence[Path]) -> dict[str, Any]:
    """Bytes by structure, in all and a record, of the snapshots of all shards, as plain JSON.

    ``index`` is the sum of ``IN_THE_INDEX``; ``mask`` is what the shards keep of one caller's authorized rows;
    ``documents`` lie in a memory-mapped file, so that only those in use take memory.
    """
    indexes = [snapshot.read(place, number) for number, place in enumerate(places)]
    parts = [part for index in indexes for part in index.parts]
    records = sum(part.count for part in parts)
    totals: dict[str, int] = {}
    for part in parts:
        for name, size in _sizes(part).items():
            totals[name] = totals.get(name, 0) + size
    totals["index"] = sum(totals[name] for name in IN_THE_INDEX)
    totals["mask"] = sum(_mask_bytes(index) for index in indexes)
    return {
        "records": records,
        "bytes": totals,
        "bytes_per_record": {name: round(total / records, 2) for name, total in totals.items()},
    }


def _sizes(part: Part) -> dict[str, int]:
    segment = part.segment
    return {
        "postings": segment.postings.nbytes - segment.postings.terms.nbytes,
        "dictionary": segment.postings.terms.nbytes,
        "near_words": segment.near.nbytes,
        "names": segment.names.nbytes,
        "columns": sum(column.nbytes for column in segment.columns.values()),
        "ids": segment.ids.nbytes,
        "versions": segment.versions.nbytes,
        "documents": segment.documents.nbytes,
    }


def _mask_bytes(index: ShardIndex) -> int:
    scope = scope_of(Share.THIRD)
    return sum(index.authorizer.authorize(scope, part, index.lists).nbytes for part in index.parts)
