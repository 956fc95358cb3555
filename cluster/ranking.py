"""Ranking: the ranker's order of a pool of rows, and whether it can have missed one.

Pure functions of rows that are there; nothing is asked for here, and no row is scored by the index again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cluster.contract import Doubt, SearchRequest
from cluster.lossless import ranking_is_settled
from cluster.merge import Pool, best_first, priority, winners
from cluster.query import AnalyzedRequest
from cluster.ranker import Candidates, Ranker


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Rows in their final order.

    Attributes:
        rows: the ranked rows, best first by (final score descending, id ascending).
        scores: int64[n_rows], the ranker's scores of these rows.
        candidates: how many rows survived the index cut, ranked or not.
        doubt: why the best ``evidence_k`` rows are not proved to be those of the whole searched set, None if they are.
    """

    rows: Pool
    scores: npt.NDArray[np.int64]
    candidates: int
    doubt: Doubt | None

    def result(self, pinned: Collection[str], k: int) -> tuple[Pool, list[int]]:
        """The rows of the result and their scores, in their order: see ``winners``."""
        chosen = winners(self.rows, self.scores, pinned, k)
        scores = self.scores.tolist()
        return self.rows.rows(chosen), [scores[row] for row in chosen]


def cut_then_ranked(
    ranker: Ranker,
    question: AnalyzedRequest,
    request: SearchRequest,
    pool: Pool,
    *,
    n: int,
    doubt: Doubt | None,
    places: int | None = None,
) -> Ranking:
    """The ranking of a pool that the index has cut to its best ``n`` rows and the kept ones.

    ``places`` are those that have to be proved, ``evidence_k`` of them unless it says another number.
    """
    claims, chosen = _chosen(pool, request, n)
    rows, scores = ordered(ranker, question, pool.rows(chosen))
    # With a bound of 0, final and index scores are equal: the ranked rows hold the best in their order, ties included.
    if doubt is None and ranker.bound != 0:
        k = request.budget.evidence_k if places is None else places
        kth_score = int(scores[k - 1]) if len(scores) >= k else None
        if ranker.bound is None or not ranking_is_settled(kth_score, _best_left_out(pool, chosen, n), ranker.bound):
            doubt = Doubt.RANKER
    return Ranking(rows=rows, scores=scores, candidates=claims, doubt=doubt)


def ranked_then_cut(
    ranker: Ranker, question: AnalyzedRequest, request: SearchRequest, pool: Pool, *, n: int, doubt: Doubt | None
) -> Ranking:
    """The ranking of everything that matches, of which the best ``n`` are candidates: what the index is measured by."""
    rows, scores = ordered(ranker, question, pool)
    claims, chosen = _chosen(rows, request, n)
    return Ranking(rows=rows.rows(chosen), scores=scores[np.array(chosen, np.intp)], candidates=claims, doubt=doubt)


def ordered(ranker: Ranker, question: AnalyzedRequest, rows: Pool) -> tuple[Pool, npt.NDArray[np.int64]]:
    """The rows by the ranker's scores, and these."""
    if ranker.bound == 0:
        # Final and index scores are equal, and the pool is in their order.
        return rows, rows.scores
    candidates = Candidates(values=rows.values, bonuses=rows.bonuses, likenesses=rows.likenesses, weights=rows.weights)
    scores = ranker.rank(question, candidates)
    order = best_first(rows.ids, scores)
    return rows.rows(order), scores[np.asarray(order, dtype=np.intp)]


def _chosen(pool: Pool, request: SearchRequest, n: int) -> tuple[int, list[int]]:
    """How many rows are candidates, and the positions of those that the ranker's ceiling lets through."""
    claims = priority(pool, request.pinned, request.preferred, request.budget.evidence_k)[:n]
    return len(claims), sorted(claims[: request.budget.rerank_k])


def _best_left_out(pool: Pool, chosen: Sequence[int], n: int) -> int | None:
    """Highest index score of a matching record that is not ranked, known or not; None if there is none.

    ``pool`` holds the best ``n`` rows of the searched set and then kept ones, so an unknown record is under the n-th.
    """
    best = max(pool.scores[np.setdiff1d(np.arange(len(pool.ids)), chosen)].tolist(), default=0)
    if pool.matched > int((pool.scores > 0).sum()):
        best = max(best, int(pool.scores[min(n, len(pool.ids)) - 1]) if pool.ids else 0)
    return best or None
