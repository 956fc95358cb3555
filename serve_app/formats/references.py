"""References inside one schema: where they lead, those that lead nowhere, and definitions that nothing refers to.

Nothing outside the schema is ever read.
"""

from typing import Final
from urllib.parse import unquote

from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.schema import Schema, rebuilt, schemas_in

_DEFINITIONS: Final = ("$defs", "definitions")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def target_of(root: Schema, reference: object) -> object:
    """What a JSON pointer like ``#/$defs/name`` leads to; None if nothing stands there, or it is no such pointer."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    node: object = root
    for step in unquote(reference[2:]).split("/") if len(reference) > 1 else []:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict):
            node = node.get(name)
        elif isinstance(node, list):
            node = node[int(name)] if name.isascii() and name.isdigit() and int(name) < len(node) else None
        else:
            return None
    return node


def without_dead_references(root: Schema, changes: Changes) -> Schema:
    """The schema without references to other documents, and to places of its own that are not there."""
    schemas = list(schemas_in(root))
    if not any(key in schema for schema in schemas for key in _REFERENCES):
        return root
    anchors = {f"#{schema['$anchor']}" for schema in schemas if "$anchor" in schema}

    def change(schema: Schema, at: str) -> Schema:
        for key in _REFERENCES:
            reference = schema.get(key)
            if reference is None or reference in anchors:
                continue
            if not isinstance(target_of(root, reference), dict | bool):
                changes.add(ChangeKind.UNRESOLVED, f"{at}/{key}", str(reference))
                del schema[key]
        return schema

    return rebuilt(root, change)  # type: ignore[return-value]


def moved(root: Schema, old: str, new: str) -> Schema:
    """The schema with references to ``old`` and to all inside it leading to ``new`` instead."""

    def change(schema: Schema, _at: str) -> Schema:
        reference = schema.get("$ref")
        if isinstance(reference, str) and (reference == old or reference.startswith(f"{old}/")):
            schema["$ref"] = new + reference[len(old) :]
        return schema

    return rebuilt(root, change)  # type: ignore[return-value]


def without_unused_definitions(root: Schema) -> Schema:
    """The schema without definitions that nothing leads to any more: they say nothing, but cost tokens."""
    while True:
        pointers = [str(schema["$ref"]) for schema in schemas_in(root) if "$ref" in schema]
        if any(pointer == "#" or not pointer.startswith("#/") for pointer in pointers):
            return root
        used = {tuple(unquote(pointer).split("/")[1:3]) for pointer in pointers}
        kept = {key: _used(key, root[key], used) for key in _DEFINITIONS if isinstance(root.get(key), dict)}
        fewer = {key: kept.get(key, value) for key, value in root.items() if kept.get(key, True) != {}}
        if fewer == root:
            return root
        root = fewer


def _used(keyword: str, definitions: object, used: set[tuple[str, ...]]) -> Schema:
    """Definitions at the end of a pointer; an escaped name keeps its own."""
    assert isinstance(definitions, dict)  # noqa: S101 -- the caller has looked
    return {
        name: schema
        for name, schema in definitions.items()
        if (keyword, name.replace("~", "~0").replace("/", "~1")) in used
    }
