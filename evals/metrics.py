"""Ranking metrics of one query, each with its formula and its empty case.

They know nothing of systems, files or averages over queries (``evals.report`` averages). Relevance is binary.
"""

import math
from collections.abc import Collection, Sequence


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Share of the relevant ids that stand among the first ``k``.

    ``|top_k(ranked) ∩ relevant| / |relevant|``. With more than ``k`` relevant ids the best value is below 1.

    Args:
        ranked: distinct ids, best first.
        relevant: distinct ids; empty gives 0.0, so leave such queries out of an average.
        k: at least 1.
    """
    return len(set(ranked[:k]).intersection(relevant)) / len(relevant) if relevant else 0.0


def hit(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """1.0 if any wanted id stands among the first ``k``, else 0.0; 0.0 too where nothing is wanted.

    Args:
        ranked: distinct ids, best first.
        wanted: relevant and acceptable ids together.
        k: at least 1.
    """
    return float(not set(ranked[:k]).isdisjoint(wanted))


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first ``k`` (Järvelin & Kekäläinen 2002, binary gains).

    ``DCG = Σ 1 / log2(rank + 1)`` over the ranks 1..k that hold a relevant id, divided by the DCG of a ranking that
    starts with all of them. In [0, 1]; 0.0 where nothing is relevant.
    """
    wanted = frozenset(relevant)
    gain = sum(_discount(rank) for rank, item in enumerate(ranked[:k], start=1) if item in wanted)
    ideal = sum(_discount(rank) for rank in range(1, min(k, len(wanted)) + 1))
    return gain / ideal if wanted else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least ``share`` of all values do not exceed (nearest rank); 0.0 for no values.

    Args:
        values: in any order.
        share: in (0, 1].
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, summed without rounding loss; None for no values: an empty class has no rate."""
    return math.fsum(values) / len(values) if values else None


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
