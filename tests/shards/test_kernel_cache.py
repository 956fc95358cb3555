"""Compiled kernels are kept for one state of the sources: an upgrade never runs what was compiled before it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import shards

_SAY = "import os, shards; print(os.environ['NUMBA_CACHE_DIR'])"


def _folder_of(sources: Path, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    return subprocess.run(  # noqa: S603 -- our own interpreter
        [sys.executable, "-c", _SAY],
        cwd=sources.parent,
        env=inherited | {"PYTHONPATH": str(sources.parent)} | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_each_state_of_the_sources_has_a_folder_of_its_own(tmp_path: Path) -> None:
    ours = Path(shards.__file__).parent
    copy = tmp_path / "shards"
    shutil.copytree(ours, copy, ignore=shutil.ignore_patterns("__pycache__"))
    first = _folder_of(copy)
    assert Path(first).parent == copy / "__pycache__"
    assert _folder_of(copy) == first
    helper = copy / "pruned_steps.py"
    helper.write_text(helper.read_text() + "\n# changed\n")
    assert _folder_of(copy) != first


def test_a_folder_that_the_operator_names_is_left_alone(tmp_path: Path) -> None:
    assert _folder_of(Path(shards.__file__).parent, NUMBA_CACHE_DIR=str(tmp_path)) == str(tmp_path)
