"""A run: every question of a gold set answered by one system, with what each answer said of itself.

It measures nothing; ``evals.report`` turns a run into numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from evals.data import GoldSet, Question

Progress = Callable[[int], None]
"""Called with the number of steps done since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One system's answer to one question.

    Attributes:
        ranked: ids of the answer, best first.
        scores: the score of each of them; empty where the system's scores cannot be compared with a reference.
        candidates: ids that survived the cut, best first; at least all of ``ranked``.
        miss: reason of a typed miss, None where there are hits.
        exact: what the answer claims of itself; None for a system that makes no such claim.
        elapsed_ms: wall time of the whole in-process search.
    """

    ranked: tuple[str, ...]
    scores: tuple[int, ...]
    candidates: tuple[str, ...]
    miss: str | None
    exact: bool | None
    elapsed_ms: float


class System(Protocol):
    """Something that answers questions from a catalogue it was built with."""

    @property
    def name(self) -> str:
        """How reports call it."""

    def search(self, question: str) -> Found:
        """Answer one question."""

    def full_ranking(self, question: str) -> tuple[tuple[str, int], ...] | None:
        """The best (id, score) pairs when everything is ranked without a cut, as many as an answer may hold.

        None for a system that has no such reference.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A question and its answer; ``parity``: does the exact answer equal the full ranking? None where unchecked."""

    question: Question
    found: Found
    parity: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All outcomes of one system on one gold set, in the order of the questions."""

    system: str
    tools: int
    joined: int
    unknown_labels: int
    outcomes: tuple[Outcome, ...]


def run_system(system: System, gold: GoldSet, parity_sample: int, progress: Progress = lambda _: None) -> Run:
    """Ask every question once; check up to ``parity_sample`` exact answers, spread evenly, against the full ranking."""
    checked = _spread(len(gold.questions), parity_sample)
    outcomes = []
    for number, question in enumerate(gold.questions):
        found = system.search(question.text)
        parity = _parity(system, question.text, found) if number in checked and found.exact else None
        outcomes.append(Outcome(question=question, found=found, parity=parity))
        progress(1)
    return Run(
        system=system.name,
        tools=len(gold.tools),
        joined=gold.joined,
        unknown_labels=gold.unknown_labels,
        outcomes=tuple(outcomes),
    )


def _parity(system: System, question: str, found: Found) -> bool | None:
    reference = system.full_ranking(question)
    return None if reference is None else reference == tuple(zip(found.ranked, found.scores, strict=True))


def _spread(count: int, sample: int) -> Sequence[int] | frozenset[int]:
    """``sample`` of the positions 0..count-1 at even distances, or all of them where there are no more."""
    if sample >= count:
        return range(count)
    return frozenset(step * count // sample for step in range(sample))
