"""A clock that moves only while all wait: stories with time-outs take no time, and no pause of the machine is in them.

It is for what runs on one event loop. A thread or another process has no part in the clock: ``for_threads_s`` says how
long the machine waits for it, in real time, before the clock moves on.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from cluster.budget import Deadline

Told = TypeVar("Told")


class Sleeper(selectors.SelectSelector):
    """A selector that does not wait: it moves the clock. Where no timer runs it waits, for a thread."""

    now_s = 1000.0
    for_threads_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        ready = super().select(self.for_threads_s if timeout > 0 else 0)
        if not ready:
            self.now_s += max(0.0, timeout)
        return ready


class QuickLoop(asyncio.SelectorEventLoop):
    """An event loop on which sleeping takes no time."""

    def __init__(self, for_threads_s: float = 0.0) -> None:
        self.sleeper = Sleeper()
        self.sleeper.for_threads_s = for_threads_s
        super().__init__(self.sleeper)

    def time(self) -> float:
        return self.sleeper.now_s


def run_quickly(story: Coroutine[Any, Any, Told], *, for_threads_s: float = 0.0) -> Told:
    """What ``asyncio.run`` gives, on a quick loop."""
    with asyncio.Runner(loop_factory=partial(QuickLoop, for_threads_s)) as runner:
        return runner.run(story)


def deadline_after(timeout_ms: float) -> Deadline:
    """A deadline on the clock of the running loop."""
    clock = asyncio.get_running_loop().time
    return Deadline.of(clock(), timeout_ms / 1000, clock)
