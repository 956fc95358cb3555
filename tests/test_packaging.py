"""The installed distribution is this tree: an editable install that points elsewhere would test other code."""

import importlib
import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_resolves_to_this_tree(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ == str(ROOT / package / "__init__.py")


def test_the_package_list_names_every_top_level_package_but_the_tests() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found - {"tests"} == set(PACKAGES)


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert {folder.name for folder in folders if not (folder / "__init__.py").is_file()} == set()


def test_the_installed_version_is_that_of_the_project_file() -> None:
    assert importlib.metadata.version("shortlist") == PROJECT["project"]["version"]


def test_the_console_command_is_installed_and_resolves() -> None:
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="shortlist")
    assert entry.value == PROJECT["project"]["scripts"]["shortlist"]
    assert callable(entry.load())


def test_the_console_command_lists_its_subcommands_without_importing_ray_or_numba() -> None:

    code = (
        "import sys; from serve_app.cli.main import cli; cli(['--help'], standalone_mode=False); "
        "assert not {'ray', 'numba', 'pyarrow'} & set(sys.modules), 'slow import'"
    )
    ended = subprocess.run(  # noqa: S603 -- our own interpreter on our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
