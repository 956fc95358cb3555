"""Early refusal: who would wait too long is told so at once, and nobody else is."""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, repeat, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.config import load_settings
from serve_app.admission import CROWD, FILLED, KEPT_BACK, MEMORY_S, Admission, Overloaded
from serve_app.haproxy import ROOM_MS

BUDGET_S = 0.8

HTTP = load_settings(None).http
WALL = HTTP.max_ongoing_requests + HTTP.max_queued_requests
"""Requests that the proxy lets into one replica and its queue at the same time."""


@dataclass(kw_only=True)
class Replica:
    """A server that answers questions in the order they came, up to ``batch`` of them at once, on a clock of its own.

    Attributes:
        service_s: of one question; a batch takes as long as its questions one by one.
        stalls: times, from and until, in which nothing moves.
        wall: questions that are let near it at the same time; more are turned away before they are seen, as are those
            for whom it has told that there is no room.
        waits_s: of the questions that were answered.
        refused: when each refusal happened, and how long it told its caller to wait.
    """

    service_s: float
    batch: int = 1
    stalls: tuple[tuple[float, float], ...] = ()
    wall: int | None = None
    now_s: float = 0.0
    waits_s: list[float] = field(default_factory=list)
    refused: list[tuple[float, int]] = field(default_factory=list)
    turned_away: int = 0
    waiting: deque[float] = field(default_factory=deque)
    working: list[float] = field(default_factory=list)
    done_at_s: float = 0.0
    told: tuple[float, int] = (-math.inf, 0)

    def __post_init__(self) -> None:
        self.admission = Admission(lambda: self.now_s, BUDGET_S)

    def arrive(self, at_s: float, budget_s: float = BUDGET_S) -> None:
        """One question comes."""
        self.run_until(at_s)
        if len(self.waiting) + len(self.working) >= self._let_in():
            self.turned_away += 1
            return
        try:
            self.admission.place(budget_s).__enter__()
        except Overloaded as error:
            self.refused.append((at_s, error.retry_after_s))
            self._tell(error.room)
            return
        self.waiting.append(at_s)
        self._begin()

    def _let_in(self) -> float:
        """Questions that the proxy lets near it now."""
        told_s, room = self.told
        fresh = self.now_s - told_s < ROOM_MS / 1000
        return min(math.inf if self.wall is None else self.wall, room if fresh else math.inf)

    def _tell(self, room: int | None) -> None:
        if room is not None:
            self.told = self.now_s, room

    def run_until(self, at_s: float) -> None:
        """Answer whatever is done by then."""
        while self.working and self.done_at_s <= at_s:
            self.now_s = self.done_at_s
            for came_s in self.working:
                self.waits_s.append(self.now_s - came_s)
                self.admission.__exit__(None, None, None)
                self._tell(self.admission.room())
            self.working = []
            self._begin()
        self.now_s = at_s

    def _begin(self) -> None:
        if not self.working and self.waiting:
            self.working = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
            self.done_at_s = self.now_s + len(self.working) * self.service_s
            for from_s, until_s in self.stalls:
                if from_s < self.done_at_s and self.now_s < until_s:
                    self.done_at_s += until_s - max(from_s, self.now_s)


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
@pytest.mark.parametrize("service_s", [0.001, 0.002])
def test_under_overload_the_accepted_stay_inside_their_budget_and_the_replica_stays_busy(
    service_s: float, batch: int, overload: float
) -> None:
    replica = Replica(service_s=service_s, batch=batch, wall=WALL)
    for at_s in every(service_s / overload, until_s=20):
        replica.arrive(at_s)
    assert replica.refused or replica.turned_away
    # Nothing is known before the first answers; what comes later is judged by them.
    late = [wait_s for wait_s in replica.waits_s if wait_s > BUDGET_S]
    assert len(late) <= 0.005 * len(replica.waits_s)
    assert len(replica.waits_s) >= 0.9 * 20 / service_s


@pytest.mark.parametrize(("service_s", "batch"), [(0.004, 1), (0.004, 64), (0.01, 16)])
def test_where_the_wall_is_too_wide_for_a_slow_replica_only_those_who_filled_it_at_first_are_late(
    service_s: float, batch: int
) -> None:
    replica = Replica(service_s=service_s, batch=batch, wall=WALL)
    for at_s in every(service_s / 5, until_s=4):
        replica.arrive(at_s)
    assert sum(wait_s > BUDGET_S for wait_s in replica.waits_s) <= WALL
    replica.waits_s.clear()
    for at_s in every(service_s / 5, until_s=20, start_s=4):
        replica.arrive(at_s)
    assert max(replica.waits_s) <= BUDGET_S
    assert len(replica.waits_s) >= 0.9 * 16 / service_s


@pytest.mark.parametrize("service_s", [0.002, 0.01])
def test_where_nothing_stands_before_it_a_replica_learns_by_itself_how_much_it_can_do(service_s: float) -> None:
    replica = Replica(service_s=service_s)
    for at_s in every(service_s / 5, until_s=20):
        replica.arrive(at_s)
    late = [wait_s for wait_s in replica.waits_s if wait_s > BUDGET_S]
    assert len(late) <= 0.005 * len(replica.waits_s)
    assert len(replica.waits_s) >= 0.9 * 20 / service_s


@pytest.mark.parametrize("stall_s", [0.3, 0.6])
def test_a_stall_amid_overload_makes_only_those_late_that_were_in_it(stall_s: float) -> None:
    replica = Replica(service_s=0.002, batch=64, wall=WALL, stalls=((5.0, 5.0 + stall_s),))
    for at_s in every(0.0004, until_s=20):
        replica.arrive(at_s)
    late = [wait_s for wait_s in replica.waits_s if wait_s > BUDGET_S]
    assert len(late) <= WALL
    assert len(replica.waits_s) >= 0.9 * (20 - stall_s) / 0.002


def test_a_replica_that_keeps_up_refuses_nobody() -> None:
    replica = Replica(service_s=0.002, batch=64)
    for at_s in every(0.0021, until_s=10):
        replica.arrive(at_s)
    assert (replica.refused, replica.turned_away) == ([], 0)


@pytest.mark.parametrize("clients", [1, 10, 50, 100])
@pytest.mark.parametrize("service_s", [0.002, 0.004])
@pytest.mark.parametrize("batch", [1, 8, 64, 100])
def test_a_closed_loop_that_fits_the_budget_is_never_refused(clients: int, service_s: float, batch: int) -> None:
    replica = Replica(service_s=service_s, batch=batch)
    closed_loop(replica, clients, until_s=5)
    assert (replica.refused, replica.turned_away) == ([], 0)
    assert max(replica.waits_s) < BUDGET_S


@pytest.mark.parametrize("batch", [1, 8, 64, 100])
@pytest.mark.parametrize("service_s", [0.002, 0.004])
@pytest.mark.parametrize("stalls", [((0.0, 0.5),), ((0.0, 0.25), (0.252, 0.5)), ((0.0, 0.25), (0.4, 0.6), (1.0, 1.2))])
def test_a_hundred_callers_at_once_are_let_in_however_cold_the_start(
    batch: int, service_s: float, stalls: tuple[tuple[float, float], ...]
) -> None:
    replica = Replica(service_s=service_s, batch=batch, stalls=stalls)
    closed_loop(replica, 100, until_s=4)
    assert (replica.refused, replica.turned_away) == ([], 0)


@pytest.mark.parametrize("pause_s", [0.5, 2.0, 4.0, 8.0, 16.0])
def test_a_hundred_callers_who_come_back_after_a_pause_are_let_in(pause_s: float) -> None:
    replica = Replica(service_s=0.004, batch=64)
    for _ in range(6):
        closed_loop(replica, 100, until_s=replica.now_s + 1.5)
        replica.run_until(replica.now_s + 0.5 + pause_s)
        # Theirs is the first batch again: one question, then all that came meanwhile.
    assert (replica.refused, replica.turned_away) == ([], 0)


@pytest.mark.parametrize("stall_s", [0.1, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("service_s", [0.0024, 0.004])
def test_after_a_stall_a_hundred_callers_are_let_in(stall_s: float, service_s: float) -> None:
    replica = Replica(service_s=service_s, batch=64, stalls=((3.0, 3.0 + stall_s),))
    closed_loop(replica, 100, until_s=6)
    assert (replica.refused, replica.turned_away) == ([], 0)


def test_a_burst_out_of_silence_is_let_in() -> None:
    replica = Replica(service_s=0.05)
    for at_s in every(0.5, until_s=5):
        replica.arrive(at_s)
    for at_s in repeat(6.0, 100):
        replica.arrive(at_s)
    assert (replica.refused, replica.turned_away) == ([], 0)


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


def test_a_refusal_says_how_many_can_be_at_work_for_the_longest_budget_whoever_is_refused() -> None:
    replica = Replica(service_s=0.01)
    for at_s in every(0.002, until_s=3):
        replica.arrive(at_s)
    rooms = []
    for left_s in (0.0, 0.001, 0.1):
        with pytest.raises(Overloaded) as refusal:
            replica.admission.check(left_s)
        rooms.append(refusal.value.room)
    assert rooms == [pytest.approx(BUDGET_S * FILLED / 0.01, rel=0.1)] * 3


@pytest.mark.parametrize("batch", [1, 32, 64])
@pytest.mark.parametrize("service_s", [0.001, 0.002, 0.004, 0.01])
def test_a_busy_replica_says_its_room_with_every_answer_and_so_refuses_hardly_anybody_itself(
    service_s: float, batch: int
) -> None:
    replica = Replica(service_s=service_s, batch=batch, wall=WALL)
    for at_s in every(service_s / 5, until_s=2):
        replica.arrive(at_s)
    replica.refused.clear()
    replica.turned_away = 0
    for at_s in every(service_s / 5, until_s=12, start_s=2):
        replica.arrive(at_s)
    assert len(replica.refused) <= 0.002 * replica.turned_away


@pytest.mark.parametrize("left_s", [0.0, 0.01])
def test_room_is_told_with_answers_from_a_refusal_on_until_the_crowd_has_gone(left_s: float) -> None:
    replica = Replica(service_s=0.01)
    for at_s in every(0.005, until_s=0.4):
        replica.arrive(at_s)
    assert replica.admission.wait_s() > left_s
    assert replica.admission.room() is None
    with pytest.raises(Overloaded):
        replica.admission.check(left_s)
    assert replica.admission.room() == pytest.approx(BUDGET_S * FILLED / 0.01, rel=0.1)
    for at_s in every(0.01, until_s=5 * MEMORY_S, start_s=0.4):
        replica.arrive(at_s)
    assert replica.admission.at_work * 2 >= (replica.admission.room() or math.inf)
    replica.run_until(6 * MEMORY_S)
    closed_loop(replica, CROWD + 1, until_s=8 * MEMORY_S)
    assert replica.admission.room() is None


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


def test_a_question_whose_time_went_by_after_it_arrived_is_left_to_the_search() -> None:
    replica = Replica(service_s=0.1)
    for at_s in every(0.01, until_s=3):
        replica.arrive(at_s)
    for left_s in (0.0, -1.0):
        with replica.admission.place(left_s):
            pass


def test_a_question_that_comes_from_the_proxy_without_any_time_left_is_refused_at_once() -> None:
    admission = Admission(lambda: 0.0, BUDGET_S)
    for left_s in (0.0, -0.1):
        with pytest.raises(Overloaded) as refusal:
            admission.check(left_s)
        assert (refusal.value.retry_after_s, refusal.value.room) == (1, None)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 5)), max_size=200), st.floats(0.0001, 10))
def test_fewer_than_a_crowd_are_never_refused(steps: list[tuple[bool, float]], remaining_s: float) -> None:
    now_s = 0.0
    admission = Admission(lambda: now_s, BUDGET_S)
    for comes, later_s in steps:
        now_s += later_s
        if comes:
            admission.__enter__()
        elif admission.at_work:
            admission.__exit__(None, None, None)
        assert admission.wait_s() >= 0
        if admission.at_work < CROWD:
            admission.check(remaining_s)
