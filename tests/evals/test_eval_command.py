"""``shortlist eval`` on the gold set that ships with the project: one JSON object, a table, and clear refusals."""

from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result

from evals.data import read_gold
from serve_app.cli.eval import command

GOLD = Path(__file__).parents[2] / "evals" / "gold"
TOOLS, QUERIES = GOLD / "tools.jsonl", GOLD / "queries.jsonl"


def run(*arguments: object, tools: Sequence[Path] = (TOOLS,), queries: Path = QUERIES) -> Result:
    files = [part for path in tools for part in ("--tools", path)]
    return CliRunner().invoke(command, [str(one) for one in (*files, "--queries", queries, *arguments)])


def test_the_gold_set_asks_only_for_tools_it_has_in_five_languages_and_for_nothing_at_all() -> None:
    gold = read_gold([TOOLS], QUERIES)
    ids = {tool.id for tool in gold.tools}
    assert gold.unknown_labels == 0
    assert all(question.acceptable <= ids for question in gold.questions)
    assert {question.lang for question in gold.questions} == {"en", "fa", "ar", "zh", "ru"}
    assert sum(not question.relevant for question in gold.questions) >= 5


def test_json_is_one_object_on_stdout_with_shares_between_0_and_1() -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    report = orjson.loads(result.stdout)
    assert (report["n"], report["tools"], report["system"]) == (71, 32, "shortlist")
    assert list(report["recall"]) == list(report["hit"]) == ["1", "5", "10", "15", "20"]
    assert list(report["candidate_recall"]) == ["20", "50", "100", "200"]
    shares = [
        *report["recall"].values(),
        *report["hit"].values(),
        *report["candidate_recall"].values(),
        *(report[key] for key in ("ndcg10", "exact_share", "no_match_rate", "false_empty_rate")),
    ]
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert (report["exact_share"], report["parity_with_full_rank"], report["parity_checked"]) == (1.0, 1.0, 71)
    assert 0.0 < report["p50_ms"] <= report["p95_ms"]
    assert sum(part["n"] for part in report["by_lang"].values()) == 71


def test_the_gold_set_reaches_the_figures_that_are_written_down() -> None:
    expected = yaml.safe_load((GOLD.parent / "expected.yaml").read_text("utf-8"))["gold"]
    report = orjson.loads(run("--json").stdout)
    figures = report | {f"{name}@{cut}": share for name in ("recall", "hit") for cut, share in report[name].items()}
    assert {key: figures[key] for key in ("tools", "n", "n_with_relevant")} == {
        key: expected[key] for key in ("tools", "n", "n_with_relevant")
    }
    assert {key: figures[key] for key, floor in expected["at_least"].items() if figures[key] < floor} == {}
    assert {key: figures[key] for key, most in expected["at_most"].items() if figures[key] > most} == {}


def test_the_number_of_shards_changes_no_number_but_the_times() -> None:
    one, three = (orjson.loads(run("--json", "--shards", shards).stdout) for shards in (1, 3))
    for report in (one, three):
        del report["p50_ms"], report["p95_ms"]
    assert one == three


def test_cuts_limits_and_systems_are_taken_from_the_command_line() -> None:
    result = run(
        "--json", "--k", "3,1", "--candidates", "7", "--limit", 10, "--system", "bm25", "--system", "full-rank"
    )
    report = orjson.loads(result.stdout)
    assert (report["system"], report["n"], report["exact_share"]) == ("bm25", 10, None)
    assert (list(report["recall"]), list(report["candidate_recall"])) == (["1", "3"], ["7"])
    assert list(report["beside"]) == ["full-rank"]
    assert report["beside"]["full-rank"]["exact_share"] == 1.0


def test_several_tool_files_are_joined_by_id(tmp_path: Path) -> None:
    half = tmp_path / "half.jsonl"
    half.write_bytes(b"".join(TOOLS.read_bytes().splitlines(keepends=True)[:16]))
    report = orjson.loads(run("--json", "--system", "bm25", tools=(half, TOOLS)).stdout)
    assert (report["tools"], report["joined"]) == (32, 16)


def test_people_get_a_table_and_progress_stays_off_standard_output() -> None:
    result = run("--system", "shortlist", "--system", "bm25")
    assert "71 queries over 32 tools" in result.stdout
    assert "Recall@5" in result.stdout
    assert "indexing" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--k", "0"), "--k"),
        (("--k", "one"), "--k"),
        (("--candidates", ""), "--candidates"),
        (("--limit", "0"), "--limit"),
    ],
)
def test_unusable_options_are_refused_by_name(arguments: tuple[str, str], word: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert word in result.stderr


def test_bad_files_are_one_clear_sentence_and_no_traceback(tmp_path: Path) -> None:
    bad = tmp_path / "queries.jsonl"
    bad.write_text('{"id": "a", "query": "x"}\n')
    result = run("--json", queries=bad)
    assert result.exit_code == 1
    assert "line 1: relevant: must be a list of ids" in result.stderr
    assert result.stdout == ""
    assert "cannot be read: No such file" in run(tools=(tmp_path / "none.jsonl",)).stderr
