"""Measured: the CPU time of a query, contender by contender and share by share, the shares taking turns."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from loadtest.kernel.contender import Contender, Question
from loadtest.spread import percentile
from loadtest.tiers import Share

WARM: Final = 10
"""Searches of each share that are not counted."""

MOST_S: Final = 4.0
"""A share is left after so much CPU time in one round, if at least ``FEWEST`` questions were asked."""

FEWEST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """CPU per query of one contender over one share.

    Attributes:
        rounds_ms: mean of each round, in the order they ran.
        p50_ms: over all searches.
        p95_ms: over all searches.
        searches: how many were counted.
    """

    contender: str
    records: int
    share: str
    rounds_ms: tuple[float, ...]
    p50_ms: float
    p95_ms: float
    searches: int

    @property
    def cpu_ms(self) -> float:
        """The median over rounds of the mean."""
        return float(np.median(self.rounds_ms))


def measure(contender: Contender, records: int, questions: Sequence[Question], rounds: int) -> Iterator[Point]:
    """One point for each share. Every round asks other questions; all contenders are asked the same ones."""
    each = len(questions) // rounds
    for share in Share:
        for asked in _calls(contender, questions[:WARM]):
            contender.prepared(asked, share)()
        means, every = [], []
        for number in range(rounds):
            taken = list(_taken(contender, share, questions[number * each : (number + 1) * each]))
            means.append(1_000 * float(np.mean(taken)))
            every += taken
        ordered = 1_000 * np.sort(every)
        yield Point(
            contender=contender.name,
            records=records,
            share=share.value,
            rounds_ms=tuple(round(mean, 4) for mean in means),
            p50_ms=round(percentile(ordered, 0.50), 4),
            p95_ms=round(percentile(ordered, 0.95), 4),
            searches=len(every),
        )


def _taken(contender: Contender, share: Share, questions: Sequence[Question]) -> Iterator[float]:
    """CPU seconds of each question; those of one call took the same."""
    began_s, taken = time.process_time(), 0
    for asked in _calls(contender, questions):
        if taken >= FEWEST and time.process_time() - began_s > MOST_S:
            return
        taken += len(asked)
        yield from [contender.prepared(asked, share)() / len(asked)] * len(asked)


def _calls(contender: Contender, questions: Sequence[Question]) -> Iterator[Sequence[Question]]:
    return (questions[start : start + contender.at_once] for start in range(0, len(questions), contender.at_once))
