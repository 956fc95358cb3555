"""Writing what an evaluation leaves behind: whole files or none, and refusals that name the file."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from evals.errors import BadEvalFile


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """One indented JSON object.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """One JSON object per line.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    write_bytes(path, b"".join(orjson.dumps(row) + b"\n" for row in rows))


def write_bytes(path: Path, content: bytes) -> None:
    """The file as a whole: it takes its place when it is complete.

    Raises:
        BadEvalFile: if it cannot be written.
    """
    waiting = path.with_name(f".{path.name}.part")
    try:
        waiting.write_bytes(content)
        waiting.replace(path)
    except OSError as exc:
        raise BadEvalFile(path, "", f"cannot be written: {exc.strerror}") from exc
