"""A JSON schema cut at the boundaries of its properties: whole top-level properties, and the definitions they need.

What comes out is a valid schema wherever what went in was one. It is never the whole: constraints over several
properties are left out, and so is what closes a schema to properties that are not named.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeGuard

import orjson

Definition = tuple[str, str]
"""Section (``$defs`` or ``definitions``) and name."""

_SECTIONS: Final = ("$defs", "definitions")
_KEPT: Final = ("$id", "$schema", "type")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

MOST_NEEDED: Final = 64
"""Definitions behind one property; with more it is never part of a cut. A schema of thousands of properties and
definitions that refer to each other would otherwise take minutes, and a gigabyte, to be taken apart."""


MOST_PROPERTIES: Final = 1_024
"""Properties that are looked at: no cut has room for more, and to take thousands apart takes a tenth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One top-level property: its JSON, the tokens of its name and JSON, and the definitions behind it."""

    name: str
    json: bytes
    tokens: int
    needs: tuple[Definition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaParts:
    """A schema taken apart.

    Attributes:
        properties: required ones first, then the others, each in the schema's order, ``MOST_PROPERTIES`` at most; those
            that refer to parts of the schema which may be left out, or to too much of it, are not among them.
        total: top-level properties of the schema.
        bare_tokens: of the schema without any property.
        least_tokens: of the schema with the shortest one; one more than any limit where there is none.
        root: what of the root is always kept; the whole of ``required`` too, for it stays true.
        definitions: JSON and tokens of each.
    """

    properties: tuple[Property, ...]
    total: int
    bare_tokens: int
    least_tokens: int
    root: Mapping[str, object]
    definitions: Mapping[Definition, tuple[bytes, int]]


def parts_of(schema: Mapping[str, Any], count: Callable[[str], int]) -> SchemaParts | None:
    """The parts of a schema, None where it has no properties by name."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return None
    sections = {
        (section, name): value
        for section in _SECTIONS
        if isinstance(held := schema.get(section), dict)
        for name, value in held.items()
    }
    required = schema.get("required")
    first = [name for name in required if name in properties] if _are_names(required) else []
    parts = []
    direct: dict[Definition, tuple[Definition, ...] | None] = {}
    for name in islice(dict.fromkeys((*first, *properties)), MOST_PROPERTIES):
        needs = _needs(properties[name], sections, direct)
        if needs is not None:
            json = orjson.dumps(properties[name])
            parts.append(Property(name=name, json=json, tokens=_tokens(name, json, count), needs=needs))
    needed = {one for part in parts for one in part.needs}
    encoded = {one: orjson.dumps(sections[one]) for one in sorted(needed)}
    root = {key: schema[key] for key in _KEPT if key in schema}
    if first:
        root["required"] = required
    definitions = {one: (json, _tokens(one[1], json, count)) for one, json in encoded.items()}
    bare_tokens = count(_joined(root, {}, ()).decode())
    costs = [one.tokens + sum(definitions[need][1] for need in one.needs) for one in parts]
    return SchemaParts(
        properties=tuple(parts),
        total=len(properties),
        bare_tokens=bare_tokens,
        least_tokens=bare_tokens + min(costs, default=sys.maxsize),
        root=root,
        definitions=definitions,
    )


def cut_schema(parts: SchemaParts, limit_tokens: int, count: Callable[[str], int]) -> tuple[bytes, int, int] | None:
    """As many properties as fit into the tokens, in their order; one too long leaves its place to the next ones.

    Returns:
        Canonical JSON, its tokens, and how many properties it has; None where none fits.
    """
    if limit_tokens < parts.least_tokens:
        return None
    spent = parts.bare_tokens
    chosen: list[Property] = []
    have: set[Definition] = set()
    for one in parts.properties:
        cost = one.tokens
        if one.needs:
            cost += sum(parts.definitions[need][1] for need in one.needs if need not in have)
        if spent + cost <= limit_tokens:
            chosen.append(one)
            have.update(one.needs)
            spent += cost
    while chosen:
        json = _joined(parts.root, parts.definitions, chosen)
        # The sum of counts of pieces is near the count of the whole, and not it.
        if (tokens := count(json.decode())) <= limit_tokens:
            return json, tokens, len(chosen)
        chosen.pop()
    return None


def _joined(
    root: Mapping[str, object], definitions: Mapping[Definition, tuple[bytes, int]], chosen: Sequence[Property]
) -> bytes:
    schema: dict[str, object] = dict(root)
    schema["properties"] = {one.name: orjson.Fragment(one.json) for one in chosen}
    for section, name in sorted({need for one in chosen for need in one.needs}):
        held = schema.setdefault(section, {})
        assert isinstance(held, dict)  # noqa: S101 -- made in the line before
        held[name] = orjson.Fragment(definitions[section, name][0])
    return orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)


def _tokens(name: str, json: bytes, count: Callable[[str], int]) -> int:
    """Of a member of an object, its comma included."""
    return count(f'"{name}":{json.decode()},')


def _are_names(required: object) -> TypeGuard[list[str]]:
    return isinstance(required, list) and all(isinstance(name, str) for name in required)


def _needs(
    value: object,
    sections: Mapping[Definition, object],
    direct: dict[Definition, tuple[Definition, ...] | None],
) -> tuple[Definition, ...] | None:
    """The definitions behind a property, those behind them included.

    None where it refers to anything else inside, or to more than ``MOST_NEEDED``. ``direct`` remembers what each
    definition itself refers to.
    """
    waiting = _referred(value, sections)
    needs: dict[Definition, None] = {}
    while waiting is not None:
        new = [one for one in waiting if one not in needs]
        if not new:
            return tuple(needs)
        needs |= dict.fromkeys(new)
        if len(needs) > MOST_NEEDED:
            return None
        waiting = _behind(new, sections, direct)
    return None


def _behind(
    some: Sequence[Definition],
    sections: Mapping[Definition, object],
    direct: dict[Definition, tuple[Definition, ...] | None],
) -> tuple[Definition, ...] | None:
    """What these definitions refer to themselves; None where one refers to anything else inside."""
    found: list[Definition] = []
    for one in some:
        if one not in direct:
            direct[one] = _referred(sections[one], sections)
        if (referred := direct[one]) is None:
            return None
        found += referred
    return tuple(found)


def _referred(value: object, sections: Mapping[Definition, object]) -> tuple[Definition, ...] | None:
    """The definitions that a value refers to, each once; None where it refers to anything else inside."""
    found: dict[Definition, None] = {}
    for reference in _references(value):
        if not reference.startswith("#") or reference == "#":
            continue
        section, _, path = reference[2:].partition("/")
        one = (section, path.partition("/")[0].replace("~1", "/").replace("~0", "~"))
        if one not in sections:
            return None
        found[one] = None
    return tuple(found)


def _references(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        held = waiting.pop()
        if isinstance(held, dict):
            yield from (one for key in _REFERENCES if isinstance(one := held.get(key), str))
            waiting.extend(held.values())
        elif isinstance(held, list):
            waiting.extend(held)
