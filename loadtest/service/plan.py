"""Plan: how a service benchmark is run, and what of it every sample takes its requests from. It sends nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from loadtest.queries import non_repeating

LEVELS: Final = (1, 10, 50, 100)
"""Clients of the closed loops."""

SHARES: Final = (0.5, 0.8, 1.2)
"""Of a system's capacity, the rates of the open loops."""

OVERLOAD: Final = 5.0

BUDGET_MS: Final = 800.0
"""The default time limit of a search of tools; ``GRACE_MS`` is what an answer may take beyond it."""

GRACE_MS: Final = 50.0

_QUERIES_A_SECOND: Final = 4_000
"""More than any search answers here; a no-op may see a query twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long, how often, and with what.

    Attributes:
        levels: clients of the closed loops.
        seconds: of one sample.
        rounds: samples of each system and level; medians over them count.
        scopes: different callers of the warm samples.
        k: hits asked for.
        queries: real ones.
    """

    queries: tuple[str, ...]
    levels: tuple[int, ...] = LEVELS
    seconds: int = 5
    rounds: int = 3
    scopes: int = 1_000
    k: int = 10

    def questions(self, seed: int) -> Iterator[str]:
        """Queries for one sample, in an order of its own."""
        return islice(non_repeating(self.queries, seed), self.seconds * _QUERIES_A_SECOND)
