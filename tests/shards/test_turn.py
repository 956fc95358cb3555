"""Whoever waits for a turn gets it before the thread that had it last."""

import threading
import time

import pytest

from shards.turn import Turn


@pytest.mark.parametrize("threads", [1, 4])
def test_a_thread_that_always_wants_the_turn_keeps_nobody_waiting(threads: int) -> None:
    turn = Turn()
    went: list[str] = []

    def patient(name: str) -> None:
        with turn:
            went.append(name)

    others = [threading.Thread(target=patient, args=(f"{number}",)) for number in range(threads)]
    with turn:
        for number, thread in enumerate(others):
            thread.start()
            until_s = time.monotonic() + 20
            while len(turn._line) <= number:
                assert time.monotonic() < until_s
                time.sleep(0.001)
    with turn:
        went.append("greedy")
    for thread in others:
        thread.join()
    assert went == [*(f"{number}" for number in range(threads)), "greedy"]


def test_one_thread_at_a_time_is_inside() -> None:
    turn = Turn()
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turn:
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_fault_inside_ends_the_turn() -> None:
    turn = Turn()

    def fail() -> None:
        with turn:
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail()
