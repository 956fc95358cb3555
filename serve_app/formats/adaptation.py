"""A record's parameters as an input schema that a provider takes: the steps, in their order.

Which steps a provider needs is its ``SchemaRules``. What was changed is noted; the record stays as it is.
"""

from dataclasses import dataclass
from typing import Final

from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.flatten import can_be_object, described, flattened
from serve_app.formats.names import NameRule
from serve_app.formats.property_keys import with_legal_keys
from serve_app.formats.references import moved, target_of, without_dead_references, without_unused_definitions
from serve_app.formats.repair import repaired, shown
from serve_app.formats.schema import Schema, rebuilt, schemas_in

_MOST_REFERENCES: Final = 8
"""References behind references that are followed to tell the type of a root."""

WRAPPER: Final = "input"
"""The property that holds an input which is no object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """What a provider wants of an input schema beyond ``type: object`` and JSON Schema 2020-12.

    Attributes:
        plain_root: no combination at the root.
        forbidden_at_root: keywords that may not stand there either; their meaning goes into words.
        items_everywhere: every array says what its items are.
        own_references: only references that lead to a place in the schema.
        keys: what it takes for keys of the root's properties, None for any.
    """

    plain_root: bool = False
    forbidden_at_root: tuple[str, ...] = ()
    items_everywhere: bool = False
    own_references: bool = False
    keys: NameRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """An input schema for a provider.

    Attributes:
        arguments: keys of properties as the model will write them, to the record's own; those that differ.
    """

    schema: Schema
    arguments: dict[str, str]


def adapted(parameters: Schema, rules: SchemaRules, changes: Changes) -> Adapted:
    """The input schema; its root always has ``type: object`` and ``properties``.

    Raises:
        UnusableSchema: if no input can be told from the parameters.
    """
    schema = _as_object(repaired(parameters, changes), changes)
    if rules.plain_root and (plain := flattened(schema, changes)) is not schema:
        schema = without_unused_definitions(plain)
    schema = _with_root(_without_forbidden(schema, rules, changes), changes)
    if rules.items_everywhere:
        schema = _with_items(schema, changes)
    arguments: dict[str, str] = {}
    if rules.keys:
        schema, arguments = with_legal_keys(schema, rules.keys, changes)
    if rules.own_references:
        schema = without_dead_references(schema, changes)
    return Adapted(schema=schema, arguments=arguments)


def _as_object(schema: Schema, changes: Changes) -> Schema:
    """The schema of an object; one of anything else goes under ``WRAPPER``, for an input always is an object."""
    if _takes_object(schema, schema):
        return schema
    changes.add(ChangeKind.WRAPPED, "", f"the value of {WRAPPER!r} is the whole input")
    definitions: Schema = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    inner = {key: value for key, value in schema.items() if key not in definitions}
    wrapped: Schema = {"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER], **definitions}
    for keyword in inner:
        wrapped = moved(wrapped, f"#/{keyword}", f"#/properties/{WRAPPER}/{keyword}")
    return _with_root_moved(wrapped)


def _takes_object(root: Schema, schema: object) -> bool:
    """Whether an object can be an input, by its type or by the types of what its root refers to and chooses from."""
    for _ in range(_MOST_REFERENCES):
        if isinstance(schema, dict) and "type" not in schema and "$ref" in schema:
            schema = target_of(root, schema["$ref"]) or True
    if not can_be_object(schema) or not isinstance(schema, dict) or "type" in schema or "properties" in schema:
        return can_be_object(schema)
    choices = [schema[key] for key in ("anyOf", "oneOf") if key in schema]
    return all(any(can_be_object(one) for one in choice) for choice in choices if isinstance(choice, list))


def _with_root_moved(wrapped: Schema) -> Schema:
    def change(schema: Schema, _at: str) -> Schema:
        if schema.get("$ref") == "#":
            schema["$ref"] = f"#/properties/{WRAPPER}"
        return schema

    return rebuilt(wrapped, change)  # type: ignore[return-value]


def _without_forbidden(schema: Schema, rules: SchemaRules, changes: Changes) -> Schema:
    sentences = []
    for keyword in rules.forbidden_at_root:
        if keyword in schema:
            words = "The input as a whole must not match" if keyword == "not" else "The input as a whole must be"
            of = " one of" if keyword == "enum" else ""
            sentences.append(f"{words}{of} {shown(schema[keyword])}.")
            changes.add(ChangeKind.DESCRIBED, f"/{keyword}", sentences[-1])
    kept = {key: value for key, value in schema.items() if key not in rules.forbidden_at_root}
    return described(kept, sentences)


def _with_root(schema: Schema, changes: Changes) -> Schema:
    if schema.get("type") != "object":
        changes.add(ChangeKind.ADDED, "/type", '"object"')
    if "properties" not in schema:
        changes.add(ChangeKind.ADDED, "/properties", "none")
    return {**schema, "type": "object", "properties": schema.get("properties", {})}


def _with_items(schema: Schema, changes: Changes) -> Schema:
    """An array without ``items`` may hold anything, which then has to be said."""

    def change(inner: Schema, at: str) -> Schema:
        if _lacks_items(inner):
            changes.add(ChangeKind.ADDED, f"{at}/items", "anything")
            inner["items"] = {}
        return inner

    if not any(map(_lacks_items, schemas_in(schema))):
        return schema
    return rebuilt(schema, change)  # type: ignore[return-value]


def _lacks_items(schema: Schema) -> bool:
    kind = schema.get("type")
    return (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in schema
