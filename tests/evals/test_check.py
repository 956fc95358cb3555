"""``python -m evals.check`` on a small development set: it passes, names what fell, and writes only when told to."""

import gzip
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from evals.check import EXPECTED, main
from evals.expected import Expected, SetFigures, read_expected, write_expected

TOOLS = [
    {"id": "shop:refund", "name": "refund_order", "description": "Pays an order back."},
    {"id": "shop:find", "name": "find_order", "description": "Finds an order."},
]
QUERIES: list[dict[str, object]] = [
    {"id": "q1", "query": "pay the order back", "relevant": ["shop:refund"]},
    {"id": "q2", "query": "find the order", "relevant": ["shop:find"]},
    {"id": "q3", "query": "qux", "relevant": []},
]


def packed(rows: list[dict[str, object]] | list[dict[str, str]]) -> bytes:
    return gzip.compress(b"\n".join(map(orjson.dumps, rows)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "small"
    folder.mkdir(parents=True)
    (folder / "tools.jsonl.gz").write_bytes(packed(TOOLS))
    (folder / "queries.dev.jsonl.gz").write_bytes(packed(QUERIES))
    (folder / "queries.other.dev.jsonl.gz").write_bytes(packed(QUERIES[:1]))
    return tmp_path / "data"


def table(tmp_path: Path, sets: dict[str, dict[str, float]], queries: int = 3) -> Path:
    path = tmp_path / "expected.yaml"
    figures = {
        name: SetFigures(tools=2, queries=queries, systems={"lexical": wanted}) for name, wanted in sets.items()
    }  # fmt: skip
    write_expected(path, Expected(sets=figures))
    return path


def check(path: Path, data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["--table", str(path), "--data", str(data), *arguments])


def test_figures_that_hold_pass(tmp_path: Path, data: Path) -> None:
    result = check(table(tmp_path, {"small": {"recall@1": 1.0, "no_match_rate": 1.0}}), data)
    assert (result.exit_code, result.stdout) == (0, "Of 10 figures 0 fell, 0 rose.\n")


def test_every_figure_that_fell_is_named_and_the_check_fails(tmp_path: Path, data: Path) -> None:
    (data / "small" / "queries.dev.jsonl.gz").write_bytes(
        packed([*QUERIES[:2], {"id": "q3", "query": "order", "relevant": ["shop:gone"]}])
    )
    result = check(table(tmp_path, {"small": {"recall@1": 1.0, "recall@5": 0.6, "hit@10": 0.9}}), data)
    assert result.exit_code == 1
    assert "fell: small lexical recall@1: 0.6667, expected 1.0000" in result.stdout
    assert "fell: small lexical hit@10: 0.6667, expected 0.9000" in result.stdout
    assert "2 fell, 1 rose" in result.stdout


def test_another_set_than_the_one_of_the_table_fails(tmp_path: Path, data: Path) -> None:
    result = check(table(tmp_path, {"small": {}}, queries=7), data)
    assert result.exit_code == 1
    assert "another set: small: 2 tools and 3 queries, the table is about 2 and 7" in result.stdout


def test_only_update_writes_and_the_written_table_passes(tmp_path: Path, data: Path) -> None:
    path = table(tmp_path, {"small": {"recall@1": 0.2}, "absent": {"recall@1": 0.9}})
    before = path.read_bytes()
    check(path, data)
    assert path.read_bytes() == before
    assert check(path, data, "--update").exit_code == 0
    written = read_expected(path)
    assert written.sets["small"].systems["lexical"]["recall@1"] == 1.0
    assert written.sets["absent"].systems["lexical"] == {"recall@1": 0.9}  # what was not measured stays
    assert check(path, data).exit_code == 0


def test_a_set_that_is_not_there_is_said_to_be_unchecked_and_does_not_fail(tmp_path: Path) -> None:
    result = check(table(tmp_path, {"small": {"recall@1": 1.0}}), tmp_path / "nowhere")
    assert result.exit_code == 0
    assert "not checked: small: " in result.stdout


def test_a_part_of_a_set_has_its_own_queries_and_one_set_can_be_asked_for(tmp_path: Path, data: Path) -> None:
    path = table(tmp_path, {"small": {"recall@1": 2.0}, "small.other": {"recall@1": 1.0}}, queries=1)
    assert check(path, data, "--set", "small.other").exit_code == 0
    assert check(path, data, "--set", "small").exit_code == 1
    assert "nothing: not in" in check(path, data, "--set", "nothing").stderr


def test_json_is_one_object(tmp_path: Path, data: Path) -> None:
    result = check(table(tmp_path, {"small": {"recall@1": 2.0}}), data, "--json")
    body = orjson.loads(result.stdout)
    assert body["fell"] == ["small lexical recall@1: 1.0000, expected 2.0000"]
    assert body["figures"]["small"]["systems"]["lexical"]["recall@1"] == 1.0
    assert (body["unchecked"], body["changed"], body["written"]) == ([], [], None)


def test_a_bad_table_is_one_clear_sentence(tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text("sets: {}\nset: {}")
    result = check(path, tmp_path)
    assert result.exit_code == 1
    assert "unknown key" in result.stderr


def test_the_committed_table_holds_on_the_shipped_gold_set(tmp_path: Path) -> None:
    assert {"lexical", "hybrid", "bm25"} <= set(read_expected(EXPECTED).sets["gold"].systems)
    # Without hybrid, whose models take most of a minute.
    result = check(EXPECTED, tmp_path, "--set", "gold", "--system", "lexical", "--system", "bm25")
    assert result.exit_code == 0, result.stdout
