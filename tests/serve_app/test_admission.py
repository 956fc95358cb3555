"""Early refusal: who would wait too long is told so at once, and nobody else is."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, repeat, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.admission import CROWD, KEPT_BACK, Admission, Overloaded

BUDGET_S = 0.8


@dataclass(kw_only=True)
class Replica:
    """A server that answers questions in the order they came, up to ``batch`` of them at once, on a clock of its own.

    Attributes:
        service_s: of one question; a batch takes as long as its questions one by one.
        waits_s: of the questions that were answered.
        refused: when each refusal happened, and how long it told its caller to wait.
    """

    service_s: float
    batch: int = 1
    now_s: float = 0.0
    waits_s: list[float] = field(default_factory=list)
    refused: list[tuple[float, int]] = field(default_factory=list)
    waiting: deque[float] = field(default_factory=deque)
    working: list[float] = field(default_factory=list)
    done_at_s: float = 0.0

    def __post_init__(self) -> None:
        self.admission = Admission(lambda: self.now_s)

    def arrive(self, at_s: float, budget_s: float = BUDGET_S) -> None:
        """One question comes."""
        self.run_until(at_s)
        try:
            self.admission.place(budget_s).__enter__()
        except Overloaded as error:
            self.refused.append((at_s, error.retry_after_s))
            return
        self.waiting.append(at_s)
        self._begin()

    def run_until(self, at_s: float) -> None:
        """Answer whatever is done by then."""
        while self.working and self.done_at_s <= at_s:
            self.now_s = self.done_at_s
            for came_s in self.working:
                self.waits_s.append(self.now_s - came_s)
                self.admission.__exit__(None, None, None)
            self.working = []
            self._begin()
        self.now_s = at_s

    def _begin(self) -> None:
        if not self.working and self.waiting:
            self.working = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
            self.done_at_s = self.now_s + len(self.working) * self.service_s


def every(period_s: float, until_s: float, start_s: float = 0.0) -> Iterator[float]:
    return takewhile(lambda at_s: at_s < until_s, count(start_s, period_s))


def closed_loop(replica: Replica, clients: int, until_s: float) -> None:
    """``clients`` that each ask again as soon as they are answered."""
    free: Iterable[int] = range(clients)
    while replica.now_s < until_s:
        answered = len(replica.waits_s)
        for _ in free:
            replica.arrive(replica.now_s)
        replica.run_until(max(replica.done_at_s, replica.now_s))
        free = range(len(replica.waits_s) - answered)


@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("overload", [1.5, 5.0])
def test_under_overload_the_accepted_stay_inside_their_budget_and_the_replica_stays_busy(
    batch: int, overload: float
) -> None:
    replica = Replica(service_s=0.002, batch=batch)
    for at_s in every(0.002 / overload, until_s=20):
        replica.arrive(at_s)
    assert replica.refused
    # Nothing is known before the first answers; what comes later is judged by them.
    late = [wait_s for wait_s in replica.waits_s if wait_s > BUDGET_S]
    assert len(late) <= 0.005 * len(replica.waits_s)
    assert len(replica.waits_s) >= 0.9 * 20 / 0.002


def test_a_replica_that_keeps_up_refuses_nobody() -> None:
    replica = Replica(service_s=0.002, batch=64)
    for at_s in every(0.0021, until_s=10):
        replica.arrive(at_s)
    assert replica.refused == []


@pytest.mark.parametrize("clients", [1, 10, 50, 100])
def test_a_closed_loop_that_fits_the_budget_is_never_refused(clients: int) -> None:
    replica = Replica(service_s=0.004, batch=64)
    closed_loop(replica, clients, until_s=5)
    assert replica.refused == []
    assert max(replica.waits_s) < BUDGET_S


def test_a_burst_out_of_silence_is_let_in() -> None:
    replica = Replica(service_s=0.05)
    for at_s in every(0.5, until_s=5):
        replica.arrive(at_s)
    for at_s in repeat(6.0, 100):
        replica.arrive(at_s)
    assert replica.refused == []


def test_after_a_bad_time_questions_are_let_in_again_within_seconds() -> None:
    replica = Replica(service_s=0.1)
    for at_s in every(0.01, until_s=5):
        replica.arrive(at_s)
    assert replica.refused
    replica.service_s = 0.001
    for at_s in every(0.01, until_s=20, start_s=5):
        replica.arrive(at_s)
    assert max(at_s for at_s, _ in replica.refused) < 10


def test_who_has_less_time_is_refused_sooner() -> None:
    replica = Replica(service_s=0.01)
    for at_s in every(0.005, until_s=0.5):
        replica.arrive(at_s, budget_s=10)
    wait_s = replica.admission.wait_s()
    assert wait_s == pytest.approx((replica.admission.at_work + 1) * 0.01, rel=0.05)
    replica.admission.check(wait_s / (1 - KEPT_BACK) + 0.01)
    with pytest.raises(Overloaded):
        replica.admission.check(wait_s / (1 - KEPT_BACK) - 0.01)


def test_a_refusal_says_in_whole_seconds_when_to_come_again() -> None:
    replica = Replica(service_s=0.1)
    for at_s in every(0.01, until_s=3):
        replica.arrive(at_s, budget_s=60)
    with pytest.raises(Overloaded) as refusal:
        replica.admission.check(0.001)
    assert refusal.value.retry_after_s == pytest.approx(replica.admission.wait_s(), abs=1)
    assert refusal.value.retry_after_s > 20
    with pytest.raises(Overloaded) as refusal:
        replica.admission.check(replica.admission.wait_s())
    assert refusal.value.retry_after_s == 1


def test_a_question_whose_time_is_over_is_left_to_the_search() -> None:
    replica = Replica(service_s=0.1)
    for at_s in every(0.01, until_s=3):
        replica.arrive(at_s)
    replica.admission.check(0.0)
    replica.admission.check(-1.0)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 5)), max_size=200), st.floats(0.0001, 10))
def test_fewer_than_a_crowd_are_never_refused(steps: list[tuple[bool, float]], remaining_s: float) -> None:
    now_s = 0.0
    admission = Admission(lambda: now_s)
    for comes, later_s in steps:
        now_s += later_s
        if comes:
            admission.__enter__()
        elif admission.at_work:
            admission.__exit__(None, None, None)
        assert admission.wait_s() >= 0
        if admission.at_work < CROWD:
            admission.check(remaining_s)
