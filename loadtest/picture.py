"""Picture: a PNG of a Locust run, beside its HTML and CSV; nothing where matplotlib is not installed.

Locust keeps the figures; this only draws them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from loadtest.figures import can_draw, line, saved, sheet

History = Sequence[Mapping[str, Any]]
"""Locust's: a ``time``, and (time, value) pairs by name, every five seconds."""


def write_picture(stats: Any, path: Path) -> Path | None:  # noqa: ANN401 -- Locust is untyped
    """Rate, users and latency over the run, and which share of requests took no longer; None where nothing came of it.

    Args:
        stats: the ``RequestStats`` of a run.
        path: of the PNG.
    """
    if not can_draw() or not stats.total.num_requests:
        return None
    total, history = stats.total, stats.history
    p50, p95 = (total.get_response_time_percentile(share) for share in (0.5, 0.95))
    heading = f"{total.num_requests:,} requests, {total.num_failures:,} failures, p50 {p50:,.0f} ms, p95 {p95:,.0f} ms"
    figure, plots = sheet(("over the run", "latency of the last 10 s, ms", "share that took no longer"), heading)
    line(plots[0], 0, "requests a second", over_time(history, "current_rps"))
    line(plots[0], 1, "users", over_time(history, "user_count"))
    line(plots[1], 2, "p50", over_time(history, "response_time_percentile_0.5"))
    line(plots[1], 3, "p95", over_time(history, "response_time_percentile_0.95"))
    line(plots[2], 4, "requests", cumulative(total.response_times))
    plots[2].set_xscale("log")
    plots[2].set_xlim(left=1)
    plots[2].set_xlabel("ms")
    for axes in plots[:2]:
        axes.set_xlabel("seconds")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, fontsize=8)
    return saved(figure, path, legend=False)


def cumulative(counts: Mapping[float, int]) -> list[tuple[float, float]]:
    """(latency, share of requests that took no longer) of counts by latency, ascending."""
    total, so_far = sum(counts.values()), 0
    found = []
    for latency in sorted(counts):
        so_far += counts[latency]
        found.append((latency, so_far / total))
    return found


def over_time(history: History, name: str) -> list[tuple[float, float]]:
    """(seconds since the first entry, value) of one series."""
    times = [datetime.fromisoformat(one["time"]) for one in history]
    return [((time - times[0]).total_seconds(), float(one[name][1])) for time, one in zip(times, history, strict=True)]
