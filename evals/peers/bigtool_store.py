"""langgraph-bigtool's retrieval: a LangGraph store in memory, searched by the function that it gives an agent.

It ranks by embeddings only, so it gets one of our offline models; without one it would return tools in no order.
"""

from collections.abc import Sequence
from typing import Final

from langgraph.store.memory import InMemoryStore
from langgraph_bigtool.tools import get_default_retrieval_tool

from cluster.embedder import TextModel
from evals.run import Progress
from shards.record import Record

_PLACE: Final = ("tools",)
_BATCH: Final = 64


class BigtoolStore:
    """Each tool's ``name: description`` in the store, as in its documentation.

    Args:
        n: most results of a search.
    """

    def __init__(self, records: Sequence[Record], model: TextModel, n: int, progress: Progress) -> None:
        self._model = model
        self._store = InMemoryStore(index={"embed": self._embed, "dims": model.dims, "fields": ["description"]})
        self._find, _ = get_default_retrieval_tool(_PLACE, limit=n)
        self._asking = False
        for start in range(0, len(records), _BATCH):
            part = records[start : start + _BATCH]
            for record in part:
                self._store.put(_PLACE, record.id, {"description": f"{record.name}: {record.description}"})
            progress(len(part))
        self._asking = True

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """See ``Searcher``; every record matches, more or less."""
        return tuple(self._find(query, store=self._store))[:n]

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One function for both sides, as the store calls it; the model embeds questions and records differently."""
        if self._asking:
            return [self._model.encode_query(text).tolist() for text in texts]
        return [row.tolist() for row in self._model.encode_records(texts)]
