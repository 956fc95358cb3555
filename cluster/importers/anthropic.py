"""Anthropic tool lists: ``[{name, description, input_schema}]``, or an object that holds one under ``tools``.

Server tools of the provider (web search and the like) have a type of their own and no schema: refused.
"""

from collections.abc import Iterator
from pathlib import Path

from cluster.importers.documents import read_document
from cluster.importers.source import Defaults, Item, Refusal, function_record, listed, named, tool_items


def read_anthropic(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per tool, ids ``namespace:name``; the namespace is the file's stem if the operator names none.

    Raises:
        UnreadableSource: if the document holds no tool list.
    """
    yield from listed(tool_items(path, read_document(path)), _item, defaults.namespace_of(path))


def _item(place: str, tool: dict[str, object], namespace: str, share: float) -> Item:
    kind = tool.get("type", "custom")
    if kind != "custom":
        name = named(tool, "name", place)
        reason = f"type: {kind!r} is a server tool of the provider, it has no schema"
        return Refusal(name=name, reason=reason, place=place)
    return function_record(place, tool, "input_schema", namespace, share)
