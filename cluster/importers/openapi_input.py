"""The input of one OpenAPI operation as one JSON schema: its parameters and its request body side by side.

Parameters of path, query, header, cookie and form become properties. So do the properties of a JSON body, where
nothing is lost by it; any other body becomes the property ``body``. It neither reads documents nor names tools.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from cluster.importers.openapi_compose import Composed, Composer
from cluster.importers.openapi_refs import References, UnusableOperation, list_at, object_at, shown
from cluster.importers.openapi_schema import SchemaWriter

MAX_PARAMETERS: Final = 1_000

_PLACES: Final = ("path", "query", "header", "cookie", "formData")
"""Where parameters go, in the order in which they keep their name."""

_WORDS: Final = {"formData": "form"}

_NO_PARAMETERS: Final = frozenset(("accept", "content-type", "authorization"))
"""Headers that OpenAPI takes from elsewhere, whatever a list of parameters says."""

_BODY: Final = "body"
_FLAT: Final = frozenset(
    ("type", "properties", "required", "description", "title", "default", "format", "additionalProperties",
     "nullable", "x-nullable", "deprecated")
)  # fmt: skip
"""Keywords of a body whose properties can stand beside the parameters."""

_TEMPLATED = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What an operation takes.

    Attributes:
        schema: a JSON schema of type object; empty where it takes nothing.
        looped: a schema that contains itself was cut.
        cut: schemas were cut to fit.
        renamed: parameters of one name in several places were told apart.
    """

    schema: dict[str, object]
    looped: bool
    cut: bool
    renamed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameter:
    """One parameter; ``key`` is its name among all properties, ``place`` one of ``_PLACES`` or the body."""

    name: str
    key: str
    place: str
    required: bool
    description: str
    schema: object


class InputWriter:
    """Writes the inputs of the operations of one document; ``siblings`` as in ``Composer``."""

    def __init__(self, references: References, *, siblings: bool) -> None:
        self._references = references
        self._siblings = siblings

    def input_of(self, path: str, item: Mapping[str, object], operation: Mapping[str, object]) -> Input:
        """The input of an operation of a path item.

        Raises:
            UnusableOperation: naming what cannot be read.
        """
        found = self._parameters(path, item, operation)
        placed = _with_keys([one for one in found if one.place != _BODY])
        body = self._body(found, operation)
        composer = Composer(self._references, siblings=self._siblings)
        writer = SchemaWriter(composer)
        writer.reserve(one.key for one in placed)
        properties: dict[str, object] = {one.key: writer.place(one.schema, one.description) for one in placed}
        required = [one.key for one in placed if one.required]
        if body is not None:
            more, needed = _body_properties(body, composer, writer, frozenset(properties))
            properties |= more
            required += needed
        writer.finish()
        schema: dict[str, object] = {"type": "object", "properties": properties} if properties else {}
        if required:
            schema["required"] = required
        renamed = any(one.key != one.name for one in placed)
        return Input(schema=schema, looped=writer.looped, cut=writer.cut, renamed=renamed)

    def _parameters(self, path: str, item: Mapping[str, object], operation: Mapping[str, object]) -> list[_Parameter]:
        """All parameters in the order of their places; those of the operation replace those of its path."""
        found: dict[tuple[str, str], _Parameter] = {}
        for holder in (item, operation):
            listed = list_at("parameters", holder.get("parameters"))
            if len(listed) > MAX_PARAMETERS:
                raise UnusableOperation(f"parameters: more than {MAX_PARAMETERS}")
            for number, value in enumerate(listed, start=1):
                one = self._parameter(f"parameters: item {number}", value)
                if one.place != "header" or one.name.casefold() not in _NO_PARAMETERS:
                    found[one.name, one.place] = one
        for name in dict.fromkeys(_TEMPLATED.findall(path)):
            # Some documents forget it; no call can.
            found.setdefault((name, "path"), _undeclared(name))
        order = {place: rank for rank, place in enumerate((*_PLACES, _BODY))}
        return sorted(found.values(), key=lambda one: order[one.place])

    def _parameter(self, field: str, value: object) -> _Parameter:
        held = object_at(field, self._references.follow(value).value)
        name, place, description = held.get("name"), held.get("in"), held.get("description")
        if not isinstance(name, str) or not name:
            raise UnusableOperation(f"{field}: name: must be non-empty text")
        if place not in (*_PLACES, _BODY):
            allowed = ", ".join((*_PLACES, _BODY))
            raise UnusableOperation(f"{field}: in: {shown(str(place))} is not allowed; expected {allowed}")
        return _Parameter(
            name=name,
            key=name,
            place=str(place),
            required=held.get("required") is True or place == "path",
            description=description if isinstance(description, str) else "",
            schema=_schema_in(held),
        )

    def _body(self, found: list[_Parameter], operation: Mapping[str, object]) -> _Parameter | None:
        """The body: of OpenAPI 2.0 a parameter, later something of its own; None where there is none."""
        if (value := operation.get("requestBody")) is None:
            return next((one for one in found if one.place == _BODY), None)
        held = object_at("requestBody", self._references.follow(value).value)
        description = held.get("description")
        return _Parameter(
            name=_BODY,
            key=_BODY,
            place=_BODY,
            required=held.get("required") is True,
            description=description if isinstance(description, str) else "",
            schema=_content_schema("requestBody", held.get("content")),
        )


def _schema_in(held: Mapping[str, object]) -> object:
    """The schema of a parameter; in OpenAPI 2.0 the parameter is its own."""
    if "schema" in held:
        return held["schema"]
    if "content" in held:
        return _content_schema("content", held["content"])
    return {key: value for key, value in held.items() if key not in ("required", "description")}


def _content_schema(field: str, content: object) -> object:
    """The schema of the media type that is best for a model: JSON, then forms, then the first one."""
    kinds = object_at(field, content if content is not None else {})
    if not kinds:
        return {}
    best = min(kinds, key=_media_rank)
    return object_at(f"{field}: {shown(best)}", kinds[best]).get("schema", {})


def _media_rank(kind: str) -> int:
    """Lower is better; of equals the first one counts."""
    plain = kind.partition(";")[0].strip().casefold()
    ranks = {"application/json": 0, "application/x-www-form-urlencoded": 2, "multipart/form-data": 3}
    return 1 if plain.endswith("+json") else ranks.get(plain, 4)


def _undeclared(name: str) -> _Parameter:
    return _Parameter(name=name, key=name, place="path", required=True, description="", schema={"type": "string"})


def _with_keys(placed: list[_Parameter]) -> list[_Parameter]:
    """The first parameter of a name keeps it; the others get their place added."""
    shared = Counter(one.name for one in placed)
    taken = set(shared)
    seen: set[str] = set()
    keyed = []
    for one in placed:
        key = _free(f"{one.name}_{_WORDS.get(one.place, one.place)}", taken) if one.name in seen else one.name
        seen.add(one.name)
        taken.add(key)
        explained = f"The {_WORDS.get(one.place, one.place)} parameter {one.name!r}. {one.description}".rstrip()
        keyed.append(replace(one, key=key, description=explained if shared[one.name] > 1 else one.description))
    return keyed


def _free(key: str, taken: frozenset[str] | set[str]) -> str:
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{key}_{number}"
    return free


def _body_properties(
    body: _Parameter, composer: Composer, writer: SchemaWriter, taken: frozenset[str]
) -> tuple[dict[str, object], list[str]]:
    """The properties that a body becomes, and which of them are required."""
    composed = composer.compose(body.schema)
    if _is_flat(composed, body, taken):
        properties, required = writer.properties(composed, level=1)
        if properties:
            return properties, required
    key = _free(_BODY, taken)
    return {key: writer.place(body.schema, body.description)}, [key] if body.required else []


def _is_flat(composed: Composed, body: _Parameter, taken: frozenset[str]) -> bool:
    """Whether the properties of a body can stand beside the parameters, with nothing lost and nothing mixed up."""
    schema = composed.schema
    properties = schema.get("properties")
    if composed.loop or not isinstance(properties, dict) or not properties or not taken.isdisjoint(properties):
        return False
    if any(key not in _FLAT for key in schema if not key.startswith("x-")):
        return False
    if not isinstance(schema.get("additionalProperties", True), bool):
        return False
    # What an optional body requires is required only if there is a body.
    return body.required or not schema.get("required")
