"""The kernel benchmark over a small catalogue: what is timed finds the same records as the search it stands for."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from loadtest.catalogue import Catalogue
from loadtest.kernel.__main__ import main
from loadtest.kernel.contender import Line
from loadtest.kernel.fts5_index import Fts5Index
from loadtest.kernel.measured import measure
from loadtest.kernel.own import Kernels, KernelsTogether, ShardPart
from loadtest.kernel.texts import analysed, questions
from loadtest.results import read_results
from loadtest.store import Store
from loadtest.tiers import Share

VERBS = ("create", "delete", "list", "describe", "update")
NOUNS = ("bucket", "invoice", "queue", "user", "certificate", "alarm", "network", "volume")
QUERIES = tuple(f"{verb} the {noun}" for verb in VERBS for noun in NOUNS)
SIZE = 120


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    path = tmp_path_factory.mktemp("catalogue") / "tools.jsonl"
    rows = [
        {"id": f"{verb}-{noun}", "name": f"{verb}_{noun}", "namespace": "shop", "description": f"{verb} one {noun}."}
        for verb in VERBS
        for noun in NOUNS
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return Catalogue(path)


@pytest.fixture(scope="module")
def store(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(catalogue=catalogue, folder=tmp_path_factory.mktemp("work"), tell=lambda _: None)


def test_copies_fill_up_and_a_snapshot_is_used_again(store: Store) -> None:
    places = store.places(SIZE)
    before = (places[0] / "manifest.json").stat().st_mtime_ns
    assert store.shards(SIZE)[0].status().records == SIZE
    assert (store.places(SIZE)[0] / "manifest.json").stat().st_mtime_ns == before


def test_a_damaged_snapshot_is_built_again(store: Store) -> None:
    place = store.places(50)[0]
    (place / "manifest.json").write_text("damaged")
    assert store.shards(50)[0].status().records == 50


def test_peers_get_the_analysed_terms_of_every_record(store: Store) -> None:
    lines = analysed(store.catalogue, SIZE, store.folder)
    assert len(list(lines())) == SIZE
    assert all(isinstance(line, Line) and "shop" in line.text for line in lines())
    assert [question.terms for question in questions(("list the buckets",), 1)] == [("list", "bucket")]


def test_contenders_are_timed_over_every_share(store: Store) -> None:
    lines = analysed(store.catalogue, SIZE, store.folder)
    asked = questions(QUERIES, 24)
    contenders = (
        Kernels(store.places(SIZE)[0]),
        KernelsTogether(store.places(SIZE)[0]),
        ShardPart(store.places(SIZE)[0]),
        Fts5Index(lines, store.folder / "peers"),
    )
    for contender in contenders:
        points = list(measure(contender, SIZE, asked, rounds=2))
        assert [point.share for point in points] == [share.value for share in Share]
        assert all(point.cpu_ms > 0 and point.searches >= 20 for point in points)


def test_the_command_leaves_results_plot_and_table(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_bytes(b"\n".join(orjson.dumps({"query": query}) for query in QUERIES))
    ended = CliRunner().invoke(
        main,
        [
            "--catalogue", str(catalogue.file), "--queries", str(tmp_path / "queries.jsonl"), "--sizes", "40,100",
            "--count", "30", "--rounds", "1", "--peer", "SQLite FTS5",
            "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out"),
        ],
        catch_exceptions=False,
    )  # fmt: skip
    assert ended.exit_code == 0
    report = read_results("kernel", tmp_path / "out")
    assert report is not None
    assert {"command", "commit", "cores", "versions", "load_average", "missing"} <= set(report)
    assert {point["records"] for point in report["points"]} == {40, 100}
    assert "CPU of a query at a mask of 30 %, 100 tools, ms" in (tmp_path / "out" / "summary.md").read_text("utf-8")
    assert (tmp_path / "work" / ".gitignore").read_text() == "*\n"


def test_sizes_that_are_no_numbers_are_refused() -> None:
    ended = CliRunner().invoke(main, ["--sizes", "10,many"])
    assert ended.exit_code == 2
    assert "whole numbers joined by commas" in ended.output
