"""A plain BM25 index over one flat field: the yardstick that shortlist is measured against, never served.

It shares the analyzer with the product, and nothing else: float weights, corpus averages, no scopes.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from evals.peers.flat_text import flat_text
from evals.run import Progress
from shards.analyzer import analyze_query, terms_of
from shards.record import Record

K1: Final = 1.5
B: Final = 0.75


class Bm25Index:
    """BM25 (Robertson & Zaragoza 2009, eq. 3.15) with idf ``ln(1 + (N - df + 0.5) / (df + 0.5))``.

    The flat field is that of ``evals.peers.flat_text``.
    """

    def __init__(self, records: Sequence[Record], progress: Progress = lambda _: None) -> None:
        # Rows in id order: a stable sort by score then breaks ties by id, as the product does.
        ordered = sorted(records, key=lambda record: record.id)
        self._ids = [record.id for record in ordered]
        lengths = np.zeros(len(ordered), np.float64)
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, record in enumerate(ordered):
            counts = Counter(terms_of(flat_text(record)))
            lengths[row] = counts.total()
            for term, count in counts.items():
                postings.setdefault(term, []).append((row, count))
            progress(1)
        average = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
        self._norms = K1 * (1 - B + B * lengths / average)
        self._postings = {term: np.array(pairs, np.int32) for term, pairs in postings.items()}

    def search(self, query: str, k: int) -> tuple[str, ...]:
        """The best ``k`` ids by (score descending, id ascending); only records that hold a query term."""
        scores = np.zeros(len(self._ids), np.float64)
        for term in analyze_query(query).terms:
            if (pairs := self._postings.get(term)) is not None:
                scores[pairs[:, 0]] += self._gains(pairs)
        best = _best_rows(scores, k)
        return tuple(self._ids[row] for row in best)

    def _gains(self, pairs: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """float64[n_postings]: what one term adds to each of its records."""
        rows, counts = pairs[:, 0], pairs[:, 1].astype(np.float64)
        frequency = len(pairs)
        idf = math.log1p((len(self._ids) - frequency + 0.5) / (frequency + 0.5))
        gains: npt.NDArray[np.float64] = idf * counts * (K1 + 1) / (counts + self._norms[rows])
        return gains


def _best_rows(scores: npt.NDArray[np.float64], k: int) -> list[int]:
    matched = np.flatnonzero(scores > 0)
    if len(matched) > k:
        kth = np.partition(scores[matched], len(matched) - k)[len(matched) - k]
        matched = matched[scores[matched] >= kth]
    order = np.argsort(-scores[matched], kind="stable")[:k]
    return [int(row) for row in matched[order]]
