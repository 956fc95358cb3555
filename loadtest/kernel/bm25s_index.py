"""The package bm25s (sparse matrix of precomputed scores) as a contender, with its Numba backend on one thread."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import bm25s
import numpy as np
import numpy.typing as npt

from loadtest.kernel.contender import HITS, Lines, Question, Search, timed
from loadtest.tiers import Share, tiers_in

_DONE: Final = "params.index.json"
"""What bm25s writes last."""


class Bm25sIndex:
    """Texts split at blanks. The filter is its ``weight_mask``: 1 for admitted records, 0 for the others."""

    name = "bm25s"
    at_once = 1

    def __init__(self, lines: Lines, folder: Path) -> None:
        if (folder / _DONE).exists():
            self._index = bm25s.BM25.load(folder)
        else:
            self._index = bm25s.BM25(backend="numba")
            self._index.index(_tokens(lines), show_progress=False)
            self._index.save(folder, show_progress=False)
        tiers = [line.tier for line in lines()]
        self._masks: dict[Share, npt.NDArray[np.float32] | None] = {
            share: np.array([tier in tiers_in(share) for tier in tiers], np.float32) for share in Share
        }
        self._masks[Share.ALL] = None

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        (question,) = questions
        asked, mask = [list(question.terms)], self._masks[share]
        return timed(lambda: self._index.retrieve(asked, k=HITS, show_progress=False, weight_mask=mask, n_threads=1))


def _tokens(lines: Lines) -> Any:  # noqa: ANN401 -- untyped in bm25s
    """Numbers in place of words: a million texts as lists of words would not fit into memory."""
    vocabulary: dict[str, int] = {}
    ids = [
        np.fromiter((vocabulary.setdefault(term, len(vocabulary)) for term in line.text.split()), np.int32)
        for line in lines()
    ]
    return bm25s.tokenization.Tokenized(ids=ids, vocab=vocabulary)
