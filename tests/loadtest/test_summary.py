"""The table of all results beside their goals, from results that are there, old or missing."""

from pathlib import Path

from loadtest.results import read_results, write_results
from loadtest.service.run import errors_in
from loadtest.summary import table, write_summary
from tests.loadtest.reports import growth, kernel, memory, service


def rows(folder: Path) -> dict[str, tuple[str, str]]:
    lines = [line.strip("| ").split(" | ") for line in table(folder).splitlines()[2:]]
    return {line[0]: (line[1], line[2]) for line in lines}


def test_without_results_there_is_only_the_head(tmp_path: Path) -> None:
    assert table(tmp_path).splitlines() == ["| what | measured | goal | from |", "|---|---|---|---|"]


def test_every_goal_stands_beside_its_figure(tmp_path: Path) -> None:
    for name, report in {"service": service(), "kernel": kernel(), "growth": growth(), "memory": memory()}.items():
        write_results(name, report, tmp_path)
    found = rows(tmp_path)
    assert found["throughput at 100 clients ÷ the dressed no-op's"] == ("0.75", "≥ 0.6")
    assert found["… ÷ the bare no-op's"] == ("0.50", "≥ 0.4")
    assert found["… ÷ one actor call per shard per query"] == ("5.00", "≥ 3")
    assert found["… ÷ Serve's defaults"] == ("30.00", "≥ 10")
    assert found["p95 at 100 clients ÷ the dressed no-op's"] == ("1.50", "≤ 2")
    assert found["p50 at 1 client ÷ a no-op with an empty fan-out"] == ("1.20", "≤ 1.5")
    assert found["new callers only ÷ known callers"] == ("0.80", "≥ 0.5")
    fates = "answered, refused with a type (429, 503), out of time, typed, no answer or an error"
    assert found[f"5 × capacity: {fates}"] == ("25.0%, 75.0%, 0.0%, 0.0%", "")
    assert found["… answered within 850 ms, of those accepted"] == ("100.0%", "100 %")
    assert found["… refused within, p99, ms"] == ("400.0", "≤ 50")
    assert found["… answers a second ÷ those to 100 clients"] == ("0.90", "≥ 0.9")
    assert found["… ÷ those at 149,005"] == ("6.7", "≤ 5")
    assert found["index memory with ids, 149,005 tools, bytes a record"] == ("210", "≤ 260")
    assert found["import → searchable, 149,005 tools"] == ("50 s", "≤ 60 s")
    assert found["one shard from its snapshot"] == ("1.25 s", "≤ 2 s")


def test_results_of_an_older_form_have_no_rows(tmp_path: Path) -> None:
    (tmp_path / "service.json").write_text('{"systems": {}}')
    assert read_results("service", tmp_path) is None
    assert rows(tmp_path) == {}


def test_the_table_is_written_beside_the_results(tmp_path: Path) -> None:
    write_results("memory", memory(), tmp_path)
    path = write_summary(tmp_path)
    assert path == tmp_path / "summary.md"
    assert "[memory.json](loadtest/results/memory.json)" in path.read_text("utf-8")


def test_errors_of_what_must_not_fail_are_counted_and_no_others() -> None:
    report = service()
    report["systems"]["defaults"]["100"]["errors"] = 7
    report["systems"]["naive"]["100"]["errors"] = 6
    report["open"]["shortlist"]["120%"]["errors"] = 5
    report["overload"]["errors"] = 3
    assert errors_in(report) == 0
    report["systems"]["shortlist"]["10"]["errors"] = 2
    report["open"]["dressed"]["80%"]["errors"] = 1
    report["cold"]["new_callers"]["errors"] = 1
    assert errors_in(report) == 4
