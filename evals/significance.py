"""Significance: how sure a difference between two systems on the same questions is.

Paired throughout: only the differences per question count. It knows metrics, and neither files nor tables.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypedDict

import numpy as np
import numpy.typing as npt

from evals.metrics import hit, ndcg, recall
from evals.run import Outcome, Run

SEED: Final = 20_260
RESAMPLES: Final = 10_000
"""Draws of the bootstrap, and sign flips where they are drawn at all."""

EXACT_LIMIT: Final = 100_000
"""Sums of flipped differences that are enumerated; where there are more, ``RESAMPLES`` are drawn."""

_PARTS: Final = 20

_DIGITS: Final = 9
"""Differences are compared after rounding: 2/3 - 1/3 and 1/3 are the same one."""

_MEASURES: Final[dict[str, Callable[[Outcome], float]]] = {
    "recall@5": lambda one: recall(one.found.ranked, one.question.relevant, 5),
    "hit@5": lambda one: hit(one.found.ranked, one.question.wanted, 5),
    "ndcg@10": lambda one: ndcg(one.found.ranked, one.question.relevant, 10),
}


class Difference(TypedDict):
    """The first system less another one, on one measure, over the questions with a relevant id.

    ``low`` and ``high`` bound the mean difference with 95 % (paired percentile bootstrap, Efron & Tibshirani 1993,
    ch. 13); ``p`` is two-sided, of flipping the signs of the differences (Fisher's randomisation test; Smucker et al.
    2007), ``exact`` if every flip was counted. ``better``, ``equal`` and ``worse`` count questions.
    """

    mean: float
    low: float
    high: float
    p: float
    exact: bool
    better: int
    equal: int
    worse: int


def compare(first: Run, other: Run) -> dict[str, Difference]:
    """Every measure of two runs over the same questions; empty where no question has a relevant id."""
    pairs = [pair for pair in zip(first.outcomes, other.outcomes, strict=True) if pair[0].question.relevant]
    if not pairs:
        return {}
    return {name: difference([of(one) - of(two) for one, two in pairs]) for name, of in _MEASURES.items()}


def difference(values: Sequence[float], seed: int = SEED) -> Difference:
    """What at least one paired difference says; equal input gives equal output."""
    rounded = [round(value, _DIGITS) for value in values]
    low, high = bootstrap_interval(rounded, seed)
    p, exact = sign_flip_p(rounded, seed)
    return Difference(
        mean=math.fsum(rounded) / len(rounded),
        low=low,
        high=high,
        p=p,
        exact=exact,
        better=sum(value > 0 for value in rounded),
        equal=sum(value == 0 for value in rounded),
        worse=sum(value < 0 for value in rounded),
    )


def bootstrap_interval(values: Sequence[float], seed: int = SEED) -> tuple[float, float]:
    """The 2.5 and 97.5 % percentiles of the mean of resampled values.

    Resampling n values with replacement is drawing how often each distinct value occurs, which is far cheaper.
    """
    counts = Counter(values)
    distinct = np.array(sorted(counts), np.float64)
    shares = np.array([counts[value] for value in sorted(counts)], np.float64) / len(values)
    rng = np.random.default_rng(seed)
    # In parts: with as many distinct values as questions the draws of all would take gigabytes.
    drawn = [rng.multinomial(len(values), shares, size=RESAMPLES // _PARTS) @ distinct for _ in range(_PARTS)]
    low, high = np.percentile(np.concatenate(drawn) / len(values), (2.5, 97.5))
    return float(low), float(high)


def sign_flip_p(values: Sequence[float], seed: int = SEED) -> tuple[float, bool]:
    """How often random signs give a sum at least as far from 0, and whether that was counted exactly.

    Values of one size are exchangeable, so c of them give only c + 1 sums, binomially distributed; of differences that
    are all 1, 0 and -1 this is the exact sign test.
    """
    sizes = Counter(abs(value) for value in values if value)
    observed = abs(math.fsum(values))
    if math.prod(count + 1 for count in sizes.values()) <= EXACT_LIMIT:
        return min(1.0, math.fsum(p for total, p in _flips(sizes) if _at_least(total, observed))), True
    rng = np.random.default_rng(seed)
    totals: npt.NDArray[np.float64] = np.zeros(RESAMPLES, np.float64)
    for size, count in sizes.items():
        totals += size * (2 * rng.binomial(count, 0.5, RESAMPLES) - count)
    extreme = int(np.count_nonzero(np.abs(totals) >= observed - 10**-_DIGITS))
    # The observed signs are one of the flips: without them p could be 0, which no sample can show.
    return (extreme + 1) / (RESAMPLES + 1), False


def _flips(sizes: Counter[float]) -> Iterator[tuple[float, float]]:
    """Every (sum, probability) of flipped signs."""
    sums = [(0.0, 1.0)]
    for size, count in sizes.items():
        steps = [(size * (2 * up - count), _binomial(count, up)) for up in range(count + 1)]
        sums = [(total + step, p * chance) for total, p in sums for step, chance in steps]
    yield from sums


def _binomial(count: int, up: int) -> float:
    """The chance of ``up`` heads in ``count`` throws; by logarithms, as coefficients grow to thousands of digits."""
    ways = math.lgamma(count + 1) - math.lgamma(up + 1) - math.lgamma(count - up + 1)
    return math.exp(ways - count * math.log(2))


def _at_least(total: float, observed: float) -> bool:
    return abs(total) >= observed - 10**-_DIGITS
