"""The words of a JSON schema: names, descriptions and allowed values of its properties, to a bounded depth.

It validates nothing: what is not shaped like a schema has no words.
"""

from dataclasses import dataclass, field
from typing import Final

import orjson

DEEPEST: Final = 4
"""Levels of nested properties that are read; what lies deeper describes data, not the tool."""

MOST_VALUES: Final = 20
"""Allowed values read per property; longer lists are code tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaText:
    """Words of a schema in document order."""

    names: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


def schema_text(schema: str) -> SchemaText:
    """The words of a schema given as JSON text; empty for text that is no JSON object."""
    found = SchemaText()
    try:
        root = orjson.loads(schema)
    except orjson.JSONDecodeError:
        return found
    _read(root, 0, found)
    return found


def _read(schema: object, depth: int, found: SchemaText) -> None:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or depth > DEEPEST:
        return
    for name, part in properties.items():
        found.names.append(name)
        if isinstance(part, dict):
            _read_property(part, depth, found)


def _read_property(part: dict[str, object], depth: int, found: SchemaText) -> None:
    text, values = part.get("description"), part.get("enum")
    if isinstance(text, str):
        found.texts.append(text)
    if isinstance(values, list):
        found.values.extend(value for value in values[:MOST_VALUES] if isinstance(value, str))
    _read(part, depth + 1, found)
    _read(part.get("items"), depth + 1, found)
