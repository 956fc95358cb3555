"""``shortlist eval`` on the gold set that ships with the project: one JSON object, a table, files, clear refusals."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from serve_app.cli.eval import command

GOLD = Path(__file__).parents[2] / "evals" / "gold"
TOOLS, QUERIES = GOLD / "tools.jsonl", GOLD / "queries.jsonl"


COUNTS = {"n": len(QUERIES.read_bytes().splitlines()), "tools": len(TOOLS.read_bytes().splitlines())}


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


def run(*arguments: object, tools: Sequence[Path] = (TOOLS,), queries: Path = QUERIES) -> Result:
    files = [part for path in tools for part in ("--tools", path)]
    return invoke(*files, "--queries", queries, *arguments)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_json_is_one_object_on_stdout_with_shares_between_0_and_1() -> None:
    result = run("--json")
    assert result.exit_code == 0, result.output
    report = orjson.loads(result.stdout)
    assert {key: report[key] for key in COUNTS} == COUNTS
    assert report["system"] == "lexical"
    assert list(report["recall"]) == list(report["hit"]) == ["1", "5", "10", "15", "20"]
    assert list(report["candidate_recall"]) == ["20", "50", "100", "200"]
    shares = [
        *report["recall"].values(),
        *report["hit"].values(),
        *report["candidate_recall"].values(),
        *(report[key] for key in ("ndcg10", "exact_share", "no_match_rate", "false_empty_rate")),
    ]
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert (report["exact_share"], report["parity_with_full_rank"], report["parity_checked"]) == (1.0, 1.0, 200)
    assert 0.0 < report["p50_ms"] <= report["p95_ms"]
    assert sum(part["n"] for part in report["by_lang"].values()) == COUNTS["n"]
    assert set(report["identity"]) == {"ranker", "analyzer"}
    assert (report["beside"], report["significance"], report["written"]) == ({}, {}, [])


def test_without_files_it_measures_the_shipped_gold_set() -> None:
    report = orjson.loads(invoke("--json", "--limit", 5).stdout)
    assert (report["n"], report["tools"]) == (5, COUNTS["tools"])


def test_the_number_of_shards_changes_no_number_but_the_times() -> None:
    one, three = (orjson.loads(run("--json", "--shards", shards, "--limit", 100).stdout) for shards in (1, 3))
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
    assert list(report["significance"]["full-rank"]) == ["recall@5", "hit@5", "ndcg@10"]


def test_several_tool_files_are_joined_by_id(tmp_path: Path) -> None:
    half = tmp_path / "half.jsonl"
    half.write_bytes(b"".join(TOOLS.read_bytes().splitlines(keepends=True)[:16]))
    report = orjson.loads(run("--json", "--system", "bm25", "--limit", 5, tools=(half, TOOLS)).stdout)
    assert (report["tools"], report["joined"]) == (COUNTS["tools"], 16)


def test_people_get_a_table_and_progress_stays_off_standard_output() -> None:
    result = run("--system", "lexical", "--system", "bm25", "--limit", 20)
    assert f"20 queries over {COUNTS['tools']} tools" in result.stdout
    assert "Recall@5" in result.stdout
    assert "lexical less the others" in result.stdout
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


SMALL: list[dict[str, Any]] = [
    {
        "id": "pay:refund",
        "name": "refund",
        "description": "Pays a customer back.",
        "namespace": "pay",
        "access": {"tenant": "acme", "side_effect": "write"},
    },
    {"id": "pay:invoice", "name": "invoice", "description": "Bills a customer.", "namespace": "pay"},
    {"id": "hr:leave", "name": "leave", "description": "Asks for days off.", "namespace": "hr"},
]
ASKED: list[dict[str, Any]] = [
    {"id": "q1", "query": "pay the customer back", "relevant": ["pay:refund"]},
    {"id": "q2", "query": "zundi qorvex", "relevant": ["hr:leave"], "kind": "typo"},
    {"id": "q3", "query": "days off", "relevant": ["hr:leave", "hr:gone"]},
]


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, ...]:
    for name, rows in (("tools", SMALL), ("queries", ASKED)):
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return ("--tools", str(tmp_path / "tools.jsonl"), "--queries", str(tmp_path / "queries.jsonl"))


def test_misses_are_written_with_their_reasons_for_every_system(small: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "misses.jsonl"
    result = invoke(*small, "--json", "--system", "lexical", "--system", "bm25", "--misses", path)
    assert orjson.loads(result.stdout)["written"] == [str(path)]
    assert [(row["system"], row["query_id"], row["id"], row["reason"]) for row in lines_of(path)] == [
        (system, *rest)
        for system in ("lexical", "bm25")
        for rest in (("q2", "hr:leave", "not_a_candidate"), ("q3", "hr:gone", "absent"))
    ]


def test_a_caller_sees_what_the_policy_and_the_narrowing_leave(small: tuple[str, ...]) -> None:
    # The demo tenant does not see what acme owns, and the mode analyzer only reads.
    asked = orjson.loads(invoke(*small, "--json", "--role", "reader").stdout)
    assert asked["misses"]["filtered"] == 1
    owner = orjson.loads(invoke(*small, "--json", "--role", "reader", "--tenant", "acme").stdout)
    assert owner["misses"]["filtered"] == 0
    analyzer = orjson.loads(invoke(*small, "--json", "--role", "reader", "--mode", "analyzer").stdout)
    assert analyzer["misses"]["filtered"] == 3
    narrowed = orjson.loads(invoke(*small, "--json", "--namespace", "pay").stdout)
    assert narrowed["misses"]["filtered"] == 2
    assert "nobody: not in the policy" in invoke(*small, "--role", "nobody").stderr


def test_a_token_budget_costs_recall_and_says_so(small: tuple[str, ...]) -> None:
    report = orjson.loads(invoke(*small, "--json", "--evidence-tokens", 1).stdout)
    assert report["misses"]["cut_by_budget"] == 2
    assert report["false_empty_rate"] == 1.0
    assert report["parity_with_full_rank"] == 1.0


def test_suggestions_are_written_for_review_with_the_warning_not_to_judge_by_them(
    small: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "suggestions.jsonl"
    result = invoke(*small, "--suggest", path)
    assert "never on these labels" in result.stdout
    (row,) = lines_of(path)
    assert (row["id"], row["query_id"], row["add_keywords"]) == ("hr:leave", "q2", ["zundi", "qorvex"])
    suggested = orjson.loads(invoke(*small, "--json", "--suggest", path).stdout)["suggestions"]
    assert (suggested["made"], suggested["closing"]) == (1, 1)
    assert "never on these labels" in suggested["caveat"]
    refused = invoke(*small, "--suggest", path, "--system", "bm25")
    assert refused.exit_code == 2
    assert "first --system" in refused.stderr


def test_saved_figures_say_where_they_come_from(small: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    invoke(*small, "--save", path, "--system", "lexical", "--system", "bm25")
    saved = orjson.loads(path.read_bytes())
    assert list(saved) == ["provenance", "tools", "queries", "limit", "setup", "reports", "significance"]
    assert list(saved["reports"]) == ["lexical", "bm25"]
    assert saved["reports"]["lexical"]["identity"]["ranker"]
    assert set(saved["provenance"]) == {"commit", "date", "python", "machine", "cores", "versions"}
    assert saved["provenance"]["versions"]["shortlist"]
    assert saved["queries"] == small[3]


def test_save_without_a_file_writes_the_latest_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert "its folder does not exist" in invoke("--limit", 3, "--save").stderr
    (tmp_path / "evals").mkdir()
    assert "Wrote evals/latest.json" in invoke("--limit", 3, "--save").stdout
    saved = orjson.loads((tmp_path / "evals" / "latest.json").read_bytes())
    assert (saved["queries"], saved["limit"]) == ("evals/gold/queries.jsonl", 3)


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="plots need the extra 'evals'")
def test_plots_are_drawn_with_the_catalogue_diluted(small: tuple[str, ...], tmp_path: Path) -> None:
    result = invoke(*small, "--json", "--plots", tmp_path / "plots", "--dilute", TOOLS)
    assert [Path(path).name for path in orjson.loads(result.stdout)["written"]] == [
        "recall_by_k.png",
        "recall_by_n.png",
        "latency.png",
        "recall_by_size.png",
    ]


def test_init_starts_a_gold_set_and_replaces_nothing(small: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    first = invoke(*small[:2], "--init", folder, "--json")
    assert [Path(path).name for path in orjson.loads(first.stdout)["written"]] == [
        "tools.jsonl",
        "queries.jsonl",
        "README.md",
    ]
    again = invoke(*small[:2], "--init", folder)
    assert again.exit_code == 1
    assert "is there already" in again.stderr
    assert invoke("--init", folder).exit_code == 2
    waiting = invoke("--tools", folder / "tools.jsonl", "--queries", folder / "queries.jsonl")
    assert "templates wait to be filled in" in waiting.stderr


def test_tools_and_queries_belong_together() -> None:
    assert "belong together" in invoke("--tools", TOOLS).stderr
    assert "belong together" in invoke("--queries", QUERIES).stderr


@pytest.mark.parametrize("option", ["--misses", "--suggest", "--save"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(option: str, tmp_path: Path) -> None:
    result = invoke("--limit", 3, option, tmp_path / "none" / "file")
    assert result.exit_code == 1
    assert "its folder does not exist" in result.stderr
    assert "indexing" not in result.stderr


def test_plots_without_matplotlib_are_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("evals.session.find_spec", lambda _: None)
    result = invoke("--limit", 3, "--plots", tmp_path / "plots")
    assert result.exit_code == 1
    assert "matplotlib is not installed: pip install 'shortlist[evals]'" in result.stderr
    assert "indexing" not in result.stderr
