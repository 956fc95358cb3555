"""JSON Schema 2020-12 as a table: which keywords hold schemas and what the others may hold; and a walk over schemas.

It changes nothing by itself. What a keyword holds is checked as the meta-schema does
(https://json-schema.org/draft/2020-12/schema), which providers check input schemas against.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

Schema = dict[str, object]
"""A schema that is an object; ``true`` and ``false`` are schemas too."""

ONE: Final = frozenset(
    {
        "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
        "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords that hold one schema."""

SOME: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords that hold a list of schemas, never an empty one."""

BY_NAME: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords that hold schemas by name."""

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_number(value: object) -> bool:
    """Whether it is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_names(value: object) -> bool:
    """Whether it is a list of distinct strings."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: object) -> bool:
    return value in TYPES if isinstance(value, str) else bool(value) and is_names(value) and set(value) <= TYPES  # type: ignore[call-overload]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_step(value: object) -> bool:
    return is_number(value) and value > 0  # type: ignore[operator]


def _is_anchor(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_][-A-Za-z0-9._]*", value) is not None


def _is_id(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[^#]*#?", value) is not None


def _is_names_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(is_names(names) for names in value.values())


HOLDS: Final[dict[str, Callable[[object], bool]]] = {
    "type": _is_type,
    "required": is_names,
    "dependentRequired": _is_names_by_name,
    "$anchor": _is_anchor,
    "$dynamicAnchor": _is_anchor,
    "$recursiveAnchor": _is_anchor,
    "$id": _is_id,
    "multipleOf": _is_step,
    **dict.fromkeys(("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"), is_number),
    **dict.fromkeys(
        (
            "maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength",
            "minProperties",
        ),
        _is_count,
    ),
    **dict.fromkeys(
        (
            "$comment", "$dynamicRef", "$recursiveRef", "$ref", "$schema", "contentEncoding", "contentMediaType",
            "description", "format", "pattern", "title",
        ),
        _is_text,
    ),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly"), _is_truth),
    **dict.fromkeys(("enum", "examples"), _is_list),
}  # fmt: skip
"""What the other keywords may hold; one that is not here may hold anything."""


def escaped(name: str) -> str:
    """A name as one step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def rebuilt(schema: object, change: Callable[[Schema, str], Schema], at: str = "") -> object:
    """The schema with every schema in it replaced by what ``change`` makes of it, inner ones first.

    ``change`` gets a copy that it may write to, and its JSON pointer. The schema must be valid.
    """
    if not isinstance(schema, dict):
        return schema
    copy: Schema = dict(schema)
    for key, value in schema.items():
        place = f"{at}/{escaped(key)}"
        if key in ONE:
            copy[key] = rebuilt(value, change, place)
        elif key in SOME and isinstance(value, list):
            copy[key] = [rebuilt(inner, change, f"{place}/{number}") for number, inner in enumerate(value)]
        elif key in BY_NAME and isinstance(value, dict):
            copy[key] = {name: rebuilt(inner, change, f"{place}/{escaped(name)}") for name, inner in value.items()}
    return change(copy, at)


def schemas_in(schema: object) -> Iterator[Schema]:
    """The schema and all inside it that are objects. It must be valid."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in ONE:
            yield from schemas_in(value)
        elif key in SOME and isinstance(value, list):
            for inner in value:
                yield from schemas_in(inner)
        elif key in BY_NAME and isinstance(value, dict):
            for inner in value.values():
                yield from schemas_in(inner)
