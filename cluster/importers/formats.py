"""Which importer reads a file: a table of formats, and how ``auto`` tells them apart. It reads no record itself."""

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Final

from cluster.errors import UnreadableSource
from cluster.importers.anthropic import read_anthropic
from cluster.importers.documents import read_document
from cluster.importers.jsonl import json_rows, read_jsonl
from cluster.importers.mcp import read_mcp
from cluster.importers.openai import read_openai
from cluster.importers.openapi import is_openapi, read_openapi
from cluster.importers.parquet import parquet_rows, read_parquet
from cluster.importers.source import Defaults, Item, Opened, Refusal, Row


class Format(StrEnum):
    """Formats of files that can be imported."""

    AUTO = "auto"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MCP = "mcp"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OPENAPI = "openapi"


_READERS: Final[Mapping[Format, Callable[[Path, Defaults], Iterator[Item]]]] = {
    Format.JSONL: read_jsonl,
    Format.PARQUET: read_parquet,
    Format.MCP: read_mcp,
    Format.OPENAI: read_openai,
    Format.ANTHROPIC: read_anthropic,
    Format.OPENAPI: read_openapi,
}

_SUFFIXES: Final = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".jsonl.gz": Format.JSONL,
    ".ndjson.gz": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".yaml": Format.OPENAPI,
    ".yml": Format.OPENAPI,
}

_ROW_SUFFIXES: Final = tuple(suffix for suffix, form in _SUFFIXES.items() if form in (Format.JSONL, Format.PARQUET))


def read_file(path: Path, form: Format, defaults: Defaults) -> Iterator[Item]:
    """The items of a file, one after another; the first names the file.

    Raises:
        UnreadableSource: if the file cannot be read as this format, or ``auto`` knows none that fits.
    """
    known = detect(path) if form is Format.AUTO else form
    return chain((Opened(source=str(path)),), _READERS[known](path, defaults))


def read_rows(path: Path, columns: Collection[str]) -> Iterator[Row | Refusal]:
    """The rows of a row file that holds something else than records; of Parquet only these columns.

    Raises:
        UnreadableSource: if the file cannot be read, or its name is not that of a row file.
    """
    match _of_name(path):
        case Format.JSONL:
            return json_rows(path)
        case Format.PARQUET:
            return parquet_rows(path, columns)
    raise UnreadableSource(str(path), f"name must end in {', '.join(_ROW_SUFFIXES)}")


def detect(path: Path) -> Format:
    """The format of a file by the ending of its name, for ``.json`` by the shape of what it holds.

    Raises:
        UnreadableSource: if nothing fits.
    """
    if (named := _of_name(path)) is not None:
        return named
    if path.suffix != ".json":
        raise UnreadableSource(str(path), f"name must end in .json or {', '.join(_SUFFIXES)}; else give --format")
    document = read_document(path)
    if is_openapi(document):
        return Format.OPENAPI
    if isinstance(document, dict) and "result" in document:
        return Format.MCP
    tools = document.get("tools") if isinstance(document, dict) else document
    for tool in tools if isinstance(tools, list) else ():
        if (form_of_tool := _detect_tool(tool)) is not None:
            return form_of_tool
    raise UnreadableSource(str(path), "is no tool list or OpenAPI document of a known shape; give --format")


def _of_name(path: Path) -> Format | None:
    return next((form for suffix, form in _SUFFIXES.items() if path.name.endswith(suffix)), None)


def _detect_tool(tool: object) -> Format | None:
    if not isinstance(tool, dict):
        return None
    if "inputSchema" in tool or "tools" in tool or "result" in tool:
        return Format.MCP
    if "input_schema" in tool:
        return Format.ANTHROPIC
    if tool.get("type") == "function" or "parameters" in tool:
        return Format.OPENAI
    return None
