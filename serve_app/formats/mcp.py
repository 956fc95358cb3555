"""MCP: items of ``tools/list`` and passages as embedded resources, legal from revision 2025-06-18 on.

It serves no protocol. A schema keeps every keyword of JSON Schema 2020-12 beside ``type: object``.
"""

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from serve_app.formats.adaptation import SchemaRules
from serve_app.formats.item import Item
from serve_app.formats.passage_text import text_of, uri_of
from serve_app.formats.schema import Schema
from shards.record import SideEffect

RULES: Final = SchemaRules()


class ToolAnnotationsView(TypedDict):
    """Hints; what is not said is the protocol's cautious default (not read-only, maybe destructive)."""

    readOnlyHint: bool
    destructiveHint: NotRequired[Literal[True]]


class McpToolView(TypedDict):
    """One of ``tools``; ``title`` is the record's own name where that is no legal one."""

    name: str
    title: NotRequired[str]
    description: NotRequired[str]
    inputSchema: dict[str, object]
    annotations: ToolAnnotationsView


class TextResourceView(TypedDict):
    """The text of a resource."""

    uri: str
    mimeType: Literal["text/plain"]
    text: str


class EmbeddedResourceView(TypedDict):
    """One of ``content`` of a tool's result."""

    type: Literal["resource"]
    resource: TextResourceView


def tool(item: Item, name: str, schema: Schema) -> McpToolView:
    """An item of ``tools/list``."""
    annotations: ToolAnnotationsView = {"readOnlyHint": item.side_effect == SideEffect.READ}
    if item.side_effect == SideEffect.DESTRUCTIVE:
        annotations["destructiveHint"] = True
    view: McpToolView = {"name": name, "inputSchema": schema, "annotations": annotations}
    if name != item.name:
        view["title"] = item.name
    if item.text:
        view["description"] = item.text
    return view


def passage(item: Item) -> EmbeddedResourceView:
    """A resource that carries its text."""
    return {"type": "resource", "resource": {"uri": uri_of(item), "mimeType": "text/plain", "text": text_of(item)}}
