"""A run: every question of a gold set answered by one system, with what each answer said of itself.

It measures nothing; ``evals.report`` turns a run into numbers.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
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
        trimmed: hits within K were left out by a budget, by adaptive K or by an abstention.
        vectors: whether vectors had a part in it, and if not, why; empty for a system that never has any.
        embed_ms: of ``elapsed_ms``, what embedding the question took.
    """

    ranked: tuple[str, ...]
    scores: tuple[int, ...]
    candidates: tuple[str, ...]
    miss: str | None
    exact: bool | None
    elapsed_ms: float
    trimmed: bool = False
    vectors: str = ""
    embed_ms: float = 0.0


class System(Protocol):
    """Something that answers questions from a catalogue it was built with."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What decides its order (ranker, analyzer, embedder, package), each with its id or version."""

    def search(self, question: str) -> Found:
        """Answer one question."""

    def full_ranking(self, question: str) -> tuple[tuple[str, int], ...] | None:
        """(id, score) of everything that matches when nothing is cut, best first.

        None for a system whose scores cannot be compared.
        """

    def hidden(self, ids: Collection[str]) -> Mapping[str, str]:
        """Those of the ids that the questions' caller may not see, with the reason: not authorized, or narrowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A question and its answer; ``parity``: does the exact answer equal the full ranking? None where unchecked."""

    question: Question
    found: Found
    parity: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All outcomes of one system on one gold set, in the order of the questions.

    Attributes:
        k: most ids in an answer.
    """

    system: str
    identity: Mapping[str, str]
    k: int
    tools: int
    joined: int
    unknown_labels: int
    outcomes: tuple[Outcome, ...]


def run_system(system: System, gold: GoldSet, k: int, parity_sample: int, progress: Progress = lambda _: None) -> Run:
    """Ask every question once; check up to ``parity_sample`` exact answers, spread evenly, against the full ranking."""
    checked = _spread(len(gold.questions), parity_sample)
    outcomes = []
    for number, question in enumerate(gold.questions):
        found = system.search(question.text)
        parity = _parity(system, question.text, found, k) if number in checked and found.exact else None
        outcomes.append(Outcome(question=question, found=found, parity=parity))
        progress(1)
    return Run(
        system=system.name,
        identity=system.identity,
        k=k,
        tools=len(gold.tools),
        joined=gold.joined,
        unknown_labels=gold.unknown_labels,
        outcomes=tuple(outcomes),
    )


def _parity(system: System, question: str, found: Found, k: int) -> bool | None:
    """Whether the answer is the start of the full ranking, but for hits that a budget took out of it."""
    reference = system.full_ranking(question)
    if reference is None:
        return None
    best = iter(reference[:k])
    return all(pair in best for pair in zip(found.ranked, found.scores, strict=True)) and (
        found.trimmed or len(found.ranked) == min(k, len(reference))
    )


def _spread(count: int, sample: int) -> Sequence[int] | frozenset[int]:
    """``sample`` of the positions 0..count-1 at even distances, or all of them where there are no more."""
    if sample >= count:
        return range(count)
    return frozenset(step * count // sample for step in range(sample))
