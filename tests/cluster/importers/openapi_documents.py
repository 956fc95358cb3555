"""Small OpenAPI documents, written to real files and read back by the importer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from cluster.importers.openapi import read_openapi
from cluster.importers.source import Defaults, Item, Noted, RawRecord, Refusal

Json = dict[str, Any]


def document(paths: Mapping[str, object], version: str = "3.0.3", **more: object) -> Json:
    key = "swagger" if version == "2.0" else "openapi"
    return {key: version, "info": {"title": "Pet Shop", "version": "1.2"}, "paths": dict(paths), **more}


def one_operation(
    operation: Json, path: str = "/x", method: str = "get", version: str = "3.0.3", **more: object
) -> Json:
    return document({path: {method: {"operationId": "op", **operation}}}, version, **more)


def read(folder: Path, value: object, defaults: Defaults = Defaults(), name: str = "shop.json") -> list[Item]:  # noqa: B008 -- frozen
    (folder / name).write_bytes(value if isinstance(value, bytes) else orjson.dumps(value))
    return list(read_openapi(folder / name, defaults))


def tools(items: list[Item]) -> list[Json]:
    return [item.values for item in items if isinstance(item, RawRecord)]


def parameters(items: list[Item]) -> Json:
    """The input schema of the only tool."""
    assert refused(items) == []
    (tool,) = tools(items)
    schema: Json = tool["parameters"]
    return schema


def refused(items: list[Item]) -> list[tuple[str, str]]:
    return [(item.name, item.reason) for item in items if isinstance(item, Refusal)]


def notes(items: list[Item]) -> dict[str, int]:
    return {item.note: item.records for item in items if isinstance(item, Noted)}
