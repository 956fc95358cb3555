"""The package bm25s with its own defaults: Lucene's formula, its English tokenizer and stop words, no stemmer."""

from collections.abc import Sequence

import bm25s

from evals.peers.flat_text import flat_text
from shards.record import Record


class Bm25sIndex:
    """Texts as its documentation indexes them; every record is one text."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._ids = [record.id for record in records]
        self._index = bm25s.BM25()
        self._index.index(_tokens([flat_text(record) for record in records]), show_progress=False)

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """See ``Searcher``; it fills up with records that match nothing, which are left out."""
        found = self._index.retrieve(_tokens([query]), k=min(n, len(self._ids)), show_progress=False)
        pairs = zip(found.documents[0], found.scores[0], strict=True)
        return tuple(self._ids[int(row)] for row, score in pairs if score > 0)


def _tokens(texts: list[str]) -> object:
    return bm25s.tokenize(texts, stopwords="en", show_progress=False)
