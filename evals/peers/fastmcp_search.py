"""FastMCP's BM25 search transform, asked as a model would ask it: by the tool ``search_tools`` of a FastMCP server."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final

import orjson
from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools.base import Tool

from shards.record import Record

_UNNAMED: Final = re.compile(r"[^\w.-]+")
"""What the name of an MCP tool must not hold."""


class FastMcpSearch:
    """A server with one tool per record.

    A server tells tools apart by name; a mounted one puts its namespace before the name, and so does this.

    Args:
        n: most results of a search.
    """

    def __init__(self, records: Sequence[Record], n: int) -> None:
        self._runner = asyncio.Runner()
        self._server = FastMCP("evaluation")
        self._ids: dict[str, str] = {}
        for record in records:
            name = self._name(record)
            self._ids[name] = record.id
            schema = orjson.loads(record.parameters)
            self._server.add_tool(Tool(name=name, description=record.description, parameters=schema))
        self._server.add_transform(BM25SearchTransform(max_results=n, search_result_serializer=_names))

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """See ``Searcher``."""
        result = self._runner.run(self._server.call_tool("search_tools", {"query": query}))
        return tuple(self._ids[item["name"]] for item in result.structured_content["result"])[:n]

    def _name(self, record: Record) -> str:
        """Unique; equal ones of one namespace are numbered."""
        wanted = _UNNAMED.sub("_", f"{record.namespace}_{record.name}")
        name, number = wanted, 1
        while name in self._ids:
            number += 1
            name = f"{wanted}_{number}"
        return name


def _names(tools: Sequence[Tool]) -> list[dict[str, str]]:
    """Names alone: what writing schemas costs is not what searching costs."""
    return [{"name": tool.name} for tool in tools]
