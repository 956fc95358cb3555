"""The package rank_bm25 (Okapi). It brings no tokenizer: words between blanks, in lower case, as its own examples."""

from collections.abc import Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from evals.peers.flat_text import flat_text
from shards.record import Record


class RankBm25Index:
    """Every record is one text."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._ids = [record.id for record in records]
        self._index = BM25Okapi([_words(flat_text(record)) for record in records])

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """See ``Searcher``; equal scores come in the order of the records."""
        scores = np.asarray(self._index.get_scores(_words(query)), np.float64)
        best = np.argsort(-scores, kind="stable")[:n]
        return tuple(self._ids[int(row)] for row in best if scores[row] > 0)


def _words(text: str) -> list[str]:
    return text.lower().split()
