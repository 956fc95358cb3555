"""Cutting: a record that is too long in full, cut at the boundaries of its properties, paragraphs or sentences.

Id, name or title, namespace and source always stay. It reads JSON of a ``cluster.record_json.EvidenceView`` and only
when a cut is needed; what is shown of a ranked list is the decision of ``cluster.evidence``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import orjson

from cluster.contract import Cut, Form, Piece
from cluster.schema_cut import SchemaParts, cut_schema, parts_of
from cluster.text_cut import cut_text
from cluster.tokens import FIELD_TOKENS, TokenCounter
from shards.record import Kind

SUMMARY_TOKENS: Final = {Kind.TOOL: 80, Kind.PASSAGE: 300}
"""Tokens of a summary's description at most: enough to choose a tool, or to quote from a passage."""

LEAST_TEXT_TOKENS: Final = 8
"""A text cut shorter than this says nothing, and a longer one is not worth less than this."""

REMEMBERED: Final = 1024
"""Records whose parts are remembered; twice their JSON each."""

LONGEST_REMEMBERED_BYTES: Final = 32 * 2**10

_MOST_TRIES: Final = 8
"""Of making a record short enough in bytes, which only a nearer and nearer guess at its tokens does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """A record taken apart.

    Attributes:
        values: of the record but for its parameters, in their order.
        text_key: of the text among them.
        head_tokens: of all that always stays.
        short: the start of the text that a summary has.
        schema: of a tool whose parameters have properties.
    """

    values: Mapping[str, Any]
    text_key: str
    head_tokens: int
    short: str
    short_tokens: int
    schema: SchemaParts | None = None

    @property
    def text(self) -> str:
        return str(self.values[self.text_key])


def cut_of(piece: Piece, limit_tokens: int, limit_bytes: int, counter: TokenCounter) -> Cut | None:
    """As much of a record as fits into the tokens and bytes; None where that is too little to be of use.

    A tool has the start of its description and as many whole properties as fit, required ones first; a passage has
    the start of its text.
    """
    json = piece.full.json
    parts = _remembered(json, counter) if len(json) <= LONGEST_REMEMBERED_BYTES else _taken_apart(json, counter)
    if not parts.text and parts.schema is None:
        return None
    for _ in range(_MOST_TRIES):
        cut = _cut(parts, limit_tokens, counter)
        if cut is None or len(cut.form.json) <= limit_bytes:
            return cut
        limit_tokens = cut.form.tokens * limit_bytes // len(cut.form.json)
    return None


def _cut(parts: _Parts, limit_tokens: int, counter: TokenCounter) -> Cut | None:
    room = limit_tokens - parts.head_tokens
    text, text_tokens = _start(parts, room - FIELD_TOKENS, counter)
    if parts.text:
        if text != parts.text and text_tokens < LEAST_TEXT_TOKENS:
            return None
        room -= text_tokens + FIELD_TOKENS
    if room < 0:
        return None
    schema = parts.schema and cut_schema(parts.schema, room - FIELD_TOKENS, counter.count)
    if schema:
        room -= schema[1] + FIELD_TOKENS
    if len(text) < len(parts.text) and room >= LEAST_TEXT_TOKENS:
        text = cut_text(parts.text, text_tokens + room, counter.count)
        longer = counter.count(text)
        room, text_tokens = room - (longer - text_tokens), longer
    return Cut(
        form=Form(json=_json(parts, text, schema[0] if schema else None), tokens=limit_tokens - room),
        properties_left_out=parts.schema.total - (schema[2] if schema else 0) if parts.schema else 0,
    )


def _start(parts: _Parts, limit_tokens: int, counter: TokenCounter) -> tuple[str, int]:
    """The text that comes before any property, and its tokens."""
    if parts.short_tokens <= limit_tokens:
        return parts.short, parts.short_tokens
    start = cut_text(parts.short, limit_tokens, counter.count)
    return start, counter.count(start)


def _json(parts: _Parts, text: str, parameters: bytes | None) -> bytes:
    view: dict[str, object] = {}
    for key, value in parts.values.items():
        if key != parts.text_key:
            view[key] = value
            continue
        view[key] = text
        if parameters is not None:
            view["parameters"] = orjson.Fragment(parameters)
    return orjson.dumps(view)


def summary_of(full: Form, counter: TokenCounter) -> Form:
    """The record without parameters and with the start of its text; ``full`` itself where that saves nothing.

    It keeps the ``search_text_hash`` of the whole record, which names the text that was cut.
    """
    values = orjson.loads(full.json)
    values.pop("parameters", None)
    parts = _without_schema(values, counter)
    tokens = parts.head_tokens + (parts.short_tokens + FIELD_TOKENS if parts.short else 0)
    return full if tokens >= full.tokens else Form(json=_json(parts, parts.short, None), tokens=tokens)


def _taken_apart(json: bytes, counter: TokenCounter) -> _Parts:
    values = orjson.loads(json)
    parameters = values.pop("parameters", None)
    parts = _without_schema(values, counter)
    return replace(parts, schema=parts_of(parameters, counter.count)) if parameters else parts


def _without_schema(values: Mapping[str, Any], counter: TokenCounter) -> _Parts:
    kind = Kind(values["kind"])
    name_key, text_key = ("title", "text") if kind is Kind.PASSAGE else ("name", "description")
    heads = [values["id"], values[name_key], values["namespace"], values.get("source_url"), values.get("section")]
    short = cut_text(values[text_key], SUMMARY_TOKENS[kind], counter.count)
    return _Parts(
        values=values,
        text_key=text_key,
        head_tokens=sum([counter.count(text) + FIELD_TOKENS for text in heads if text]),
        short=short,
        short_tokens=counter.count(short),
    )


_remembered: Final = lru_cache(maxsize=REMEMBERED)(_taken_apart)
