"""The reference: what one CPython process does over 10,000 tools, and the same numbers of clients asked of ours.

Its figures are those that its makers report; its machine was another one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from loadtest.service.homes import Homes
from loadtest.service.plan import Plan
from loadtest.service.run import compared
from loadtest.service.systems import SHORTLIST

REFERENCE: Final[Mapping[str, Mapping[str, float]]] = {
    "1": {"p50_ms": 16, "p95_ms": 16},
    "10": {"p50_ms": 87, "p95_ms": 138},
    "50": {"p50_ms": 1_400, "p95_ms": 1_500},
    "100": {"p50_ms": 2_800, "p95_ms": 3_000},
}
"""Latency by clients over 10,000 tools."""

REFERENCE_RECORDS: Final = 10_000

REFERENCE_SIZES: Final[Mapping[int, tuple[float, float, float]]] = {
    180: (40, 6, 38),
    1_200: (91, 6, 242),
    5_000: (293, 9, 999),
    10_000: (547, 13, 2_059),
}
"""By tools: ms of a keyword scan, of its inverted index, of linear vectors."""


def by_clients(homes: Homes, plan: Plan, shards: int, tell: Callable[[str], None]) -> list[dict[str, Any]]:
    """Closed loops over HTTP at the reference's size and over the whole catalogue, each with its number of records."""
    return [compared(homes.of(size), plan, shards, (SHORTLIST,), tell) for size in _sizes(len(homes.catalogue.records))]


def _sizes(most: int) -> Sequence[int | None]:
    return (REFERENCE_RECORDS, None) if most > REFERENCE_RECORDS else (None,)
