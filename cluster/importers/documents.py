"""Whole documents, for the formats that are one JSON value: read with bounds, from JSON or YAML. It knows no format."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers.encoding import without_mark
from cluster.importers.source import reason_of
from cluster.importers.yaml_document import parse_yaml

MAX_DOCUMENT_BYTES: Final = 64 * 1_048_576

MAX_YAML_BYTES: Final = 32 * 1_048_576
"""YAML is read a hundred times slower than JSON."""

_JSON_DEPTH: Final = 1_024
"""Levels of nesting that orjson reads."""


def read_document(path: Path) -> object:
    """The JSON value of a file.

    Raises:
        UnreadableSource: if it is missing or no JSON.
        OversizedSource: if it is larger than ``MAX_DOCUMENT_BYTES``.
    """
    return _parse_json(_read(path), path)


def read_json_or_yaml(path: Path) -> object:
    """The value of a file, JSON if it begins like a JSON object or its name says so, else YAML.

    Raises:
        UnreadableSource: if it is missing or neither.
        OversizedSource: naming the limit that it exceeds.
    """
    raw = _read(path)
    if path.suffix == ".json":
        return _parse_json(raw, path)
    if raw.lstrip().startswith(b"{"):
        # YAML has objects in braces too.
        with suppress(UnreadableSource):
            return _parse_json(raw, path)
    if len(raw) > MAX_YAML_BYTES:
        raise OversizedSource(str(path), "size", MAX_YAML_BYTES, "bytes of YAML")
    return parse_yaml(raw, str(path))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as exc:
        raise UnreadableSource(str(path), reason_of(exc)) from exc
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise OversizedSource(str(path), "size", MAX_DOCUMENT_BYTES, "bytes")
    return without_mark(raw, path)


def _parse_json(raw: bytes, path: Path) -> object:
    try:
        document: object = orjson.loads(raw)
    except orjson.JSONDecodeError as exc:
        if re.search("depth|recursion", exc.msg, re.IGNORECASE):
            raise OversizedSource(str(path), "depth", _JSON_DEPTH, "levels") from exc
        raise UnreadableSource(str(path), f"not JSON: {exc}") from exc
    return document
