"""Evaluation: systems side by side on one gold set, with what distinguishes them and what they miss.

It builds, asks and counts; it reads no files, writes none and prints nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from evals.data import GoldSet
from evals.misses import Miss, located, misses_of
from evals.report import Report, report_of
from evals.run import Progress, Run, run_system
from evals.significance import Difference, compare
from evals.systems.setup import Setup
from evals.systems.table import open_system

Steps = Callable[[str, int], AbstractContextManager[Progress]]
"""Opens a step of so many parts under a title, and gives what counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure, and how.

    Attributes:
        systems: names of the table, each once, at least one; the first is compared with each other.
        ks: answer sizes to report, ascending; the last is ``setup.k``.
        cuts: candidate cuts to report, ascending.
        parity: exact answers to compare with a ranking of everything, at most.
        places: whether misses are looked up in the full ranking, for their rank and score.
    """

    systems: tuple[str, ...]
    setup: Setup
    ks: tuple[int, ...]
    cuts: tuple[int, ...]
    parity: int
    places: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One system's part of an evaluation."""

    run: Run
    report: Report
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """All systems in the order asked for, and the ``differences`` of the first from each other, by the other's name."""

    measured: tuple[Measured, ...]
    differences: dict[str, dict[str, Difference]]

    @property
    def reports(self) -> tuple[Report, ...]:
        """The reports alone."""
        return tuple(one.report for one in self.measured)


def evaluate(gold: GoldSet, plan: Plan, steps: Steps) -> Evaluation:
    """Measure every system of the plan, one after the other, so that only one index is in memory.

    Raises:
        NotInstalled: if a system needs a package that is not there.
    """
    measured = tuple(_measured(gold, plan, steps))
    first, *others = [one.run for one in measured]
    return Evaluation(measured=measured, differences={other.system: compare(first, other) for other in others})


def _measured(gold: GoldSet, plan: Plan, steps: Steps) -> Iterator[Measured]:
    known = frozenset(tool.id for tool in gold.tools)
    for name in plan.systems:
        with steps(f"{name}: indexing", len(gold.tools)) as step:
            system = open_system(name, gold.tools, plan.setup, step)
        with steps(f"{name}: queries", len(gold.questions)) as step:
            run = run_system(system, gold, plan.setup.k, plan.parity, step)
        misses: Sequence[Miss] = misses_of(run, system, known)
        if plan.places:
            misses = tuple(located(misses, system))
        yield Measured(run=run, report=report_of(run, misses, plan.ks, plan.cuts), misses=tuple(misses))
