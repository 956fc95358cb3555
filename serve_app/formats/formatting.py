"""The hits of an answer in a provider's shape: tools and passages ready to be handed on, and the way back to records.

It does not search, and it never adds to what the budget let through: tools that a provider's shape would make too
long, or that are not there in full, are named as deferred instead of being shown without their parameters.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NotRequired
from urllib.parse import quote

from typing_extensions import TypedDict

from cluster.contract import Answer
from cluster.errors import InvalidRequest
from cluster.tokens import ESTIMATE, FIELD_TOKENS, TokenCounter
from serve_app.formats import anthropic, mcp, openai
from serve_app.formats.adaptation import SchemaRules, adapted
from serve_app.formats.changes import Changes, NoteView
from serve_app.formats.item import Item, item_of, item_of_hit
from serve_app.formats.names import FUNCTION_NAMES, MCP_NAMES, NameRule, tool_names
from serve_app.formats.repair import UnusableSchema, shown
from serve_app.formats.schema import Schema
from shards.record import Kind

ProviderFormat = Literal["openai_chat", "openai_responses", "anthropic", "anthropic_tool_search", "mcp"]

Format = Literal["native", "openai_chat", "openai_responses", "anthropic", "anthropic_tool_search", "mcp"]
"""What a request may ask for; ``native`` is the answer's own shape and has no place in this package."""

ToolView = openai.ChatToolView | openai.ResponsesToolView | anthropic.AnthropicToolView | mcp.McpToolView
PassageView = openai.ChatTextView | openai.ResponsesTextView | anthropic.SearchResultView | mcp.EmbeddedResourceView


class DeferredView(TypedDict):
    """A tool that was found but cannot be called yet: its parameters have to be fetched first.

    ``reason``: ``summary`` (the budget left no room for all of it), ``tokens`` (the provider's shape is too long for
    what is left of it), ``schema`` (its parameters are no schema that a provider takes).
    """

    id: str
    name: str
    description: NotRequired[str]
    reason: Literal["summary", "tokens", "schema"]
    fetch: str


class FormattedView(TypedDict):
    """Evidence in a provider's shape.

    ``names`` leads from a tool's name back to its record, deferred ones included; ``content_ids`` are the records of
    ``content``, in its order. ``arguments`` leads, by tool, from keys that the model writes to the record's own keys.
    ``references`` stand in a ``tool_result`` by themselves (Anthropic's tool search).
    """

    format: ProviderFormat
    tools: list[ToolView]
    content: list[PassageView]
    references: NotRequired[list[anthropic.ToolReferenceView]]
    names: dict[str, str]
    content_ids: list[str]
    arguments: dict[str, dict[str, str]]
    deferred: list[DeferredView]
    notes: list[NoteView]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """What there is to know of a provider."""

    names: NameRule
    rules: SchemaRules
    tool: Callable[[Item, str, Schema, Changes], ToolView]
    passage: Callable[[Item], PassageView]
    most_tools: int | None = None


def _plainly(
    tool: Callable[[Item, str, Schema], anthropic.AnthropicToolView | mcp.McpToolView],
) -> Callable[[Item, str, Schema, Changes], ToolView]:
    """For providers that take a description as it is."""
    return lambda item, name, schema, _changes: tool(item, name, schema)


_SHAPES: Final[dict[ProviderFormat, _Shape]] = {
    "openai_chat": _Shape(
        names=FUNCTION_NAMES,
        rules=openai.RULES,
        tool=openai.chat_tool,
        passage=openai.chat_passage,
        most_tools=openai.MOST_TOOLS,
    ),
    "openai_responses": _Shape(
        names=FUNCTION_NAMES,
        rules=openai.RULES,
        tool=openai.responses_tool,
        passage=openai.responses_passage,
        most_tools=openai.MOST_TOOLS,
    ),
    "anthropic": _Shape(
        names=FUNCTION_NAMES, rules=anthropic.RULES, tool=_plainly(anthropic.tool), passage=anthropic.passage
    ),
    "anthropic_tool_search": _Shape(
        names=FUNCTION_NAMES, rules=anthropic.RULES, tool=_plainly(anthropic.deferred_tool), passage=anthropic.passage
    ),
    "mcp": _Shape(names=MCP_NAMES, rules=mcp.RULES, tool=_plainly(mcp.tool), passage=mcp.passage),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Formatted:
    """An answer's evidence in a provider's shape.

    Attributes:
        remainders: of each hit, in order: its evidence without what ``view`` shows, for the answer's own list.
    """

    view: FormattedView
    remainders: tuple[dict[str, object], ...]


def most_tools(form: Format) -> int | None:
    """How many tools the provider takes in one request, None where it names no limit."""
    return None if form == "native" else _SHAPES[form].most_tools


def formatted_answer(form: ProviderFormat, answer: Answer, counter: TokenCounter = ESTIMATE) -> Formatted:
    """The hits of an answer; of a miss, nothing. ``counter`` is the one that counted the tokens of its evidence.

    Raises:
        InvalidRequest: if there are more tools than the provider takes.
    """
    items = [item_of_hit(hit) for hit in answer.hits]
    view = _formatted(form, items, answer.budget.evidence_tokens - answer.spent.evidence_tokens, counter)
    return Formatted(view=view, remainders=tuple(item.remainder for item in items))


def formatted_record(form: ProviderFormat, evidence: bytes) -> FormattedView:
    """One whole record, given JSON of its ``EvidenceView``: what a deferred tool's ``fetch`` leads to.

    Its tool has the name that it has in every answer without a twin.
    """
    return _formatted(form, [item_of(evidence, tokens=0, is_whole=True)], None, ESTIMATE)


def _formatted(
    form: ProviderFormat, items: Sequence[Item], room_tokens: int | None, counter: TokenCounter
) -> FormattedView:
    shape = _SHAPES[form]
    tools = [item for item in items if item.kind is Kind.TOOL]
    if shape.most_tools is not None and len(tools) > shape.most_tools:
        raise InvalidRequest("k", str(len(tools)), f"at most {shape.most_tools} tools in format {form}")
    names = tool_names(tools, shape.names)
    hand = _Hand(shape, names, room_tokens, counter)
    for item in tools:
        hand.take(item)
    passages = [item for item in items if item.kind is Kind.PASSAGE]
    view: FormattedView = {
        "format": form,
        "tools": hand.tools,
        "content": [shape.passage(item) for item in passages],
        "names": {name: key for key, name in names.items()},
        "content_ids": [item.id for item in passages],
        "arguments": hand.arguments,
        "deferred": hand.deferred,
        "notes": hand.notes,
    }
    if form == "anthropic_tool_search":
        view["references"] = [anthropic.reference(name) for name in hand.shown]
    return view


class _Hand:
    """Tools being handed over one by one, best first, with what is left of the tokens.

    ``room_tokens`` never falls below 0: a tool is shown if it costs no more than its own evidence did, plus what the
    ones before it left.
    """

    def __init__(self, shape: _Shape, names: dict[str, str], room_tokens: int | None, counter: TokenCounter) -> None:
        self._shape = shape
        self._counter = counter
        self._names = names
        self._room_tokens = room_tokens
        self.tools: list[ToolView] = []
        self.shown: list[str] = []
        self.arguments: dict[str, dict[str, str]] = {}
        self.deferred: list[DeferredView] = []
        self.notes: list[NoteView] = []

    def take(self, item: Item) -> None:
        """Show the tool, or defer it."""
        name = self._names[item.id]
        if item.parameters is None:
            self._defer(item, name, "summary")
            return
        changes = Changes()
        try:
            fitting = adapted(item.parameters, self._shape.rules, changes)
        except UnusableSchema:
            self._defer(item, name, "schema")
            return
        tool = self._shape.tool(item, name, fitting.schema, changes)
        if not self._fits(item, self._cost((name, item.text, shown(fitting.schema)))):
            self._defer(item, name, "tokens")
            return
        self.tools.append(tool)
        self.shown.append(name)
        if fitting.arguments:
            self.arguments[name] = fitting.arguments
        self.notes += changes.notes(item.id)

    def _fits(self, item: Item, tokens: int) -> bool:
        if self._room_tokens is None:
            return True
        if tokens > item.tokens + self._room_tokens:
            return False
        self._room_tokens += item.tokens - tokens
        return True

    def _defer(self, item: Item, name: str, reason: Literal["summary", "tokens", "schema"]) -> None:
        deferred: DeferredView = {"id": item.id, "name": name, "reason": reason, "fetch": record_path(item.id)}
        # A description is left out rather than let the answer grow; the record behind ``fetch`` has it.
        if item.text and self._fits(item, self._cost((name, item.text))):
            deferred["description"] = item.text
        self.deferred.append(deferred)

    def _cost(self, texts: Iterable[str]) -> int:
        """Tokens, counted as ``cluster.evidence`` counts them."""
        return sum(self._counter.count(text) + FIELD_TOKENS for text in texts if text)


def record_path(record_id: str) -> str:
    """Where the whole record is."""
    return f"/v1/records/{quote(record_id, errors='replace')}"
