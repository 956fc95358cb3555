"""Writes schemas of an OpenAPI document as JSON schemas without references, breadth first and into a bounded room.

Every schema gets its own keywords before any gets what lies deeper, so what does not fit is always the deepest. A
schema inside itself is cut and says so. It knows no operations and no parameters.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import orjson

from cluster.importers.openapi_compose import Composed, Composer
from cluster.importers.openapi_keywords import is_nullable, plain_keywords

MAX_SCHEMA_BYTES: Final = 32_768
"""What all schemas of one operation together may take as JSON, counted to a tenth; about 8,000 tokens."""

MAX_LEVELS: Final = 12
"""A property takes two levels of JSON, and a record's parameters may have 32."""

_STUB_BYTES: Final = 24
"""What a schema takes before anything is known of it: ``{"type":"integer"},``."""

_AROUND_BYTES: Final = 32
"""What stands around schemas: ``"properties":{},"required":[],``."""

_ALTERNATIVES: Final = ("oneOf", "anyOf", "allOf", "prefixItems")

Written = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A schema to write into ``place``, which stands where it belongs already."""

    place: Written
    source: object
    description: str
    level: int
    outer: frozenset[str]


class SchemaWriter:
    """Writes the schemas of one operation.

    Attributes:
        looped: a schema that contains itself was cut.
        cut: something did not fit.
    """

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self._waiting: deque[_Task] = deque()
        self._room = MAX_SCHEMA_BYTES
        self.looped = False
        self.cut = False

    def place(
        self, source: object, description: str = "", *, level: int = 1, outer: frozenset[str] = frozenset()
    ) -> Written:
        """The schema as an object that is empty until ``finish``."""
        written: Written = {}
        self._waiting.append(_Task(place=written, source=source, description=description, level=level, outer=outer))
        return written

    def reserve(self, names: Iterable[str]) -> None:
        """Take the room of schemas that are placed under these names, whether there is enough or not."""
        self._room -= _size(names)

    def properties(self, composed: Composed, *, level: int) -> tuple[dict[str, object], list[str]]:
        """The properties of a schema, each to be filled in by ``finish``, and which of them are required.

        Those that a service only answers with are none of a request. Where not all fit, the required ones alone are
        tried, then none.

        Raises:
            UnusableOperation: if one cannot be followed.
        """
        held = composed.schema.get("properties")
        sources = {
            name: source
            for name, source in (held.items() if isinstance(held, dict) else ())
            if not self._answered_only(source, composed.names)
        }
        required = [name for name in _names(composed.schema.get("required")) if name in sources]
        if not self._fits(sources):
            sources = {name: sources[name] for name in required}
            if not self._fits(sources):
                return {}, []
        self._room -= len(orjson.dumps(required))
        written = {name: self.place(source, level=level, outer=composed.names) for name, source in sources.items()}
        return dict(written), required

    def finish(self) -> None:
        """Fill in everything that was placed.

        Raises:
            UnusableOperation: if a schema is none, or refers to something that is not in the document.
        """
        while self._waiting:
            self._write(self._waiting.popleft())

    def _write(self, task: _Task) -> None:
        composed = self._composer.compose(task.source, task.outer)
        own = plain_keywords(composed.schema, task.description)
        if composed.loop:
            self.looped = True
            kind = {"type": own["type"]} if "type" in own else {}
            own = kind | {"description": f"nested {composed.loop.rsplit('/', 1)[-1]}"}
        size = len(orjson.dumps(own))
        if size > self._room + _STUB_BYTES:
            self.cut = True
            task.place.update({"type": own["type"]} if "type" in own else {})
            return
        self._room -= max(0, size - _STUB_BYTES)
        task.place.update(own)
        if not composed.loop:
            self._add_inner(task, composed)

    def _add_inner(self, task: _Task, composed: Composed) -> None:
        """Place what lies in a schema, as far as it fits."""
        schema, level = composed.schema, task.level + 1
        if level > MAX_LEVELS:
            self.cut = self.cut or any(key in schema for key in ("properties", "items", *_ALTERNATIVES))
            return
        self._add_properties(task.place, composed, level)
        for name in ("items", "additionalProperties"):
            self._add_one(task.place, name, schema.get(name), level, composed.names)
        if schema.get("not") == {}:
            # Any other ``not`` is left out: what is cut inside it would forbid more than the document does.
            task.place["not"] = {}
        for name in _ALTERNATIVES:
            self._add_each(task.place, name, schema.get(name), level, composed.names)
        if is_nullable(schema):
            _add_null(task.place)

    def _add_properties(self, place: Written, composed: Composed, level: int) -> None:
        held, needed = composed.schema.get("properties"), _names(composed.schema.get("required"))
        if not isinstance(held, dict) or not held:
            # Alternatives often differ in nothing but what they require.
            if needed and self._fits(needed):
                place["required"] = needed
            return
        written, required = self.properties(composed, level=level)
        if written:
            place["properties"] = written
        if required:
            place["required"] = required
        closed = composed.schema.get("additionalProperties") is False and "patternProperties" not in composed.schema
        # What a pattern admits is not written, so that it must not be forbidden either.
        if closed and len(written) == len(held):
            place["additionalProperties"] = False

    def _add_one(self, place: Written, name: str, source: object, level: int, outer: frozenset[str]) -> None:
        if name == "items" and isinstance(source, list):
            self._add_each(place, "prefixItems", source, level, outer)
        elif source is True:
            place[name] = True
        elif isinstance(source, dict) and source and self._fits((name,)):
            place[name] = self.place(source, level=level, outer=outer)

    def _add_each(self, place: Written, name: str, sources: object, level: int, outer: frozenset[str]) -> None:
        if isinstance(sources, list) and sources and self._fits([name] * len(sources)):
            place[name] = [self.place(source, level=level, outer=outer) for source in sources]

    def _fits(self, names: Iterable[str]) -> bool:
        """Take room for a schema of each name, if there is enough."""
        size = _AROUND_BYTES + _size(names)
        if size > self._room:
            self.cut = True
            return False
        self._room -= size
        return True

    def _answered_only(self, source: object, outer: frozenset[str]) -> bool:
        if not isinstance(source, dict):
            return False
        if source.get("readOnly") is True:
            return True
        if "$ref" not in source and "allOf" not in source:
            return False
        return self._composer.compose(source, outer).schema.get("readOnly") is True


def _size(names: Iterable[str]) -> int:
    return sum(len(name.encode()) + _STUB_BYTES for name in names)


def _add_null(place: Written) -> None:
    """Let null be one of the alternatives of a schema that has no type of its own."""
    if "type" in place:
        return
    for name in ("oneOf", "anyOf"):
        alternatives = place.get(name)
        if isinstance(alternatives, list):
            alternatives.append({"type": "null"})
            return


def _names(value: object) -> list[str]:
    """The texts of a list, each once."""
    return list(dict.fromkeys(name for name in value if isinstance(name, str))) if isinstance(value, list) else []
