"""Ratios: what one system does beside another of the same run, and which ratios have fallen. It measures nothing.

Rates change with the machine and with what else runs on it; ratios of one run hardly do.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from loadtest.service.systems import BARE, DEFAULTS, DRESSED, EMPTY, NAIVE, SHORTLIST, System

ALLOWED: Final = 0.2
"""A ratio may fall by this share before a check fails."""

MANY, ONE = "100", "1"
"""Clients of the two levels that are compared."""

Levels = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Figures by system and number of clients, as ``ClosedLoops.side_by_side`` makes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One comparison; the larger the better.

    Attributes:
        field: of the rounds' figures.
        over: whose figure stands above the line.
        under: whose stands below it.
    """

    name: str
    field: str
    over: System
    under: System
    clients: str

    def of(self, levels: Levels) -> float | None:
        """The median of the ratios of each round, None where one of the two was not measured."""
        pairs = [levels.get(system.name, {}).get(self.clients) for system in (self.over, self.under)]
        if pairs[0] is None or pairs[1] is None:
            return None
        rounds = zip(pairs[0][self.field], pairs[1][self.field], strict=False)
        return round(statistics.median(above / below if below else 0.0 for above, below in rounds), 4)


def _throughput(of: System) -> Ratio:
    return Ratio(
        name=f"throughput at 100 clients / {of.name}",
        field="rounds_rps",
        over=SHORTLIST,
        under=of,
        clients=MANY,
    )


OF_DRESSED: Final = _throughput(DRESSED)
OF_BARE: Final = _throughput(BARE)
OF_NAIVE: Final = _throughput(NAIVE)
OF_DEFAULTS: Final = _throughput(DEFAULTS)
P95: Final = Ratio(
    name="p95 of dressed / p95 at 100 clients", field="rounds_p95_ms", over=DRESSED, under=SHORTLIST, clients=MANY
)
P50_ALONE: Final = Ratio(
    name="p50 of an empty fan-out / p50 at 1 client", field="rounds_p50_ms", over=EMPTY, under=SHORTLIST, clients=ONE
)

GUARDED: Final = (OF_DRESSED, OF_BARE, OF_NAIVE, P50_ALONE)
"""What a regression check compares; a p95 is too restless for a short run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One guarded ratio then and now; None where it was not measured."""

    name: str
    committed: float | None
    now: float | None

    @property
    def fell(self) -> bool:
        """Whether it is worse by more than ``ALLOWED``; a ratio that is gone has fallen."""
        if self.committed is None:
            return False
        return self.now is None or self.now < self.committed * (1 - ALLOWED)


def compared(committed: Levels, now: Levels) -> tuple[Compared, ...]:
    """Every guarded ratio of two runs."""
    return tuple(Compared(name=one.name, committed=one.of(committed), now=one.of(now)) for one in GUARDED)
