"""Any JSON object into a valid schema of JSON Schema 2020-12, with a note of everything that had to change.

Catalogues hold schemas of older drafts, of Python (``"type": "dict"``) and of nobody. One invalid schema makes a
provider refuse the whole request, so each keyword is kept, put in today's words, or taken out and noted. It knows no
provider.
"""

from typing import Final

import orjson

from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.schema import BY_NAME, HOLDS, ONE, SOME, TYPES, Schema, escaped, is_number

_FOREIGN_TYPES: Final = {
    "any": None, "arr": "array", "bool": "boolean", "bytes": "string", "char": "string", "date": "string",
    "datetime": "string", "decimal": "number", "dict": "object", "double": "number", "enum": "string",
    "file": "string", "float": "number", "hashmap": "object", "int": "integer", "list": "array", "long": "integer",
    "map": "object", "none": "null", "null": "null", "set": "array", "str": "string", "tuple": "array",
    "uuid": "string",
}  # fmt: skip
"""Names of types in catalogues of tools, by what they are in JSON; None says nothing of the type."""


class UnusableSchema(Exception):
    """No input can be told from the schema: its ``properties`` are none."""


def repaired(parameters: Schema, changes: Changes) -> Schema:
    """The valid schema that says the same, as far as it can be said.

    Raises:
        UnusableSchema: if ``properties`` is there but holds no properties by name.
    """
    if _is_bare(parameters):
        changes.add(ChangeKind.ADDED, "", "properties, around what stood without it")
        parameters = {"properties": parameters}
    if not isinstance(parameters.get("properties", {}), dict):
        raise UnusableSchema
    return _object(parameters, "", changes)


def shown(value: object) -> str:
    """A value for a note or a sentence, as JSON."""
    return orjson.dumps(value).decode()


def _is_bare(parameters: Schema) -> bool:
    """Whether these are properties by name where a schema should stand: only objects, and none that a keyword holds."""
    holding = ONE | BY_NAME | {"dependentRequired", "dependencies", "default", "const"}
    return bool(parameters) and all(
        isinstance(value, dict) and key not in holding and not key.startswith("$") for key, value in parameters.items()
    )


def _any(value: object, at: str, changes: Changes) -> object:
    """A schema from whatever stands where one should."""
    if isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return _object(value, at, changes)
    if isinstance(value, str) and (kind := _kind_of(value)) in TYPES:
        changes.add(ChangeKind.MODERNISED, at, shown(value))
        return {"type": kind}
    changes.add(ChangeKind.DROPPED, at, shown(value))
    return {"description": value} if isinstance(value, str) else {}


def _object(value: Schema, at: str, changes: Changes) -> Schema:
    schema = dict(value)
    _modernise(schema, at, changes)
    for key in list(schema):
        inner, place = schema[key], f"{at}/{escaped(key)}"
        if key in ONE:
            schema[key] = _any(inner, place, changes)
        elif key in SOME and isinstance(inner, list) and inner:
            schema[key] = [_any(one, f"{place}/{number}", changes) for number, one in enumerate(inner)]
        elif key in BY_NAME and isinstance(inner, dict):
            schema[key] = {name: _any(one, f"{place}/{escaped(name)}", changes) for name, one in inner.items()}
        elif key in SOME or key in BY_NAME or (key in HOLDS and not HOLDS[key](inner)):
            changes.add(ChangeKind.DROPPED, place, shown(inner))
            del schema[key]
    return schema


def _modernise(schema: Schema, at: str, changes: Changes) -> None:
    """Put what older drafts and other catalogues write into today's words, in place."""
    if "type" in schema and not HOLDS["type"](schema["type"]):
        _name_types(schema, f"{at}/type", changes)
    if isinstance(schema.get("properties"), dict):
        _lift_required(schema, at, changes)
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool):
            changes.add(ChangeKind.MODERNISED, f"{at}/{exclusive}", shown(schema[exclusive]))
            if schema.pop(exclusive) and is_number(schema.get(bound)):
                schema[exclusive] = schema.pop(bound)
    if isinstance(schema.get("items"), list):
        _place_items(schema, at, changes)
    if isinstance(schema.get("dependencies"), dict):
        _split_dependencies(schema, at, changes)
    # Without it, 2020-12 holds; with another one, what stands here now would be read by other rules.
    for key in ("$schema", "$vocabulary", "additionalItems", "dependencies"):
        if key in schema:
            changes.add(ChangeKind.DROPPED, f"{at}/{key}", shown(schema.pop(key)))


def _name_types(schema: Schema, at: str, changes: Changes) -> None:
    """Types by their names in JSON; a schema in their place holds as a whole, other words are left to the model."""
    named = schema.pop("type")
    changes.add(ChangeKind.MODERNISED, at, shown(named))
    names = named if isinstance(named, list) else [named]
    kinds = [_kind_of(name) if isinstance(name, str) else name for name in names]
    if kinds and all(isinstance(kind, str) and kind in TYPES for kind in kinds):
        distinct = list(dict.fromkeys(kinds))
        schema["type"] = distinct[0] if len(distinct) == 1 else distinct
    elif isinstance(named, dict):
        others = schema.get("allOf", [])
        schema["allOf"] = [*(others if isinstance(others, list) else []), named]
    elif words := [kind for kind in kinds if isinstance(kind, str) and kind not in TYPES]:
        own = schema.get("description")
        said = f"{own} " if isinstance(own, str) and own else ""
        schema["description"] = f"{said}Type: {', '.join(words)}."


def _kind_of(name: str) -> str | None:
    """The JSON type of this name, the name itself where it is none, None where it says nothing."""
    lower = name.lower()
    return lower if lower in TYPES else _FOREIGN_TYPES.get(lower, name)


def _lift_required(schema: Schema, at: str, changes: Changes) -> None:
    """``required: true`` of draft 3 stands in the property; today it stands beside the properties."""
    properties: dict[str, object] = dict(schema["properties"])  # type: ignore[call-overload]
    named = schema.get("required", [])
    required = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    for name, inner in properties.items():
        if isinstance(inner, dict) and isinstance(inner.get("required"), bool):
            changes.add(ChangeKind.MODERNISED, f"{at}/properties/{escaped(name)}/required", shown(inner["required"]))
            properties[name] = {key: value for key, value in inner.items() if key != "required"}
            required += [name] if inner["required"] else []
    schema["properties"] = properties
    distinct = list(dict.fromkeys(required))
    if distinct != named and (isinstance(named, list) or distinct):
        if distinct[: len(named) if isinstance(named, list) else 0] != named:
            changes.add(ChangeKind.MODERNISED, f"{at}/required", shown(named))
        schema["required"] = distinct


def _place_items(schema: Schema, at: str, changes: Changes) -> None:
    """A list of items of older drafts is ``prefixItems`` today, and ``items`` what ``additionalItems`` was."""
    changes.add(ChangeKind.MODERNISED, f"{at}/items", "a list of schemas")
    if placed := schema.pop("items"):
        schema["prefixItems"] = placed
    if "additionalItems" in schema:
        schema["items"] = schema.pop("additionalItems")


def _split_dependencies(schema: Schema, at: str, changes: Changes) -> None:
    changes.add(ChangeKind.MODERNISED, f"{at}/dependencies")
    for name, needed in schema.pop("dependencies").items():  # type: ignore[attr-defined]
        keyword = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        held = schema.get(keyword, {})
        schema[keyword] = {**held, name: needed} if isinstance(held, dict) else {name: needed}
