"""Rows of a ``.jsonl``, ``.jsonl.gz`` or ``.parquet`` file as mappings, with the place of each for error messages.

It knows the containers, not what a row means.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from evals.errors import BadEvalFile

Row = Mapping[str, object]


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Each row with its place (``line 3``, ``row 3``), in file order; blank lines are skipped.

    Raises:
        BadEvalFile: if the file is missing, its name ends in none of the three ways, or a row is no JSON object.
    """
    if not path.is_file():
        raise BadEvalFile(path, "", "there is no such file")
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return _json_rows(path)
    if path.suffix == ".parquet":
        return _parquet_rows(path)
    raise BadEvalFile(path, "", "the name must end in .jsonl, .jsonl.gz or .parquet")


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"line {number}", _json_object(path, number, line)
    except (OSError, EOFError, zlib.error) as exc:
        raise BadEvalFile(path, f"after line {number}", f"cannot be read: {exc}") from exc


def _json_object(path: Path, number: int, line: bytes) -> Row:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise BadEvalFile(path, f"line {number}", f"is not JSON: {exc}") from exc
    if not isinstance(row, dict):
        raise BadEvalFile(path, f"line {number}", "must be a JSON object")
    return row


def _parquet_rows(path: Path) -> Iterator[tuple[str, Row]]:
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=4096):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except (pa.ArrowException, OSError) as exc:
        raise BadEvalFile(path, f"after row {number}", f"cannot be read: {exc}") from exc
