"""Tally and Count: a histogram and a counter with one label, counted without locks, for what searches have many of.

A tenth of the cost of the client library's own. They belong to one event loop, which also reads them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector


class _Row:
    __slots__ = ("counts", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * buckets
        self.total = 0.0


class Tally(Collector):
    """A histogram of the Prometheus format.

    Args:
        name: of the metric.
        meaning: one sentence.
        label: name of the label; its values are a closed set, which the caller sees to.
        bounds: upper bounds of the buckets, rising; the last bucket has none.
    """

    def __init__(self, name: str, meaning: str, label: str, bounds: Sequence[float]) -> None:
        self._name = name
        self._meaning = meaning
        self._label = label
        self._bounds: Final = tuple(bounds)
        self._rows: dict[str, _Row] = {}

    def observe(self, value_of_label: str, amount: float) -> None:
        """Count one amount."""
        row = self._rows.get(value_of_label)
        if row is None:
            row = self._rows[value_of_label] = _Row(len(self._bounds) + 1)
        row.counts[bisect_left(self._bounds, amount)] += 1
        row.total += amount

    def collect(self) -> Iterable[Metric]:
        """As the client library asks for it."""
        family = HistogramMetricFamily(self._name, self._meaning, labels=(self._label,))
        ends = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        for value_of_label, row in self._rows.items():
            counted = zip(ends, accumulate(row.counts), strict=True)
            family.add_metric((value_of_label,), [(end, float(count)) for end, count in counted], row.total)
        return (family,)


class Count(Collector):
    """A counter of the Prometheus format.

    Args:
        name: of the metric.
        meaning: one sentence.
        label: name of the label.
        values: of the label, a closed set; each is there from the beginning.
    """

    def __init__(self, name: str, meaning: str, label: str, values: Iterable[str]) -> None:
        self._name = name
        self._meaning = meaning
        self._label = label
        self._counts = dict.fromkeys(values, 0)

    def add(self, value_of_label: str, number: int = 1) -> None:
        """Count one, or so many."""
        self._counts[value_of_label] += number

    def collect(self) -> Iterable[Metric]:
        """As the client library asks for it."""
        family = CounterMetricFamily(self._name, self._meaning, labels=(self._label,))
        for value_of_label, number in self._counts.items():
            family.add_metric((value_of_label,), number)
        return (family,)
