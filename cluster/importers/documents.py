"""Whole JSON documents, for the formats that are one JSON value: read with a bound, told apart by their shape."""

from pathlib import Path
from typing import Final

import orjson

from cluster.errors import UnreadableSource
from cluster.importers.source import reason_of

MAX_DOCUMENT_BYTES: Final = 64 * 1_048_576


def read_document(path: Path) -> object:
    """The JSON value of a file.

    Raises:
        UnreadableSource: if it is missing, larger than ``MAX_DOCUMENT_BYTES`` or no JSON.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as exc:
        raise UnreadableSource(str(path), reason_of(exc)) from exc
    if len(text) > MAX_DOCUMENT_BYTES:
        raise UnreadableSource(str(path), f"larger than {MAX_DOCUMENT_BYTES} bytes")
    try:
        document: object = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise UnreadableSource(str(path), f"not JSON: {exc}") from exc
    return document
