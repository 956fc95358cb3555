"""Keys of an input's properties that a provider takes, and the way back.

Anthropic refuses a request for one key of ``input_schema.properties`` outside ``^[a-zA-Z0-9_.-]{1,64}$``
(``filter[id]``, ``$top``). Keys further inside are not checked, and stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from serve_app.formats.changes import ChangeKind, Changes
from serve_app.formats.names import NameRule, tool_names
from serve_app.formats.references import moved
from serve_app.formats.schema import Schema, escaped


@dataclass(frozen=True, slots=True)
class _Key:
    """A key as something to be named."""

    id: str
    name: str
    namespace: str = ""


def with_legal_keys(root: Schema, rule: NameRule, changes: Changes) -> tuple[Schema, dict[str, str]]:
    """The schema with legal keys at its root, and the keys that were changed: from the new to the record's own."""
    properties = root.get("properties")
    assert isinstance(properties, dict)  # noqa: S101 -- every adapted root has properties
    names = tool_names([_Key(key, key) for key in properties], rule)
    new = {old: name for old, name in names.items() if old != name}
    if not new:
        return root, {}
    for old, name in new.items():
        changes.add(ChangeKind.RENAMED, f"/properties/{escaped(old)}", name)
        root = moved(root, f"#/properties/{escaped(old)}", f"#/properties/{escaped(name)}")
    return _renamed(root, new), {name: old for old, name in new.items()}


def _renamed(schema: object, new: Mapping[str, str]) -> Schema:
    """The schema, and those inside it that speak of the same object, with other keys."""
    assert isinstance(schema, dict)  # noqa: S101 -- _inside calls it for nothing else
    copy: Schema = dict(schema)
    for key, value in schema.items():
        match key:
            case "properties" if isinstance(value, dict):
                copy[key] = {new.get(name, name): inner for name, inner in value.items()}
            case "required" if isinstance(value, list):
                copy[key] = [new.get(name, name) for name in value]
            case "dependentRequired" if isinstance(value, dict):
                copy[key] = {
                    new.get(name, name): [new.get(one, one) for one in needed] for name, needed in value.items()
                }
            case "dependentSchemas" if isinstance(value, dict):
                copy[key] = {new.get(name, name): _inside(inner, new) for name, inner in value.items()}
            case "if" | "then" | "else" | "not":
                copy[key] = _inside(value, new)
            case "allOf" | "anyOf" | "oneOf" if isinstance(value, list):
                copy[key] = [_inside(inner, new) for inner in value]
    return copy


def _inside(schema: object, new: Mapping[str, str]) -> object:
    return _renamed(schema, new) if isinstance(schema, dict) else schema
