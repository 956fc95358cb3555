"""The keywords of an OpenAPI schema that hold no other schema, in the words of JSON Schema. It follows nothing.

OpenAPI 2.0 and 3.0 write some things in their own way (``nullable``, exclusive bounds that are true, ``type: file``).
What is of no known shape is left out: that only widens what a schema takes.
"""

from collections.abc import Mapping
from typing import Final

import orjson

from cluster.importers.markup import cut, plain_markdown

MAX_TEXT_CHARS: Final = 300
MAX_ENUM_BYTES: Final = 2_048
MAX_VALUE_BYTES: Final = 256
MAX_PATTERN_CHARS: Final = 256

_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))
_COUNTS: Final = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_SHOWN_VALUES: Final = 8
_SHOWN_VALUE_CHARS: Final = 32


def plain_keywords(schema: Mapping[str, object], description: str = "") -> dict[str, object]:
    """The keywords without schemas in them; ``description`` is what stands around the schema, and wins over its own."""
    written: dict[str, object] = {}
    if (kind := _type(schema)) is not None:
        written["type"] = kind
    if schema.get("type") == "file":
        written["format"] = "binary"
    text = description or schema.get("description") or schema.get("title")
    words = plain_markdown(text, MAX_TEXT_CHARS) if isinstance(text, str) else ""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        if len(orjson.dumps(values)) <= MAX_ENUM_BYTES:
            written["enum"] = values
        else:
            words = _with_values(words, values)
    if words:
        written["description"] = words
    _add_text(written, schema)
    _add_numbers(written, schema)
    for name in ("const", "default"):
        if name in schema and len(orjson.dumps(schema[name])) <= MAX_VALUE_BYTES:
            written[name] = schema[name]
    for name in ("uniqueItems", "deprecated"):
        if schema.get(name) is True:
            written[name] = True
    return written


def is_nullable(schema: Mapping[str, object]) -> bool:
    """Whether OpenAPI 2.0 or 3.0 says that null will do as well."""
    return schema.get("nullable") is True or schema.get("x-nullable") is True


def _type(schema: Mapping[str, object]) -> str | list[str] | None:
    """The types of a schema; one that says it has properties or items need not say what it is."""
    kind = schema.get("type")
    if kind == "file":
        kind = "string"
    kinds = [one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str) and one in _TYPES]
    if not kinds and kind is None:
        kinds = [name for name, key in (("object", "properties"), ("array", "items")) if key in schema][:1]
    if kinds and is_nullable(schema) and "null" not in kinds:
        kinds.append("null")
    if not kinds:
        return None
    return kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))


def _with_values(words: str, values: list[object]) -> str:
    """A description that tells of a list of values which is too long to be given."""
    named = ", ".join(cut(str(value), _SHOWN_VALUE_CHARS) for value in values[:_SHOWN_VALUES])
    return f"{words} One of {len(values):,} values, as {named}.".lstrip()


def _add_text(written: dict[str, object], schema: Mapping[str, object]) -> None:
    form, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(form, str) and form and "format" not in written:
        written["format"] = cut(form, MAX_TEXT_CHARS)
    if isinstance(pattern, str) and 0 < len(pattern) <= MAX_PATTERN_CHARS:
        written["pattern"] = pattern


def _add_numbers(written: dict[str, object], schema: Mapping[str, object]) -> None:
    for name in _COUNTS:
        count = schema.get(name)
        if type(count) is int and count >= 0:
            written[name] = count
    for plain, exclusive in _BOUNDS:
        bound, beyond = schema.get(plain), schema.get(exclusive)
        if beyond is True and _is_number(bound):
            written[exclusive] = bound
        elif _is_number(bound):
            written[plain] = bound
        if _is_number(beyond):
            written[exclusive] = beyond
    step = schema.get("multipleOf")
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        written["multipleOf"] = step


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
