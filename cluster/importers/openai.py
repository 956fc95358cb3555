"""OpenAI function lists: chat-completions tools, responses tools, or the older bare ``functions``.

A list, or an object that holds one under ``tools`` (a dumped request). Built-in tool types are no functions: refused.
"""

from collections.abc import Iterator
from pathlib import Path

from cluster.importers.documents import read_document
from cluster.importers.source import Defaults, Item, Refusal, function_record, listed, tool_items


def read_openai(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per function, ids ``namespace:name``; the namespace is the file's stem if the operator names none.

    Raises:
        UnreadableSource: if the document holds no tool list.
    """
    yield from listed(tool_items(path, read_document(path)), _item, defaults.namespace_of(path))


def _item(place: str, tool: dict[str, object], namespace: str, share: float) -> Item:
    kind = tool.get("type", "function")
    if kind != "function":
        reason = f"type: {kind!r} is a built-in tool of the provider, not a function"
        return Refusal(name=place, reason=reason, place=place)
    function = tool.get("function", tool)
    if not isinstance(function, dict):
        return Refusal(name=place, reason="function: must be a JSON object", place=place)
    return function_record(place, function, "parameters", namespace, share)
