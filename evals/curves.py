"""Curves: a run's recall at every cut, from what it found already. It asks nothing and draws nothing."""

from collections.abc import Iterable, Sequence

from evals.run import Outcome, Run

Curve = list[tuple[int, float]]
"""(cut, share) at rising cuts; empty where no question has a relevant id."""


def recall_by_k(run: Run) -> Curve:
    """Recall of the answers at every K up to the run's."""
    return _curve(run, [one.found.ranked for one in run.outcomes], run.k)


def recall_by_n(run: Run, most: int) -> Curve:
    """Recall of the candidates at every N up to ``most``, at least as long as the longest list."""
    return _curve(run, [one.found.candidates for one in run.outcomes], most)


def longest_list(runs: Iterable[Run]) -> int:
    """The most candidates that any question of any run has."""
    return max((len(one.found.candidates) for run in runs for one in run.outcomes), default=0)


def _curve(run: Run, lists: Sequence[Sequence[str]], most: int) -> Curve:
    """One pass over each list: a share of the relevant ids is gained at the rank of each."""
    gained = [0.0] * (most + 1)
    answerable = 0
    for outcome, ids in zip(run.outcomes, lists, strict=True):
        if outcome.question.relevant:
            answerable += 1
            for rank in _ranks(outcome, ids):
                gained[rank] += 1 / len(outcome.question.relevant)
    if not answerable:
        return []
    total, curve = 0.0, []
    for cut in range(1, most + 1):
        total += gained[cut]
        curve.append((cut, total / answerable))
    return curve


def _ranks(outcome: Outcome, ids: Sequence[str]) -> list[int]:
    return [rank for rank, one in enumerate(ids, start=1) if one in outcome.question.relevant]
