"""Percentiles, medians and spreads of samples, by hand."""

import numpy as np
import pytest

from loadtest.spread import medians, percentile, spread


def test_percentiles_are_values_that_occurred() -> None:
    values = np.arange(1.0, 101.0)
    assert [percentile(values, share) for share in (0.01, 0.5, 0.95, 0.99, 1.0)] == [1, 50, 95, 99, 100]


def test_one_value_is_every_percentile() -> None:
    assert percentile(np.array([7.0]), 0.5) == percentile(np.array([7.0]), 0.99) == 7.0


def test_the_spread_of_nothing_is_zero() -> None:
    assert spread([]) == {"count": 0, "p50_ms": 0.0, "p95_ms": 0.0, "p99_ms": 0.0, "max_ms": 0.0}


def test_the_order_of_latencies_does_not_matter() -> None:
    assert spread([3.0, 1.0, 2.0]) == spread([1.0, 2.0, 3.0])


def test_rounds_are_combined_by_median_but_failures_add_up_and_the_worst_stays() -> None:
    rounds = [{"rps": rps, "max_ms": worst, "errors": 1.0} for rps, worst in ((10.0, 5.0), (30.0, 9.0), (20.0, 7.0))]
    assert medians(rounds, worst=("max_ms",), total=("errors",)) == pytest.approx(
        {"rps": 20.0, "max_ms": 9.0, "errors": 3.0}
    )
