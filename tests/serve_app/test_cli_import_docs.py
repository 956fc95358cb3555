"""``shortlist import docs`` as a user runs it, against real folders and a real registry."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from cluster.registry import Registry
from serve_app.cli.main import cli

LONG = "Sentence of this section. " * 20


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "shortlist.yaml").write_text(
        "namespace: kb\ntenant: acme\npermissions: []\nstatus: published\nproduct: desk\nlocale: en\nrelease: '1'\n"
    )
    (root / "guide.md").write_text(f"# Guide\n\n## Install\n\nFirst. {LONG}\n\n## Remove\n\nSecond. {LONG}\n")
    (root / "page.html").write_text("<h1>Page</h1><p>Text.</p>")
    return root


def run(docs: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["import", "docs", str(docs), "--home", str(docs.parent / "home"), *arguments])


def counts(result: Result) -> tuple[int, int, int, int]:
    assert result.exit_code == 0, result.output
    report = orjson.loads(result.stdout)
    return report["imported"], report["unchanged"], report["removed"], len(report["refused"])


def stored(docs: Path, record_id: str) -> str | None:
    registry = Registry.in_home(docs.parent / "home")
    record = registry.get(record_id)
    registry.close()
    return None if record is None else record.description


def test_a_folder_imported_twice_changes_nothing_and_an_edited_section_changes_one_record(docs: Path) -> None:
    assert counts(run(docs, "--json")) == (3, 0, 0, 0)
    assert counts(run(docs, "--json")) == (0, 3, 0, 0)
    guide = docs / "guide.md"
    guide.write_text(guide.read_text().replace("Second.", "Changed."))
    assert counts(run(docs, "--json")) == (1, 2, 0, 0)
    assert str(stored(docs, "kb:guide#remove")).startswith("Changed.")
    guide.write_text(
        guide.read_text().replace("# Guide\n", f"# Guide\n\nAn introduction. {LONG}\n\n## New\n\n{LONG}\n")
    )
    assert counts(run(docs, "--json")) == (2, 3, 0, 0)


def test_a_file_that_is_gone_takes_its_records_along(docs: Path) -> None:
    run(docs)
    (docs / "guide.md").unlink()
    assert counts(run(docs, "--json")) == (0, 1, 2, 0)
    assert stored(docs, "kb:guide#install") is None


def test_a_file_that_cannot_be_used_keeps_its_records_and_is_named(docs: Path) -> None:
    run(docs)
    (docs / "page.html").write_text("<meta name='status' content='live'><p>Broken.")
    result = run(docs)
    assert result.exit_code == 0
    assert "page.html" in result.stdout
    assert stored(docs, "kb:page") == "Text."


def test_two_folders_do_not_touch_each_other(docs: Path) -> None:
    other = docs.parent / "other"
    other.mkdir()
    (other / "more.txt").write_text("More.")
    (other / "page.md").write_text("Same name.")
    said = (
        "--namespace",
        "kb",
        "--tenant",
        "acme",
        "--open",
        "--status",
        "published",
        "--product",
        "",
        "--locale",
        "en",
    )
    options = (*said, "--release", "", "--source", "more", "--home", str(docs.parent / "home"), "--json")
    run(docs)
    result = CliRunner().invoke(cli, ["import", "docs", str(other), *options])
    assert counts(result) == (1, 0, 0, 1)
    assert "from elsewhere" in orjson.loads(result.stdout)["refused"][0]["reason"]
    assert counts(run(docs, "--json")) == (0, 3, 0, 0)
    assert stored(docs, "kb:more") == "More."


def test_removals_that_look_like_a_mistake_are_refused_until_they_are_confirmed(docs: Path) -> None:
    run(docs)
    for name in ("guide.md", "page.html"):
        (docs / name).unlink()
    result = run(docs)
    assert result.exit_code == 1
    assert "confirm" in result.stderr
    assert stored(docs, "kb:page") == "Text."
    assert counts(run(docs, "--confirm-removals", "--json")) == (0, 0, 3, 0)


def test_a_tenant_that_a_file_contradicts_refuses_the_file(docs: Path) -> None:
    report = orjson.loads(run(docs, "--tenant", "globex", "--json").stdout)
    assert report["imported"] == 0
    assert "is not the tenant of this import" in report["refused"][0]["reason"]


def test_a_wrong_folder_and_opposite_options_are_said_plainly(docs: Path) -> None:
    assert "No such file" in run(docs / "nowhere").stderr
    assert run(docs, "--open", "--permission", "read").exit_code == 2
    assert run(docs, "--tenant", "").exit_code == 2


def test_a_file_called_docs_can_still_be_imported(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(docs.parent)
    result = CliRunner().invoke(cli, ["import", "./docs", "--home", "home"])
    assert "docs: name must end in" in result.stderr
