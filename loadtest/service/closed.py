"""Closed loops: systems side by side at rising numbers of clients, with callers known before or never seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from loadtest.service.callers import Callers
from loadtest.service.counters import Counters
from loadtest.service.plan import Plan
from loadtest.service.started import Running
from loadtest.service.systems import EMPTY, System
from loadtest.service.wrk import Sample, closed_loop
from loadtest.spread import medians

_WARM_CLIENTS: Final = 50
_MOST_WARMING: Final = 12
"""Samples after which a system that is slow enough not to have met every caller counts as warm."""

_SPARE: Final = 1.5
"""Fresh callers for a cold sample, as a multiple of those that a warm one would need."""


@dataclass(slots=True, kw_only=True)
class ClosedLoops:
    """Closed loops against one instance; ``tell`` hears each sample."""

    running: Running
    plan: Plan
    callers: Callers
    tokens: tuple[str, ...]
    tell: Callable[[str], None]
    _seed: int = 0

    def warm_up(self, systems: Sequence[System]) -> None:
        """Until every search system has met each caller twice, and every other one has had a sample."""
        for system in systems:
            met = 0
            for _ in range(_MOST_WARMING if system.searches else 1):
                met += self._sample(system, _WARM_CLIENTS, self.tokens).requests
                if met >= 2 * len(self.tokens):
                    break

    def side_by_side(self, systems: Sequence[System]) -> dict[str, dict[str, Any]]:
        """Figures by system and level. Systems take turns, so that a drift of the machine meets all of them."""
        found: dict[str, dict[str, list[dict[str, float]]]] = {system.name: {} for system in systems}
        for _ in range(self.plan.rounds):
            for clients in self.plan.levels:
                for system in systems:
                    # An empty fan-out is there to say what one request costs at least.
                    if system is not EMPTY or clients == 1:
                        figures = self._figures(system, clients, self.tokens)
                        found[system.name].setdefault(str(clients), []).append(figures)
        return {name: {level: combined(rounds) for level, rounds in levels.items()} for name, levels in found.items()}

    def cold(self, system: System, clients: int, expected_rps: float, rounds: int | None = None) -> dict[str, Any]:
        """As one level of ``side_by_side``, but no caller asks twice: masks, frequencies and tokens are new each time.

        ``repeated`` requests came from callers who had asked already, because there were not enough new ones.
        """
        found = []
        for _ in range(rounds or self.plan.rounds):
            number = int(expected_rps * self.plan.seconds * _SPARE) + 100
            figures = self._figures(system, clients, self.callers.fresh(number))
            found.append({**figures, "repeated": max(0.0, figures["requests"] - number)})
        return combined(found)

    def _figures(self, system: System, clients: int, tokens: Sequence[str]) -> dict[str, float]:
        target = self.running.target(system, self.plan.k)
        counters = Counters(token=self.callers.operator()) if system.searches else None
        before = counters.incomplete(target) if counters else 0
        sample = self._sample(system, clients, tokens)
        incomplete = counters.incomplete(target) - before if counters else 0
        self.tell(
            f"{system.name:<12} {clients:>3} clients  {sample.rps:8,.0f}/s  p50 {sample.p50_ms:8.2f}"
            f"  p95 {sample.p95_ms:8.2f} ms  errors {sample.errors}  incomplete {incomplete}"
        )
        return {**sample.figures(), "incomplete": incomplete}

    def _sample(self, system: System, clients: int, tokens: Sequence[str]) -> Sample:
        self._seed += 1
        return closed_loop(
            self.running.target(system, self.plan.k),
            clients=clients,
            seconds=self.plan.seconds,
            tokens=tokens,
            queries=self.plan.questions(self._seed),
        )


def combined(rounds: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Medians over rounds; failures are added up, the worst latency stays the worst, each round's rate is kept."""
    sums = ("requests", "errors", "incomplete", "repeated")
    return {
        **medians(rounds, worst=("max_ms",), total=sums),
        "rounds_rps": [one["rps"] for one in rounds],
        "rounds_p50_ms": [one["p50_ms"] for one in rounds],
        "rounds_p95_ms": [one["p95_ms"] for one in rounds],
    }
