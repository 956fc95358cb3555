"""Anthropic: tools of the Messages API, references for tool search, and passages as search results.

It sends nothing. Rules: names of at most 64 characters, which ``tool_reference`` holds to; a root without "oneOf,
allOf, or anyOf"; keys of properties ``^[a-zA-Z0-9_.-]{1,64}$``; schemas valid in JSON Schema 2020-12.
"""

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from serve_app.formats.adaptation import SchemaRules
from serve_app.formats.item import Item
from serve_app.formats.names import NameRule
from serve_app.formats.passage_text import uri_of
from serve_app.formats.schema import Schema

RULES: Final = SchemaRules(plain_root=True, own_references=True, keys=NameRule(allowed="a-zA-Z0-9_.-", most_chars=64))


class AnthropicToolView(TypedDict):
    """One of ``tools``; ``defer_loading`` tools are shown to the model once a ``tool_reference`` names them."""

    name: str
    description: NotRequired[str]
    input_schema: dict[str, object]
    defer_loading: NotRequired[Literal[True]]


class ToolReferenceView(TypedDict):
    """Part of the ``tool_result`` of a client's own tool search; the tool must stand in the request's ``tools``."""

    type: Literal["tool_reference"]
    tool_name: str


class AnthropicTextView(TypedDict):
    """Text inside a search result."""

    type: Literal["text"]
    text: str


class CitationsView(TypedDict):
    """All search results of a request agree in it, or the provider refuses them."""

    enabled: bool


class SearchResultView(TypedDict):
    """A passage that the model can cite, for a message or a ``tool_result``."""

    type: Literal["search_result"]
    source: str
    title: str
    content: list[AnthropicTextView]
    citations: CitationsView


def tool(item: Item, name: str, schema: Schema) -> AnthropicToolView:
    """A tool that the model sees at once."""
    if not item.text:
        return {"name": name, "input_schema": schema}
    return {"name": name, "description": item.text, "input_schema": schema}


def deferred_tool(item: Item, name: str, schema: Schema) -> AnthropicToolView:
    """A tool that the model sees where a reference names it."""
    return {**tool(item, name, schema), "defer_loading": True}


def reference(name: str) -> ToolReferenceView:
    """What names a deferred tool."""
    return {"type": "tool_reference", "tool_name": name}


def passage(item: Item) -> SearchResultView:
    """A search result; its text is never empty, which the provider would refuse."""
    return {
        "type": "search_result",
        "source": item.source_url or uri_of(item),
        "title": f"{item.name} · {item.section}" if item.section else item.name,
        "content": [{"type": "text", "text": item.text if item.text.strip() else item.name}],
        "citations": {"enabled": True},
    }
