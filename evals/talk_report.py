"""Talk report: what a rule does to requests that are served and to those that are not, as lines of text.

It fits nothing and answers nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from cluster.abstention import SCORE_LIMIT, Strictness, Weights
from evals.metrics import mean
from evals.talk_cases import GROUPS, Case, Group, abstains

CURVE_POINTS: Final = 13
CURVE_END: Final = 0.96
"""Share of the decided requests that the last threshold of the curve turns away."""

_CURVE: Final = tuple(
    group for group in GROUPS if group.catalogue == "hesabix" and group.queries.startswith(("hesabix", "massive"))
)
"""Groups with a column of their own."""


def lines_of(cases: Sequence[Case], weights: Weights) -> Iterator[str]:
    """The share of typed misses of each group at each strictness, then the curve over thresholds."""
    columns = {"off": -SCORE_LIMIT} | {one.value: weights.thresholds[one] for one in Strictness}
    heading = "".join(f"{name:>10}" for name in columns)
    yield f"{'typed misses, %':44}{'n':>5}{heading}   first hit right, yet balanced turns it away"
    for group in sorted(GROUPS, key=lambda one: not one.real):
        if inside := _of(cases, group):
            yield _row(group, inside, weights, list(columns.values()))
    yield f"{'threshold':>12}{'false empty, mean of real sets':>32}" + "".join(f"{group.name:>25}" for group in _CURVE)
    scores = [weights.score(case.signals) for case in cases if case.signals and weights.hears(case.signals)]
    for threshold in np.quantile(scores, np.linspace(0, CURVE_END, CURVE_POINTS)).astype(int).tolist():
        yield _point(cases, weights, threshold)


def _row(group: Group, cases: Sequence[Case], weights: Weights, thresholds: Sequence[int]) -> str:
    cells = "".join(f"{_missed(cases, weights, threshold):>10.1f}" for threshold in thresholds)
    balanced = weights.thresholds[Strictness.BALANCED]
    lost = mean([float(case.right and abstains(case, weights, balanced)) for case in cases]) or 0.0
    label = "real" if group.real else "none"
    return f"{label}  {group.name:38}{len(cases):>5}{cells}" + (f"{100 * lost:>13.1f}" if group.real else "")


def _point(cases: Sequence[Case], weights: Weights, threshold: int) -> str:
    real = [_missed(inside, weights, threshold) for group in GROUPS if group.real and (inside := _of(cases, group))]
    cells = "".join(f"{_missed(_of(cases, group), weights, threshold):>25.1f}" for group in _CURVE)
    return f"{threshold:>12}{mean(real) or 0.0:>32.2f}{cells}"


def _of(cases: Sequence[Case], group: Group) -> list[Case]:
    return [case for case in cases if case.group == group]


def _missed(cases: Sequence[Case], weights: Weights, threshold: int) -> float:
    """Typed misses in percent, answers to which nothing matched included."""
    return 100 * (mean([float(case.signals is None or abstains(case, weights, threshold)) for case in cases]) or 0.0)
