"""``shortlist import`` as a user runs it, against real files and a real registry."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from cluster.registry import Registry
from serve_app.cli.import_records import command


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows = [{"id": f"t{n}", "name": f"tool {n}", "namespace": "shop"} for n in range(3)]
    (tmp_path / "good.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    bad = [{"id": "ok", "name": "fine"}, {"id": "bad\x1b[31m", "name": "n"}]
    (tmp_path / "mixed.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in bad))
    (tmp_path / "github.json").write_bytes(
        orjson.dumps({"tools": [{"name": "search", "inputSchema": {}}], "nextCursor": "x"})
    )
    return tmp_path


def run(files: Path, *arguments: str) -> Result:
    names = [str(files / name) if (files / name).exists() else name for name in arguments]
    return CliRunner().invoke(command, [*names, "--home", str(files / "home")])


def test_json_is_one_object_on_standard_output_with_every_refusal(files: Path) -> None:
    result = run(files, "good.jsonl", "mixed.jsonl", "--json")
    report = orjson.loads(result.stdout)
    assert result.exit_code == 0
    assert (report["imported"], report["unchanged"], report["seq"]) == (4, 0, 4)
    assert [refusal["name"] for refusal in report["refused"]] == ["bad\x1b[31m"]
    assert "id:" in report["refused"][0]["reason"]
    assert "reading" in result.stderr


def test_the_table_names_refusals_without_steering_the_terminal(files: Path) -> None:
    result = run(files, "mixed.jsonl")
    assert "bad\N{REPLACEMENT CHARACTER}[31m" in result.stdout
    assert "\x1b[31m" not in result.stdout


def test_what_was_imported_is_in_the_registry_of_the_home(files: Path) -> None:
    run(files, "good.jsonl", "--tenant", "acme", "--side-effect", "read")
    registry = Registry.in_home(files / "home")
    record = registry.get("t1")
    registry.close()
    assert record is not None
    assert (record.name, record.access.tenant, record.access.side_effect) == ("tool 1", "acme", "read")


def test_an_incomplete_list_is_imported_and_said_to_be_incomplete(files: Path) -> None:
    report = orjson.loads(run(files, "github.json", "--format", "mcp", "--namespace", "gh", "--json").stdout)
    assert report["imported"] == 1
    assert "nextCursor" in report["notes"][0]


def test_a_file_that_cannot_be_read_stops_the_import_before_anything_is_written(files: Path) -> None:
    (files / "torn.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00 torn")
    result = run(files, "good.jsonl", "torn.jsonl.gz")
    assert result.exit_code == 1
    assert "torn.jsonl.gz: cannot be read" in result.stderr
    registry = Registry.in_home(files / "home")
    assert registry.last_seq() == 0
    registry.close()


def test_replacing_a_namespace_removes_what_the_file_no_longer_has(files: Path) -> None:
    run(files, "good.jsonl")
    (files / "good.jsonl").write_bytes(orjson.dumps({"id": "t0", "name": "tool 0", "namespace": "shop"}))
    report = orjson.loads(run(files, "good.jsonl", "--replace-namespace", "--json").stdout)
    assert (report["unchanged"], report["removed"]) == (1, 2)


def test_nothing_to_import_is_a_usage_error_and_nothing_imported_is_status_1(files: Path) -> None:
    assert run(files).exit_code == 2
    (files / "only-bad.jsonl").write_bytes(b"{")
    assert run(files, "only-bad.jsonl", "--json").exit_code == 1


def test_help_has_an_example() -> None:
    result = CliRunner().invoke(command, ["--help"])
    assert result.exit_code == 0
    assert "shortlist import --botocore" in result.stdout


def test_the_report_says_whose_the_records_are_and_where(files: Path) -> None:
    result = run(files, "good.jsonl", "github.json")
    said = " ".join(result.stdout.split())
    assert "owner: shared with every tenant; namespaces: github, shop; e.g. t0" in said
    report = orjson.loads(run(files, "good.jsonl", "--json").stdout)
    assert (report["owners"], report["namespaces"], report["example"]) == (["*"], ["shop"], "t0")


def test_a_refusal_names_its_file_where_there_are_several(files: Path) -> None:
    (files / "b.jsonl").write_bytes(b"{")
    report = orjson.loads(run(files, "good.jsonl", "b.jsonl", "--json").stdout)
    assert [refusal["file"] for refusal in report["refused"]] == [str(files / "b.jsonl")]
    assert "┃ file" in run(files, "good.jsonl", "b.jsonl").stdout
    assert "┃ file" not in run(files, "b.jsonl").stdout


def test_an_import_without_a_tenant_never_makes_a_record_of_one_public(files: Path) -> None:
    run(files, "good.jsonl", "--tenant", "acme")
    result = run(files, "good.jsonl", "--json")
    assert result.exit_code == 1
    reasons = {refusal["reason"] for refusal in orjson.loads(result.stdout)["refused"]}
    assert reasons == {"id: belongs to another tenant"}


def test_records_without_a_namespace_get_the_name_of_their_file(files: Path) -> None:
    (files / "crm.jsonl").write_bytes(orjson.dumps({"id": "a", "name": "n", "note": "x"}))
    report = orjson.loads(run(files, "crm.jsonl", "--json").stdout)
    assert (report["namespaces"], report["notes"]) == (["crm"], ["ignored field 'note' in 1 record"])
