"""OpenAI: functions for Chat Completions and for Responses, and passages as parts of text.

It sends nothing. Rules: names as in the reference of ``FunctionDefinition``; at most 128 tools; a root without
"'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not'", with properties; arrays with items; descriptions of at most 1,024
characters, which Azure still holds to. ``strict`` is false, for strict schemas are a subset that few records keep to.
"""

from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from serve_app.formats.adaptation import SchemaRules
from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.flatten import described
from serve_app.formats.item import Item
from serve_app.formats.passage_text import text_of
from serve_app.formats.schema import Schema

MOST_TOOLS: Final = 128
MOST_DESCRIPTION_CHARS: Final = 1_024

RULES: Final = SchemaRules(
    plain_root=True, forbidden_at_root=("not", "enum", "const"), items_everywhere=True, own_references=True
)


class FunctionView(TypedDict):
    """``function`` of a tool of Chat Completions."""

    name: str
    description: NotRequired[str]
    parameters: dict[str, object]
    strict: Literal[False]


class ChatToolView(TypedDict):
    """One of ``tools`` of Chat Completions."""

    type: Literal["function"]
    function: FunctionView


class ResponsesToolView(TypedDict):
    """One of ``tools`` of Responses, and of a ``tool_search_output`` of a client."""

    type: Literal["function"]
    name: str
    description: NotRequired[str]
    parameters: dict[str, object]
    strict: Literal[False]


class ChatTextView(TypedDict):
    """A part of a message's content in Chat Completions."""

    type: Literal["text"]
    text: str


class ResponsesTextView(TypedDict):
    """A part of a message's content, or of a function call's output, in Responses."""

    type: Literal["input_text"]
    text: str


def chat_tool(item: Item, name: str, schema: Schema, changes: Changes) -> ChatToolView:
    """A function for Chat Completions."""
    return {"type": "function", "function": _function(item, name, schema, changes)}


def responses_tool(item: Item, name: str, schema: Schema, changes: Changes) -> ResponsesToolView:
    """A function for Responses."""
    function = _function(item, name, schema, changes)
    return {"type": "function", **function}


def chat_passage(item: Item) -> ChatTextView:
    """A passage for Chat Completions."""
    return {"type": "text", "text": text_of(item)}


def responses_passage(item: Item) -> ResponsesTextView:
    """A passage for Responses."""
    return {"type": "input_text", "text": text_of(item)}


def _function(item: Item, name: str, schema: Schema, changes: Changes) -> FunctionView:
    description, rest = _parted(item.text)
    if rest:
        changes.add(ChangeKind.MOVED, "description", f"{len(rest)} characters, to parameters.description")
        own = schema.get("description")
        schema = described({**schema, "description": rest}, [own] if isinstance(own, str) and own else [])
    if not description:
        return {"name": name, "parameters": schema, "strict": False}
    return {"name": name, "description": description, "parameters": schema, "strict": False}


def _parted(text: str) -> tuple[str, str]:
    """The start that fits, ended at a line, a sentence or a blank where one is in its second half; and the rest."""
    if len(text) <= MOST_DESCRIPTION_CHARS:
        return text, ""
    start = text[:MOST_DESCRIPTION_CHARS]
    ends = (start.rfind("\n") + 1, start.rfind(". ") + 1, start.rfind(" ") + 1)
    end = next((end for end in ends if end > MOST_DESCRIPTION_CHARS // 2), MOST_DESCRIPTION_CHARS)
    return text[:end].rstrip(), text[end:].lstrip()
