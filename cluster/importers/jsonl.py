"""JSON Lines of records, plain or gzipped, read line by line. A bad line is refused by its number or id."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from cluster.errors import UnreadableSource
from cluster.importers.source import Item, Refusal, raw_record

MAX_LINE_BYTES: Final = 1_048_576


def read_jsonl(path: Path) -> Iterator[Item]:
    """One item per line that is not blank.

    Raises:
        UnreadableSource: if the file is missing or its compression is damaged.
    """
    try:
        with path.open("rb") as raw, _opened(raw, path) as lines:
            size = max(1, path.stat().st_size)
            for number, line in enumerate(_bounded_lines(lines), start=1):
                place = f"line {number}"
                if len(line) > MAX_LINE_BYTES:
                    yield Refusal(name=place, reason=f"longer than {MAX_LINE_BYTES} bytes")
                elif line.strip():
                    yield _item(place, line, raw.tell() / size)
    except (OSError, EOFError, zlib.error) as exc:
        raise UnreadableSource(str(path), f"cannot be read: {exc}") from exc


def _opened(raw: BinaryIO, path: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw


def _bounded_lines(lines: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """Every line, of a too long one only a beginning that is one byte over the limit: memory stays bounded."""
    while line := lines.readline(MAX_LINE_BYTES + 1):
        rest = line
        while len(rest) > MAX_LINE_BYTES and not rest.endswith(b"\n"):
            rest = lines.readline(MAX_LINE_BYTES + 1)
        yield line


def _item(place: str, line: bytes, share: float) -> Item:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        return Refusal(name=place, reason=f"not JSON: {exc}")
    return raw_record(place, row, share)
