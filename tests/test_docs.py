"""The documents name what exists: every module stands in the file map, every path in a document is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("shards", "cluster", "serve_app", "evals", "loadtest", "configs")
DOCUMENTS = ("README.md", "ARCHITECTURE.md")


def file_map() -> set[str]:
    """Paths in the file map: a heading per folder, a bullet per file."""
    folder, found = "", set()
    for line in (ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"### (\S+/)", line):
            folder = heading[1]
        elif folder and (entry := re.match(r"- `([^`]+)`: ", line)):
            found.add(folder + entry[1])
    return found


def modules() -> set[str]:
    paths = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py"}


def test_every_module_stands_in_the_file_map() -> None:
    assert modules() - file_map() == set()


def test_everything_in_the_file_map_exists() -> None:
    assert {path for path in file_map() if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_in_a_document_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    named = set(re.findall(r"`((?:shards|cluster|serve_app|evals|loadtest|tests|configs)/[\w./-]+)`", text))
    named |= set(re.findall(r"\]\(([^)#:]+)\)", text))
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", (ROOT / "README.md").read_text("utf-8"))) <= targets


def test_every_command_in_the_readme_exists() -> None:
    import click  # noqa: PLC0415 -- keeps the other tests free of it

    from serve_app.cli.main import cli  # noqa: PLC0415

    named = set(
        re.findall(
            r"\bshortlist ([a-z]+)\b", "\n".join(re.findall(r"`[^`\n]+`", (ROOT / "README.md").read_text("utf-8")))
        )
    )
    assert named <= set(cli.list_commands(click.Context(cli)))
