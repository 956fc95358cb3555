"""Results: the JSON files of the benchmarks, whole or not at all. It knows their places and none of their fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from evals.writing import write_json

RESULTS: Final = Path(__file__).parent / "results"
"""Where the committed results lie."""

FORM: Final = 2
"""Of the files; results of another form are as good as none."""

Report = dict[str, Any]
"""Plain JSON; each benchmark documents its own fields where it makes them."""


def write_results(name: str, report: Mapping[str, object], folder: Path = RESULTS) -> Path:
    """Write ``report`` to ``folder``/``name``.json; returns the file.

    Raises:
        BadEvalFile: if it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    write_json(path, {"form": FORM, **report})
    return path


def read_results(name: str, folder: Path = RESULTS) -> Report | None:
    """What ``write_results`` wrote, None where there is no such file, or one of another form."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    report: Report = orjson.loads(path.read_bytes())
    return report if report.get("form") == FORM else None
