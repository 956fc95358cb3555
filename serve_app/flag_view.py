"""The flags of one replica as operators see them: in ``GET /v1/status`` and as Prometheus figures.

It only reads; figures are taken when somebody scrapes them, so that a search pays nothing.
"""

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from typing_extensions import TypedDict

from cluster.flag_watch import FlagWatch
from cluster.flags import Flag, Flags
from cluster.shadow import Shadow

_SAME: Final = "Comparisons of a sent answer with one that has this flag the other way round, by outcome."


class FlagView(TypedDict):
    """One flag: for which share of queries it holds, and how answers compare with those the other way round."""

    rollout_percent: int
    shadow_percent: int
    compared: int
    equal: int
    incomparable: int
    skipped: int


class FlagsStatusView(TypedDict):
    """The flags of the replica that was asked; ``fault`` says why its settings file cannot be used, else empty."""

    fault: str
    taken: int
    refused: int
    flags: dict[str, FlagView]


def flags_view(watch: FlagWatch, shadow: Shadow) -> FlagsStatusView:
    """As ``GET /v1/status`` shows them."""
    plan, parity = watch.now, shadow.parity()
    return {
        "fault": watch.fault,
        "taken": watch.taken,
        "refused": watch.refused,
        "flags": {
            flag.value: {
                "rollout_percent": plan.rollout_percent[flag],
                "shadow_percent": plan.shadow_percent[flag],
                "compared": parity[flag].compared,
                "equal": parity[flag].equal,
                "incomparable": parity[flag].incomparable,
                "skipped": parity[flag].skipped,
            }
            for flag in Flag
        },
    }


def flag_figures(watch: FlagWatch, shadow: Shadow) -> bytes:
    """As ``GET /metrics`` shows them."""
    registry = CollectorRegistry()
    registry.register(_Figures(watch, shadow))
    return generate_latest(registry)


class HeldFlags(Collector):
    """How many searches each flag held for, counted without locks; belongs to one event loop, which also reads it."""

    def __init__(self) -> None:
        self._searches: dict[Flags, int] = {}

    def count(self, flags: Flags) -> None:
        """One search was answered with these."""
        self._searches[flags] = self._searches.get(flags, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """As the client library asks for it; every flag is there."""
        held = CounterMetricFamily("shortlist_flags_held", "Searches that a flag held for.", labels=("flag",))
        for flag in Flag:
            held.add_metric((flag.value,), sum(n for flags, n in self._searches.items() if flag.value in flags.held))
        yield held


class _Figures(Collector):
    def __init__(self, watch: FlagWatch, shadow: Shadow) -> None:
        self._watch = watch
        self._shadow = shadow

    def collect(self) -> Iterator[Metric]:
        rollout = GaugeMetricFamily(
            "shortlist_flag_rollout_percent", "Share of queries for which a flag holds.", labels=("flag",)
        )
        for flag, percent in self._watch.now.rollout_percent.items():
            rollout.add_metric((flag.value,), percent)
        yield rollout
        reloads = CounterMetricFamily(
            "shortlist_flag_reloads", "Changed settings files, by what became of their flags.", labels=("outcome",)
        )
        reloads.add_metric(("taken",), self._watch.taken)
        reloads.add_metric(("refused",), self._watch.refused)
        yield reloads
        yield GaugeMetricFamily(
            "shortlist_flags_usable",
            "Whether the settings file as it is can be used.",
            value=int(not self._watch.fault),
        )
        shadow = CounterMetricFamily("shortlist_shadow", _SAME, labels=("flag", "outcome"))
        for flag, counts in self._shadow.outcomes().items():
            for outcome, count in counts.items():
                shadow.add_metric((flag.value, outcome.value), count)
        yield shadow
