"""Whoever waits for a turn gets it before the thread that had it last."""

import threading
import time

import pytest

from shards.turn import Turn


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_that_always_want_the_turn_keep_nobody_waiting(threads: int) -> None:
    turn, ends = Turn(), threading.Event()
    rounds = 0

    def greedy() -> None:
        nonlocal rounds
        while not ends.is_set():
            with turn:
                rounds += 1
                time.sleep(0.001)

    others = [threading.Thread(target=greedy) for _ in range(threads)]
    for thread in others:
        thread.start()
    try:
        waited = []
        for _ in range(20):
            before = rounds
            with turn:
                waited.append(rounds - before)
        # Those before it in the line, and the one whose turn it was.
        assert max(waited) <= threads + 1
    finally:
        ends.set()
        for thread in others:
            thread.join()


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
