"""Every operation of the AWS service models that are installed with botocore, as a tool. Offline; calls no service.

Descriptions are cut to what retrieval and a model's context can use, nesting is bounded, and a shape inside itself is
cut and says so. An operation that its vendor calls deprecated still answers: it gets a tag, its status is for the
operator to change.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NotRequired, TypedDict

from cluster.errors import UnreadableSource
from cluster.importers.markup import plain_text
from cluster.importers.source import Item, RawRecord
from shards.record import SideEffect

if TYPE_CHECKING:
    from botocore.loaders import Loader

MAX_DESCRIPTION_CHARS: Final = 600
MAX_PROPERTY_CHARS: Final = 120
MAX_PROPERTIES: Final = 24
MAX_DEPTH: Final = 2
"""Levels of properties; below the first one they have names and types only, which is what a call needs."""

_JSON_TYPES: Final = {
    "structure": "object",
    "map": "object",
    "list": "array",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "boolean": "boolean",
}

_READ: Final = frozenset(
    (
        "Get", "List", "Describe", "Search", "Scan", "Query", "Lookup", "Head", "Count", "Discover", "Select",
        "Retrieve", "View", "Preview", "Estimate",
    )
)  # fmt: skip
_DESTRUCTIVE: Final = frozenset(
    ("Delete", "Terminate", "Destroy", "Purge", "Remove", "Deregister", "Revoke", "Drop", "Erase", "Wipe")
)
_PREFIXES: Final = frozenset(("Batch", "Bulk", "Admin", "Force"))

_CAMEL_WORD = re.compile(r"[A-Z][a-z0-9]*")


class Target(TypedDict):
    """Names a shape; ``documentation`` of the place wins over that of the shape."""

    shape: str
    documentation: NotRequired[str]


class Shape(TypedDict):
    """What is read of a shape."""

    type: str
    documentation: NotRequired[str]
    members: NotRequired[dict[str, Target]]
    required: NotRequired[list[str]]
    member: NotRequired[Target]


class Operation(TypedDict):
    """What is read of an operation."""

    documentation: NotRequired[str]
    input: NotRequired[Target]
    deprecated: NotRequired[bool]


class Metadata(TypedDict):
    """What is read of a model's head."""

    serviceFullName: str
    serviceAbbreviation: NotRequired[str]


class ServiceModel(TypedDict):
    """What is read of a service model."""

    metadata: Metadata
    operations: dict[str, Operation]
    shapes: dict[str, Shape]


def read_botocore() -> Iterator[Item]:
    """One item per operation, service by service.

    Raises:
        UnreadableSource: if botocore is not installed.
    """
    loader = _loader()
    services: list[str] = loader.list_available_services("service-2")
    for number, service in enumerate(services, start=1):
        model: ServiceModel = loader.load_service_model(service, "service-2")
        yield from service_items(service, model, number / len(services))


def service_items(service: str, model: ServiceModel, share: float) -> Iterator[RawRecord]:
    """The operations of one service model, in its order; ``service`` is its name in botocore."""
    metadata = model["metadata"]
    label = metadata.get("serviceAbbreviation") or metadata["serviceFullName"]
    for name, operation in model["operations"].items():
        values: dict[str, object] = {
            "id": f"aws:{service}:{name}",
            "name": name,
            "description": plain_text(operation.get("documentation", ""), MAX_DESCRIPTION_CHARS),
            "namespace": f"aws/{service}",
            "parameters": _schema(model["shapes"], operation.get("input")),
            "tags": [label, "deprecated"] if operation.get("deprecated") else [label],
            "access": {"side_effect": side_effect_of(name).value},
        }
        yield RawRecord(label=f"aws/{service} {name}", values=values, share=share)


def side_effect_of(operation: str) -> SideEffect:
    """What an operation does by the verb of its name; a verb that is not known for reading counts as writing."""
    words = _CAMEL_WORD.findall(operation)
    verb = next((word for word in words if word not in _PREFIXES), "")
    if verb in _DESTRUCTIVE:
        return SideEffect.DESTRUCTIVE
    return SideEffect.READ if verb in _READ else SideEffect.WRITE


def _schema(shapes: dict[str, Shape], target: Target | None) -> dict[str, object]:
    """JSON schema of an operation's input; ``{}`` where it takes none."""
    if target is None or not shapes[target["shape"]].get("members"):
        return {}
    return _object(shapes, target["shape"], 1, frozenset())


def _object(shapes: dict[str, Shape], name: str, depth: int, outer: frozenset[str]) -> dict[str, object]:
    """Schema of a structure at ``depth``, 1 for the input itself; ``outer`` names the shapes it lies in."""
    shape = shapes[name]
    shown = dict(list(shape.get("members", {}).items())[:MAX_PROPERTIES])
    properties = {}
    for member, target in shown.items():
        properties[member] = _property(shapes, target["shape"], depth, outer | {name})
        markup = target.get("documentation") or shapes[target["shape"]].get("documentation", "")
        text = plain_text(markup, MAX_PROPERTY_CHARS) if depth == 1 else ""
        if text:
            properties[member]["description"] = text
    required = [member for member in shape.get("required", []) if member in shown]
    schema: dict[str, object] = {"type": "object", "properties": properties}
    return schema | {"required": required} if required else schema


def _property(shapes: dict[str, Shape], name: str, depth: int, outer: frozenset[str]) -> dict[str, object]:
    shape = shapes[name]
    schema: dict[str, object] = {"type": _JSON_TYPES.get(shape["type"], "string")}
    if name in outer:
        return schema | {"description": f"nested {name}"}
    if depth >= MAX_DEPTH:
        return schema
    if shape["type"] == "structure":
        return _object(shapes, name, depth + 1, outer)
    if shape["type"] == "list" and "member" in shape:
        schema["items"] = _property(shapes, shape["member"]["shape"], depth, outer | {name})
    return schema


def _loader() -> "Loader":
    try:
        # Optional: only this importer needs it.
        from botocore.loaders import Loader  # noqa: PLC0415
    except ImportError as exc:
        raise UnreadableSource("botocore", "is not installed; pip install 'shortlist[demo]'") from exc
    return Loader()
