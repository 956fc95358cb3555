"""Times at which open loops send, and what became of each request."""

import numpy as np
import pytest

from loadtest.service.schedule import Outcome, Reply, account, arrivals


def reply(outcome: Outcome, latency_ms: float, late_ms: float = 0.0, *, retry_after: bool = False) -> Reply:
    return Reply(outcome=outcome, latency_ms=latency_ms, late_ms=late_ms, retry_after=retry_after)


def test_arrivals_come_at_the_asked_rate_and_inside_the_time() -> None:
    due_s = arrivals(1_000, 20, seed=1)
    assert len(due_s) == pytest.approx(20_000, rel=0.03)
    assert due_s[0] >= 0
    assert due_s[-1] < 20
    assert (np.diff(due_s) >= 0).all()


def test_gaps_are_as_uneven_as_those_of_callers_who_do_not_know_each_other() -> None:
    gaps = np.diff(arrivals(1_000, 20, seed=2))
    assert np.std(gaps) == pytest.approx(np.mean(gaps), rel=0.05)


def test_the_same_seed_gives_the_same_times_and_another_one_others() -> None:
    assert arrivals(50, 2, seed=3).tolist() == arrivals(50, 2, seed=3).tolist()
    assert arrivals(50, 2, seed=3).tolist() != arrivals(50, 2, seed=4).tolist()


@pytest.mark.parametrize(("rate", "seconds"), [(0, 1), (1, 0), (-1, 1)])
def test_no_rate_and_no_time_are_refused(rate: float, seconds: float) -> None:
    with pytest.raises(ValueError, match="expected more than 0"):
        arrivals(rate, seconds, seed=1)


def test_every_request_is_accounted_for_by_how_it_ended() -> None:
    replies = [
        reply(Outcome.HITS, 10), reply(Outcome.MISS, 20), reply(Outcome.PARTIAL, 900),
        reply(Outcome.REFUSED_429, 1, retry_after=True), reply(Outcome.REFUSED_503, 2), reply(Outcome.TIMED_OUT, 800),
        reply(Outcome.NO_ANSWER, 5_000), reply(Outcome.ERROR, 3),
    ]  # fmt: skip
    found = account(replies, seconds=2.0, budget_ms=850.0)
    assert found["sent_rps"] == 4.0
    assert found["accepted_rps"] == 1.5
    assert found["shares"] == dict.fromkeys((outcome.value for outcome in Outcome), 0.125)
    assert found["accepted"]["count"] == 3
    assert found["accepted"]["max_ms"] == 900
    assert found["refused"] == {"count": 2, "p50_ms": 1, "p95_ms": 2, "p99_ms": 2, "max_ms": 2}
    assert found["refusals_with_retry_after"] == 1
    assert found["inside_budget"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["errors"] == 2


def test_refusals_are_told_with_and_without_what_the_generator_was_late() -> None:
    found = account([reply(Outcome.REFUSED_429, 94, late_ms=90)], seconds=1.0, budget_ms=850.0)
    assert (found["refused"]["p99_ms"], found["refused_from_sent"]["p99_ms"]) == (94.0, 4.0)


def test_where_nothing_was_accepted_no_share_is_inside_the_budget() -> None:
    found = account([reply(Outcome.REFUSED_429, 1)], seconds=1.0, budget_ms=850.0)
    assert found["inside_budget"] is None
    assert found["accepted"]["count"] == 0
