"""The survey of OpenAPI documents, on a folder of small ones."""

from pathlib import Path

import orjson
from click.testing import CliRunner

from evals.openapi_survey import command, survey
from tests.cluster.importers.openapi_documents import document, one_operation


def test_operations_are_counted_once_as_tools_or_refusals_with_reasons(tmp_path: Path) -> None:
    bad = {"parameters": [{"$ref": "http://x.example/p"}]}
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.json").write_bytes(orjson.dumps(document({"/a": {"get": {}, "put": bad}, "/b": {"get": bad}})))
    (tmp_path / "sub" / "b.yaml").write_bytes(orjson.dumps(one_operation({"deprecated": True})))
    (tmp_path / "sub" / "old.json").write_bytes(b'{"swagger": "1.2"}')
    (tmp_path / "package.json").write_bytes(b"{}")
    (tmp_path / "README.md").write_bytes(b"openapi: 3.0.0")
    found = survey(tmp_path).as_json()
    assert (found["documents"], found["other_files"], found["operations"], found["tools"]) == (3, 1, 4, 2)
    assert found["refused"] == {"$ref: … is outside the document, and is never opened": 2}
    assert found["notes"] == {"deprecated, and so not offered": 1}
    assert found["documents_unreadable"] == {
        str(tmp_path / "sub" / "old.json"): "swagger: '1.2' is not read; expected 2.0, 3.0 or 3.1"
    }
    assert found["schema_bytes"] == {"p50": 2, "p90": 2, "p99": 2, "p100": 2}


def test_the_command_prints_counts_as_text_and_as_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(orjson.dumps(one_operation({})))
    text = CliRunner().invoke(command, [str(tmp_path)])
    assert "1 operations, 1 imported" in text.stdout
    assert orjson.loads(CliRunner().invoke(command, [str(tmp_path), "--json"]).stdout)["tools"] == 1


def test_a_sample_is_the_same_files_every_time_and_too_few_documents_fail(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.json").write_bytes(orjson.dumps(document({f"/{number}": {"get": {}}})))
    first, again = (survey(tmp_path, sample=7).as_json() for _ in range(2))
    assert (first["documents"], first["tools"]) == (7, 7)
    assert first | {"seconds": 0} == again | {"seconds": 0}
    enough, too_few = (CliRunner().invoke(command, [str(tmp_path), "--at-least", most]) for most in ("20", "21"))
    assert (enough.exit_code, too_few.exit_code) == (0, 1)
    assert "20 documents were imported, expected at least 21" in too_few.stderr
    assert "20 operations, 20 imported" in too_few.stdout
