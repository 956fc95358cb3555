"""One schema of an OpenAPI document as one plain object: its references followed, its ``allOf`` merged in.

It looks one level deep: what stands in properties, items and alternatives is left as it is.
"""

from dataclasses import dataclass, field
from typing import Final

from cluster.importers.openapi_refs import References, UnusableOperation, list_at, object_at, shown

MAX_PARTS: Final = 512
"""Parts of ``allOf``, those of parts included, of one schema."""

MAX_PARTS_OF_OPERATION: Final = 20_000

MAX_PART_DEPTH: Final = 32
MAX_PROPERTIES: Final = 4_000

ANNOTATIONS: Final = frozenset(
    ("title", "description", "default", "deprecated", "nullable", "x-nullable", "readOnly", "writeOnly", "format")
)
"""Keywords that a nearer schema overrides; where any other one differs, schemas stay apart."""

ANNOTATING_SIBLINGS: Final = frozenset(("title", "description", "deprecated", "default"))
"""What counts beside a ``$ref`` before OpenAPI 3.1."""

_LEFT_OUT: Final = frozenset(("example", "examples", "xml", "externalDocs", "discriminator"))

Schema = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A schema as one object.

    Attributes:
        schema: without ``$ref``; with ``allOf`` only where its parts contradict each other.
        names: the references that were followed, with those around the schema.
        loop: the reference by which the schema contains itself; empty where it does not. Then ``schema`` is what it
            refers to, and not to be looked into.
    """

    schema: Schema
    names: frozenset[str]
    loop: str = ""


class Composer:
    """Composes the schemas of one operation; ``siblings``: keywords beside a ``$ref`` count, as from OpenAPI 3.1 on."""

    def __init__(self, references: References, *, siblings: bool) -> None:
        self._references = references
        self._siblings = siblings
        self._parts = 0

    def compose(self, value: object, outer: frozenset[str] = frozenset()) -> Composed:
        """A schema that lies in the schemas which the references ``outer`` name.

        Raises:
            UnusableOperation: if a reference cannot be followed, or the schema is none or too large.
        """
        work = _Composition(self._references, siblings=self._siblings)
        composed = work.compose(value, outer, 1)
        self._parts += work.parts
        if self._parts > MAX_PARTS_OF_OPERATION:
            raise UnusableOperation(f"allOf: more than {MAX_PARTS_OF_OPERATION} parts in one operation")
        return composed


@dataclass(slots=True)
class _Composition:
    """The work on one schema; ``parts`` counts what has been merged into it."""

    references: References
    siblings: bool = field(kw_only=True)
    parts: int = 0

    def compose(self, value: object, outer: frozenset[str], depth: int) -> Composed:
        target = self.references.follow(value)
        names = outer.union(target.names)
        schema = _as_schema(target.value)
        if loop := next((name for name in target.names if name in outer), ""):
            return Composed(schema=schema, names=names, loop=loop)
        if "allOf" in schema:
            schema, names = self._merge_all(schema, names, depth)
        if target.names and isinstance(value, dict):
            schema = _merged(schema, self._beside(value)) or schema
        return Composed(schema=schema, names=names)

    def _beside(self, value: Schema) -> Schema:
        kept = _as_schema(value)
        return {key: kept[key] for key in kept if key != "$ref" and (self.siblings or key in ANNOTATING_SIBLINGS)}

    def _merge_all(self, schema: Schema, names: frozenset[str], depth: int) -> tuple[Schema, frozenset[str]]:
        if depth > MAX_PART_DEPTH:
            raise UnusableOperation(f"allOf: nested deeper than {MAX_PART_DEPTH} levels")
        within: Schema | None = {}
        seen = names
        for part in list_at("allOf", schema["allOf"]):
            self.parts += 1
            if self.parts > MAX_PARTS:
                raise UnusableOperation(f"allOf: more than {MAX_PARTS} parts in one schema")
            composed = self.compose(part, names, depth + 1)
            seen |= composed.names
            # A schema that is a part of itself adds nothing to itself.
            if not composed.loop and within is not None:
                within = _merged(within, composed.schema)
        own = {key: value for key, value in schema.items() if key != "allOf"}
        whole = None if within is None else _merged(within, own)
        return (schema, names) if whole is None else (whole, seen)


def _as_schema(value: object) -> Schema:
    """A schema as an object, without what says nothing about a call; ``true`` and ``false`` are schemas too."""
    if isinstance(value, bool):
        return {} if value else {"not": {}}
    return {key: part for key, part in object_at("schema", value).items() if key not in _LEFT_OUT}


def _merged(first: Schema, second: Schema) -> Schema | None:
    """Both schemas in one, or None where they contradict each other; a property of both has to satisfy both."""
    merged = dict(first)
    for key, value in second.items():
        held = merged.get(key)
        if key not in merged or key in ANNOTATIONS or held == value:
            merged[key] = value
        elif key == "properties" and isinstance(held, dict) and isinstance(value, dict):
            merged[key] = _joined(held, value)
        elif key == "required" and isinstance(held, list) and isinstance(value, list):
            merged[key] = [*held, *(name for name in value if name not in held)]
        elif not key.startswith("x-"):
            return None
    return merged


def _joined(first: dict[str, object], second: dict[str, object]) -> dict[str, object]:
    joined = dict(first)
    for name, value in second.items():
        joined[name] = {"allOf": [joined[name], value]} if joined.get(name, value) != value else value
    if len(joined) > MAX_PROPERTIES:
        raise UnusableOperation(
            f"properties: more than {MAX_PROPERTIES} in one schema, e.g. {shown(next(iter(joined)))}"
        )
    return joined
