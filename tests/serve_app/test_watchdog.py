"""What is left of a killed instance is ended, and nothing else; an orderly end is left alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from serve_app import watchdog
from serve_app.watchdog import ORDERLY, RUN_VARIABLE, processes_of

SLEEPER = (sys.executable, "-c", "import time; time.sleep(60)")


def _start(run: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(SLEEPER, env=os.environ | {RUN_VARIABLE: str(run)})  # noqa: S603


@pytest.mark.parametrize("said", [b"", ORDERLY], ids=["killed", "orderly"])
def test_only_a_silent_end_is_cleaned_up(tmp_path: Path, said: bytes) -> None:
    run, other = tmp_path / "shortlist-a", tmp_path / "shortlist-ab"
    left, stranger = _start(run), _start(other)
    try:
        deadline_s = time.monotonic() + 60
        while processes_of(str(run)) != [left.pid]:
            assert time.monotonic() < deadline_s
        command = (sys.executable, "-I", watchdog.__file__, str(run))
        subprocess.run(command, input=said, check=True, timeout=30)  # noqa: S603
        assert (left.poll() is None) == (said == ORDERLY)
        assert stranger.poll() is None
    finally:
        for process in (left, stranger):
            process.kill()
            process.wait()
