"""Ratios between systems of one run, and which of them have fallen since the committed one."""

from copy import deepcopy

import pytest

from loadtest.ratios import GUARDED, OF_DRESSED, P50_ALONE, compared
from tests.loadtest.reports import service


def test_a_ratio_is_the_median_of_those_of_each_round() -> None:
    systems = deepcopy(service()["systems"])
    systems["shortlist"]["100"]["rounds_rps"] = [100, 300, 200]
    systems["dressed"]["100"]["rounds_rps"] = [400, 400, 250]
    assert OF_DRESSED.of(systems) == 0.75


def test_a_system_that_was_not_measured_has_no_ratio() -> None:
    systems = {"shortlist": service()["systems"]["shortlist"]}
    assert OF_DRESSED.of(systems) is None


def test_equal_runs_have_not_fallen() -> None:
    systems = service()["systems"]
    assert len(GUARDED) == len(compared(systems, systems))
    assert not any(one.fell for one in compared(systems, systems))


@pytest.mark.parametrize(("rate", "fell"), [(1_500, False), (1_201, False), (1_199, True), (3_000, False)])
def test_a_ratio_falls_when_it_is_worse_by_more_than_a_fifth(rate: float, fell: bool) -> None:  # noqa: FBT001
    now = deepcopy(service()["systems"])
    now["shortlist"]["100"]["rounds_rps"] = [rate] * 3
    found = {one.name: one.fell for one in compared(service()["systems"], now)}
    assert found[OF_DRESSED.name] is fell
    assert found[P50_ALONE.name] is False


def test_a_slower_machine_is_no_fall() -> None:
    now = deepcopy(service()["systems"])
    for levels in now.values():
        for figures in levels.values():
            figures["rounds_rps"] = [rps / 3 for rps in figures["rounds_rps"]]
            figures["rounds_p50_ms"] = [ms * 3 for ms in figures["rounds_p50_ms"]]
    assert not any(one.fell for one in compared(service()["systems"], now))


def test_a_ratio_that_is_gone_has_fallen_and_one_that_was_never_there_has_not() -> None:
    systems = service()["systems"]
    without = {name: levels for name, levels in systems.items() if name != "naive"}
    assert [one.name for one in compared(systems, without) if one.fell] == ["throughput at 100 clients / naive"]
    assert not any(one.fell for one in compared(without, systems))
