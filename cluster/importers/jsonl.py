"""JSON Lines, plain or gzipped, read line by line. A bad line is refused by its number or id."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from cluster.errors import UnreadableSource
from cluster.importers.encoding import without_mark
from cluster.importers.source import Defaults, Item, Refusal, Row, reason_of, row_items

MAX_LINE_BYTES: Final = 1_048_576


def read_jsonl(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per line that is not blank; errors as ``json_rows``."""
    return row_items(json_rows(path), defaults.namespace_of(path))


def json_rows(path: Path) -> Iterator[Row | Refusal]:
    """One row per line that is not blank; a line that is no JSON, or too long, is refused by its number.

    Raises:
        UnreadableSource: if the file is missing, its compression is damaged or it is no UTF-8.
    """
    try:
        with path.open("rb") as raw, _opened(raw, path) as lines:
            size = max(1, path.stat().st_size)
            for number, raw_line in enumerate(_bounded_lines(lines), start=1):
                place = f"line {number}"
                line = without_mark(raw_line, path) if number == 1 else raw_line
                if len(line) > MAX_LINE_BYTES:
                    yield Refusal(name=place, reason=f"longer than {MAX_LINE_BYTES} bytes", place=place)
                elif line.strip():
                    yield _row(place, line, raw.tell() / size)
    except (OSError, EOFError, zlib.error) as exc:
        raise UnreadableSource(str(path), reason_of(exc)) from exc


def _opened(raw: BinaryIO, path: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw


def _bounded_lines(lines: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """Every line, of a too long one only a beginning that is one byte over the limit: memory stays bounded."""
    while line := lines.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = lines.readline(MAX_LINE_BYTES + 1)
        yield line


def _row(place: str, line: bytes, share: float) -> Row | Refusal:
    try:
        return Row(place=place, value=orjson.loads(line), share=share)
    except orjson.JSONDecodeError as exc:
        return Refusal(name=place, reason=f"not JSON: {exc}", place=place)
