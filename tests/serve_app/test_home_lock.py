"""One home has one instance; the lock ends with the process that holds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster.errors import InvalidConfiguration
from serve_app.cli.serve import command
from serve_app.home_lock import HomeInUse, locked_home

HOLDER = """
import sys
from pathlib import Path
from serve_app.home_lock import locked_home
with locked_home(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_serve_of_a_home_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with locked_home(tmp_path):
        result = CliRunner().invoke(command, ("--home", str(tmp_path), "--no-embedded"))
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: Another shortlist serve (process {os.getpid()}) already uses {tmp_path};"
        " stop it, or choose another folder with --home.\n"
    )


def test_a_killed_holder_frees_the_home(tmp_path: Path) -> None:
    holder = subprocess.Popen(  # noqa: S603 -- our own interpreter on our own code
        (sys.executable, "-c", HOLDER, str(tmp_path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(HomeInUse, match=str(holder.pid)), locked_home(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    with locked_home(tmp_path):
        pass


def test_a_home_can_be_used_again_and_is_made_where_there_is_none(tmp_path: Path) -> None:
    for _ in range(2):
        with locked_home(tmp_path / "new" / "home"):
            pass


def test_a_home_that_cannot_be_a_folder_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidConfiguration, match="a folder to write in"), locked_home(tmp_path / "file"):
        pass
