"""callbus in its lexical mode: the BM25 scorer that answers there until an embedding endpoint is ready.

Its formats are those of its server: the tool's whole document, and the request as it is.
"""

from collections.abc import Sequence

import orjson
from callbus.adapters.bm25 import BM25Scorer
from callbus.domain import Query, Tool

from shards.record import Record


class CallbusLexical:
    """Tools as callbus ingests them from an MCP server: name, description and input schema, by server."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._scorer = BM25Scorer("documentation", "plain")
        self._scorer.index([_tool(record) for record in records])

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """See ``Searcher``; it fills up with tools that match nothing, which are left out."""
        (found,) = self._scorer.rank([Query(id="", text=query, qrels={})], n)
        return tuple(one for one, score in zip(found.tool_ids, found.scores, strict=True) if score > 0)


def _tool(record: Record) -> Tool:
    document = {
        "name": record.name,
        "description": record.description,
        "inputSchema": orjson.loads(record.parameters),
    }
    return Tool(id=record.id, doc=document, category=record.namespace)
