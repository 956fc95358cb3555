"""A dumped ``tools/list`` result of an MCP server: the bare result, its JSON-RPC envelope, or a list of such pages.

It talks to no server and follows no cursor. ``annotations`` are claims of the server about itself: ``readOnlyHint`` is
never believed, ``destructiveHint: true`` is, because it only narrows who is offered the tool.
"""

from collections.abc import Iterator
from pathlib import Path

from cluster.errors import UnreadableSource
from cluster.importers.documents import read_document
from cluster.importers.source import (
    Defaults,
    Incomplete,
    Item,
    RawRecord,
    ReadOnlyClaims,
    Refusal,
    function_record,
    listed,
)


def read_mcp(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per tool, ids ``namespace:name``; the namespace is the file's stem if the operator names none.

    Raises:
        UnreadableSource: if the document holds no tool list.
    """
    tools, cursor = _pages(path, read_document(path))
    yield from listed(tools, _item, defaults.namespace_of(path))
    if claims := sum(1 for tool in tools if isinstance(tool, dict) and _hints(tool).get("readOnlyHint") is True):
        yield ReadOnlyClaims(tools=claims)
    if cursor is not None:
        yield Incomplete(reason=f"{path}: the last page has a nextCursor, so the server has more tools than this file")


def _pages(path: Path, document: object) -> tuple[list[object], object]:
    """All tools of all pages, and the cursor of the last page."""
    if isinstance(document, list) and not any(_is_page(part) for part in document):
        return document, None
    tools: list[object] = []
    cursor: object = None
    for page in document if isinstance(document, list) else [document]:
        result = page.get("result", page) if isinstance(page, dict) else page
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            raise UnreadableSource(str(path), "expected a tools/list result: an object with a list 'tools'")
        tools.extend(result["tools"])
        cursor = result.get("nextCursor")
    return tools, cursor


def _is_page(part: object) -> bool:
    return isinstance(part, dict) and ("tools" in part or "result" in part)


def _item(place: str, tool: dict[str, object], namespace: str, share: float) -> RawRecord | Refusal:
    item = function_record(place, tool, "inputSchema", namespace, share)
    if isinstance(item, Refusal):
        return item
    hints = _hints(tool)
    title = tool.get("title") or hints.get("title")
    if isinstance(title, str) and title.strip() and title != tool["name"]:
        item.values["aliases"] = [title]
    if hints.get("destructiveHint") is True:
        item.values["access"] = {"side_effect": "destructive"}
    return item


def _hints(tool: dict[str, object]) -> dict[str, object]:
    annotations = tool.get("annotations")
    return annotations if isinstance(annotations, dict) else {}
