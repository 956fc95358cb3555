"""Synthetic records: renamed copies of real ones, for catalogues larger than any real one. It reads and writes nothing.

Every copy says so in its namespace, ``synthetic/...``, and in its id. Benchmarks hand them to shards of their own
process; no command puts them into a registry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Final

from shards.record import Record

NAMESPACE: Final = "synthetic/"
"""What the namespace of every synthetic record begins with, and of no real one."""


def grown(records: Sequence[Record], size: int) -> Iterator[Record]:
    """``size`` records with distinct ids: the first real ones, then copies where those are too few.

    Raises:
        ValueError: if there is nothing to copy.
    """
    yield from records[:size]
    if size > len(records):
        yield from islice(copies(records), size - len(records))


def copies(records: Sequence[Record]) -> Iterator[Record]:
    """Endless copies, round after round; each round has namespaces, ids and names of its own.

    Raises:
        ValueError: if there is nothing to copy.
    """
    if not records:
        raise ValueError("records: none were given; expected at least one to copy")
    for number in count(1):
        for record in records:
            yield replace(
                record,
                id=f"synthetic{number}:{record.id}",
                name=f"{record.name}_{number}",
                namespace=f"{NAMESPACE}{number}/{record.namespace}",
            )
