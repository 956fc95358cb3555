"""Every plot is a PNG that is drawn from results as they are written."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib")

import loadtest.growth.plot
import loadtest.kernel.plot
import loadtest.memory.plot
import loadtest.service.plot
from loadtest.picture import cumulative, over_time, write_picture
from loadtest.results import Report
from tests.loadtest import reports

Draw = Callable[[Report, Path], tuple[Path, ...]]

WHEN = ("2026-11-30T12:00:00Z", "2026-11-30T12:00:05Z")


class Total:
    num_requests = 4
    num_failures = 1
    response_times: ClassVar = {3: 1, 10: 2, 50: 1}

    def get_response_time_percentile(self, share: float) -> int:
        return 10 if share < 0.9 else 50


class Stats:
    """What Locust keeps of a run."""

    total = Total()
    history: ClassVar = [
        {
            "time": when,
            "current_rps": [when, 5.0],
            "user_count": [when, 2],
            "response_time_percentile_0.5": [when, 3],
            "response_time_percentile_0.95": [when, 9],
        }
        for when in WHEN
    ]


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("draw", "report", "names"),
    [
        (loadtest.kernel.plot.draw, reports.kernel(), {"kernel.png"}),
        (loadtest.service.plot.draw, reports.service(), {"service-closed.png", "service-open.png"}),
        (
            loadtest.growth.plot.draw,
            reports.growth(),
            {"growth-size.png", "growth-shards.png", "growth-clients.png"},
        ),
        (loadtest.memory.plot.draw, reports.memory(), {"memory.png"}),
    ],
    ids=["kernel", "service", "growth", "memory"],
)
def test_results_become_pictures(draw: Draw, report: Report, names: set[str], tmp_path: Path) -> None:
    drawn = draw(report, tmp_path)
    assert {path.name for path in drawn} == names
    assert all(is_png(path) for path in drawn)


def test_growth_without_clients_has_no_plot_of_them(tmp_path: Path) -> None:
    drawn = loadtest.growth.plot.draw({**reports.growth(), "by_clients": []}, tmp_path)
    assert {path.name for path in drawn} == {"growth-size.png", "growth-shards.png"}


def test_a_locust_run_becomes_a_picture(tmp_path: Path) -> None:
    path = write_picture(Stats(), tmp_path / "new" / "report.png")
    assert path is not None
    assert is_png(path)


def test_the_share_that_took_no_longer_rises_to_one() -> None:
    assert cumulative({50: 1, 3: 1, 10: 2}) == [(3, 0.25), (10, 0.75), (50, 1.0)]


def test_times_count_from_the_first_entry() -> None:
    assert over_time(Stats.history, "user_count") == [(0.0, 2.0), (5.0, 2.0)]
