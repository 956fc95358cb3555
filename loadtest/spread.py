"""Spread: percentiles of latencies, and medians over rounds. Exact: nothing is put into buckets."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
import numpy.typing as npt


class Spread(TypedDict):
    """Latencies in ms; all 0 where there are none."""

    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


def percentile(values: npt.NDArray[np.float64], share: float) -> float:
    """The smallest value that ``share`` of all values do not exceed (nearest rank, no interpolation); 0.0 of none.

    Args:
        values: float64[n], ascending.
        share: in (0, 1].
    """
    if len(values) == 0:
        return 0.0
    return float(values[max(0, int(np.ceil(share * len(values))) - 1)])


def spread(latencies_ms: Sequence[float] | npt.NDArray[np.float64]) -> Spread:
    """Of latencies in any order."""
    ordered = np.sort(np.asarray(latencies_ms, np.float64))
    return Spread(
        count=len(ordered),
        p50_ms=round(percentile(ordered, 0.50), 3),
        p95_ms=round(percentile(ordered, 0.95), 3),
        p99_ms=round(percentile(ordered, 0.99), 3),
        max_ms=round(percentile(ordered, 1.0), 3),
    )


def medians(
    rounds: Sequence[Mapping[str, float]], worst: Sequence[str] = (), total: Sequence[str] = ()
) -> dict[str, float]:
    """Field by field the median over rounds; of the fields in ``worst`` the largest, of those in ``total`` the sum."""
    combined: dict[str, float] = {}
    for field in rounds[0]:
        values = [one[field] for one in rounds]
        if field in total:
            combined[field] = sum(values)
        elif field in worst:
            combined[field] = max(values)
        else:
            combined[field] = round(statistics.median(values), 3)
    return combined
