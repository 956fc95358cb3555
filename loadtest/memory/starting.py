"""Starting: from a file of tools to a searchable instance, and from its snapshots to the next one.

Each round begins with an empty home. The import is that of ``shortlist import``, in a process of its own.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from loadtest.catalogue import Catalogue
from loadtest.service.homes import import_records
from loadtest.service.started import running

IMPORT, FIRST_START, SEARCHABLE, SECOND_START = (
    "import_s",
    "first_start_s",
    "import_and_first_start_s",
    "second_start_s",
)

_PROGRAM: Final = (sys.executable, "-c", "from serve_app.cli.main import cli; cli()")


def started(catalogue: Catalogue, query: str, shards: int, work: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """One round, as plain JSON: seconds of each step, and the memory of all processes after the second start."""
    body = orjson.dumps({"query": query, "k": 10})
    with tempfile.TemporaryDirectory(dir=work) as folder:
        home = Path(folder)
        import_s = _imported(catalogue, home)
        tell(f"imported in {import_s:.1f} s")
        with running(home, body, shards=shards) as first:
            records = first.records
        tell(f"first start, from the registry: ready after {first.ready_s:.1f} s")
        with running(home, body, shards=shards) as second:
            memory = [asdict(process) for process in second.memory()]
        tell(f"second start, from snapshots: ready after {second.ready_s:.1f} s")
    return {
        "records": records,
        IMPORT: round(import_s, 2),
        FIRST_START: first.ready_s,
        SEARCHABLE: round(import_s + first.ready_s, 2),
        SECOND_START: second.ready_s,
        "first_answer_s": second.first_answer_s,
        "memory": memory,
    }


def _imported(catalogue: Catalogue, home: Path) -> float:
    """Seconds of the import; the operations of botocore have no file, so their reading does not count."""
    if catalogue.file is None:
        return import_records(home, catalogue.records)
    began_s = time.monotonic()
    command = (*_PROGRAM, "import", str(catalogue.file.absolute()), "--home", str(home), "--json")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 -- our own program
    return time.monotonic() - began_s
