"""Circumstances: what figures are true of (command, commit, machine, versions, load). It measures nothing."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, TypedDict

from evals.provenance import provenance

_PACKAGES: Final = ("ray", "numpy", "numba", "orjson", "locust", "tantivy", "bm25s")
"""Packages that can change a time."""


class Circumstances(TypedDict):
    """Stands at the head of every file of results; ``load_average`` is that before the first measurement."""

    command: str
    measured_at: str
    commit: str
    processor: str
    cores: int
    load_average: tuple[float, float, float]
    python: str
    versions: dict[str, str]


def circumstances(module: str, arguments: Sequence[str]) -> Circumstances:
    """Of this process, now; ``module`` is what ``python -m`` was given."""
    source = provenance()
    return Circumstances(
        command=" ".join(("python -m", module, *arguments)),
        measured_at=source["date"],
        commit=source["commit"],
        processor=_processor(),
        cores=source["cores"],
        load_average=os.getloadavg(),
        python=source["python"],
        versions={package: known for package in _PACKAGES if (known := version_of(package))},
    )


def version_of(package: str) -> str:
    """The installed version, empty for a package that is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
