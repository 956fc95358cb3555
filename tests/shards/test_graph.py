"""Graphs: what they find, when they are asked, what they never show, and how they live and end with their segment."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from shards import graph
from shards.errors import CorruptSnapshot
from shards.graph import Graph, GraphBuilder, rows_to_ask, worth_building
from shards.messages import Change, NewVector, ShardHits, VectorQuery
from shards.record import Access, Record
from shards.scope import Scope
from shards.scoring import index_scores
from shards.shard import Shard
from tests.shards.makers import ALL, EMBEDDER, MIX_OF_BOTH, loaded, plain, query, record, upsert
from tests.worlds import WORDS

pytestmark = pytest.mark.skipif(not graph.available(), reason="hnswlib has no wheel for this Python")

DIMS = 32


def clustered(rows: int, dims: int, seed: int) -> npt.NDArray[np.int8]:
    """Unit vectors in clusters of 40, scaled as embedders do."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(rows // 40, dims))
    loose = centres[chance.integers(0, len(centres), rows)] + 0.6 * chance.normal(size=(rows, dims))
    unit = loose / np.linalg.norm(loose, axis=1, keepdims=True)
    return np.clip(np.round(512 * unit), -127, 127).astype(np.int8)


def built(values: npt.NDArray[np.int8], held: npt.NDArray[np.bool_] | None = None) -> Graph:
    builder = GraphBuilder(values, np.ones(len(values), np.bool_) if held is None else held)
    while (finished := builder.advance()) is None:
        pass
    return finished


@pytest.fixture(scope="module")
def values() -> npt.NDArray[np.int8]:
    return clustered(6_000, 64, seed=1)


@pytest.fixture(scope="module")
def large(values: npt.NDArray[np.int8]) -> Graph:
    return built(values)


def queries(values: npt.NDArray[np.int8], count: int) -> npt.NDArray[np.int16]:
    """Something near to a row each."""
    chance = np.random.default_rng(2)
    picked = values[chance.integers(0, len(values), count)].astype(np.int16)
    return (4 * picked + chance.integers(-120, 121, picked.shape)).astype(np.int16)


def test_recall_at_100_against_the_scan_is_at_least_95_percent_as_wide_as_it_is_asked(
    values: npt.NDArray[np.int8], large: Graph, measured: dict[str, float]
) -> None:
    asked = 100 * graph.OVERFETCH_PERCENT // 100
    recalls = []
    for vector in queries(values, 100):
        exact = values.astype(np.int64) @ vector.astype(np.int64)
        found = large.nearest(vector, asked).astype(np.int64)
        assert len(set(found.tolist())) == asked
        # A row as near as the hundredth is as good as the hundredth.
        hundredth = np.sort(exact)[-100]
        recalls.append(min(100, int(np.count_nonzero(exact[found] >= hundredth))) / 100)
    measured["recall@100 of a graph against the scan"] = float(np.mean(recalls))
    assert np.mean(recalls) >= 0.95


def test_the_same_rows_make_the_same_graph_however_they_are_cut(
    values: npt.NDArray[np.int8], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = values[:1_000]
    first = built(few)
    monkeypatch.setattr(graph, "SLICE_VALUES", 3_000)
    second = built(few)
    for vector in queries(few, 20):
        assert first.nearest(vector, 50).tolist() == second.nearest(vector, 50).tolist()


def test_a_graph_holds_the_rows_it_was_given_and_finds_no_other(values: npt.NDArray[np.int8]) -> None:
    held = np.arange(600) % 3 == 0
    some = built(values[:600], held)
    assert (some.held.tolist(), some.count) == (held.tolist(), 200)
    assert set(some.nearest(values[1].astype(np.int16), 200).tolist()) <= set(range(0, 600, 3))


def test_a_graph_that_is_asked_for_more_than_it_reaches_finds_none(values: npt.NDArray[np.int8]) -> None:
    assert built(values[:50]).nearest(values[0].astype(np.int16), 51).tolist() == []


def test_a_written_graph_is_read_as_it_was(values: npt.NDArray[np.int8], large: Graph, tmp_path: Path) -> None:
    large.write(tmp_path / "a.graph")
    read = Graph.read(tmp_path / "a.graph", values)
    assert (read.held.tolist(), read.count, read.nbytes) == (large.held.tolist(), large.count, large.nbytes)
    for vector in queries(values, 20):
        assert read.nearest(vector, 150).tolist() == large.nearest(vector, 150).tolist()


def test_a_file_that_is_no_graph_or_one_over_other_vectors_is_refused(
    values: npt.NDArray[np.int8], tmp_path: Path
) -> None:
    path = tmp_path / "a.graph"
    built(values[:200]).write(path)
    for others in (values[200:400], values[:150]):
        with pytest.raises(CorruptSnapshot, match="over other vectors"):
            Graph.read(path, others)
    path.write_bytes(b"no graph" * 40)
    with pytest.raises(CorruptSnapshot, match="is not a graph"):
        Graph.read(path, values)


def test_a_graph_is_asked_only_where_that_costs_less_than_a_scan() -> None:
    # 65,536 rows of 896: a scan takes 65,536 * 896 * 40 ps = 2.3 ms; a row of the graph 4 + 0.896 * 5 = 8.5 µs.
    assert rows_to_ask(34, 65_536, 65_536, 896) == 128  # 1.1 ms
    assert rows_to_ask(101, 65_536, 65_536, 896) == 152  # 1.3 ms
    assert rows_to_ask(200, 65_536, 65_536, 896) == 0  # 300 rows: 2.5 ms
    # Where a half is hidden, twice as many have to be asked for and half as many to be scanned.
    assert rows_to_ask(101, 32_768, 65_536, 896) == 0
    assert rows_to_ask(34, 60_000, 65_536, 896) == 128
    # The scan of few rows, or of short vectors, is not to be beaten.
    assert rows_to_ask(34, 20_000, 20_000, 896) == 0
    assert rows_to_ask(34, 65_536, 65_536, 128) == 0
    assert rows_to_ask(34, 0, 65_536, 896) == 0
    assert rows_to_ask(50_000, 65_536, 65_536, 896) == 0


def test_a_graph_is_built_once_nearly_every_vector_is_there_and_a_search_could_use_it() -> None:
    assert worth_building(65_000, 0, 896)
    assert worth_building(65_000, 1_015, 896)
    assert not worth_building(65_000, 1_016, 896)
    assert not worth_building(20_000, 0, 896)
    assert not worth_building(65_000, 0, 128)
    assert not worth_building(0, 0, 896)


ROWS = 900
HIDDEN = 40


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs cost nothing, so that they are asked over the small segments of a test."""
    monkeypatch.setattr(graph, "GRAPH_PS_PER_ROW", 0)
    monkeypatch.setattr(graph, "GRAPH_PS_PER_VALUE", 0)
    monkeypatch.setattr(graph, "FEWEST_ASKED", 60)


CATALOGUE = tuple(
    record(
        f"r{number:03}",
        f"{WORDS[number % 7]} {WORDS[number % 5]}",
        name=f"tool{number}",
        access=Access(tenant="other" if number % (ROWS // HIDDEN) == 0 else "*"),
    )
    for number in range(ROWS)
)
VECTORS = clustered(ROWS + 50, DIMS, seed=3)


def sent(one: Record, row: int) -> NewVector:
    return NewVector(record_id=one.id, search_text_hash=one.search_text_hash, values=VECTORS[row].tobytes())


def with_graph(shard: Shard) -> Shard:
    while shard.build_graph():
        pass
    return shard


@pytest.fixture
def shard(cheap: None) -> Shard:
    shard = loaded(CATALOGUE)
    shard.take_vectors(EMBEDDER, [sent(one, row) for row, one in enumerate(CATALOGUE)])
    return with_graph(shard)


def near(row: int) -> VectorQuery:
    return VectorQuery(embedder=EMBEDDER, values=4 * VECTORS[row].astype(np.int16), floor=100_000)


def asked(shard: Shard, row: int, *words: str, **values: object) -> ShardHits:
    return shard.search((query(*words, vector=near(row), mix=MIX_OF_BOTH, **values),))[0]


def exact(row: int, *words: str, **values: object) -> ShardHits:
    """What a shard without a graph says."""
    shard = loaded(CATALOGUE)
    shard.take_vectors(EMBEDDER, [sent(one, place) for place, one in enumerate(CATALOGUE)])
    return asked(shard, row, *words, **values)


def test_an_answer_from_a_graph_says_so_and_scores_every_row_in_full(shard: Shard) -> None:
    assert shard.status().graph_bytes > ROWS * DIMS * 4
    for row in range(1, 800, 90):
        hits, right = asked(shard, row, "dapo", "veku"), exact(row, "dapo", "veku")
        assert (hits.approximate, right.approximate) == (True, False)
        assert (hits.authorized, hits.unembedded) == (right.authorized, right.unembedded) == (859, 0)
        assert hits.frequencies.tolist() == right.frequencies.tolist()
        scores = index_scores(hits.values, hits.bonuses, hits.likenesses, hits.weights, MIX_OF_BOTH)
        assert hits.scores.tolist() == scores.tolist() == sorted(scores.tolist(), reverse=True)
        assert len(set(hits.ids) & set(right.ids)) >= 9
        assert right.matched <= hits.matched == 859  # every row with a vector, wherever the graph looked


def test_rows_that_only_the_words_or_only_the_vectors_propose_are_both_there(shard: Shard) -> None:
    far = int(np.argmin(VECTORS[:ROWS].astype(np.int64) @ VECTORS[1].astype(np.int64)))
    hits = asked(shard, 1, f"tool{far}", pinned=(CATALOGUE[far].id,), n=40)
    assert CATALOGUE[1].id in hits.ids
    assert CATALOGUE[far].id in hits.ids[:40]
    assert hits.likenesses[hits.ids.index(CATALOGUE[far].id)] == 0


def test_a_graph_never_shows_a_hidden_row_however_near(shard: Shard) -> None:
    hidden = [row for row, one in enumerate(CATALOGUE) if one.access.tenant == "other"]
    for row in hidden:
        hits = asked(shard, row, pinned=(CATALOGUE[row].id,), n=30)
        assert hits.approximate
        assert not set(hits.ids) & {CATALOGUE[one].id for one in hidden}


def test_where_few_are_authorized_the_scan_is_taken_and_exact(shard: Shard) -> None:
    # 15 of 900 rows: the graph would have to be asked for all of its rows.
    mine = Scope(grants=(replace(ALL, ids=frozenset(one.id for one in CATALOGUE[5:ROWS:60])),))
    assert plain(asked(shard, 35, "dapo", scope=mine)) == plain(exact(35, "dapo", scope=mine))


def test_where_too_few_of_what_the_graph_finds_are_authorized_the_scan_is_taken(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Everything but the rows around the query: their number does not tell that the graph finds none of them.
    order = np.argsort(-(VECTORS[:ROWS].astype(np.int64) @ VECTORS[7].astype(np.int64)))
    hidden = {CATALOGUE[row].id for row in order[:200].tolist()}
    others = Scope(grants=(replace(ALL, ids=frozenset({one.id for one in CATALOGUE} - hidden)),))
    # The rows are exact, but the answer does not tell that something hidden is near.
    assert plain(asked(shard, 7, "dapo", scope=others)) == plain(exact(7, "dapo", scope=others)) | {"approximate": True}
    monkeypatch.setattr(Graph, "nearest", lambda *_: np.zeros(0, np.uint16))
    assert plain(asked(shard, 7, "dapo")) == plain(exact(7, "dapo")) | {"approximate": True}


def test_a_search_for_words_alone_or_of_another_embedder_does_not_ask_the_graph(shard: Shard) -> None:
    words, other = shard.search(
        (query("dapo", mix=MIX_OF_BOTH), query("dapo", vector=replace(near(3), embedder="other"), mix=MIX_OF_BOTH))
    )
    assert (words.approximate, other.approximate) == (False, False)
    assert plain(other) == plain(words) | {"unembedded": 859}


def test_a_row_whose_vector_came_after_the_graph_is_found(cheap: None) -> None:
    shard = loaded(CATALOGUE)
    late = 451
    shard.take_vectors(EMBEDDER, [sent(one, row) for row, one in enumerate(CATALOGUE) if row != late])
    with_graph(shard)
    before = asked(shard, late, n=20)
    assert (before.approximate, before.unembedded, CATALOGUE[late].id in before.ids) == (True, 1, False)
    assert shard.take_vectors(EMBEDDER, [sent(CATALOGUE[late], late)]) == 1
    after = asked(shard, late, n=20)
    assert (after.approximate, after.unembedded, after.ids[0]) == (True, 0, CATALOGUE[late].id)
    assert not shard.build_graph()


def test_no_graph_is_begun_while_many_vectors_are_still_to_come(cheap: None) -> None:
    shard = loaded(CATALOGUE)
    shard.take_vectors(EMBEDDER, [sent(one, row) for row, one in enumerate(CATALOGUE[: ROWS - 14])])
    assert not shard.build_graph()
    shard.take_vectors(EMBEDDER, [sent(CATALOGUE[ROWS - 14], ROWS - 14)])
    assert shard.build_graph()


def test_removed_and_changed_records_are_gone_from_what_a_graph_finds(shard: Shard) -> None:
    changed = record(CATALOGUE[11].id, "something else", version=2)
    shard.apply(1, 2, [Change(seq=2, record_id=CATALOGUE[10].id), upsert(2, changed)])
    assert shard.status().graph_bytes > 0
    for row in (10, 11):
        hits = asked(shard, row, n=30)
        assert hits.approximate
        assert CATALOGUE[row].id not in hits.ids
    # The vector of a changed text comes back to another segment, which has no graph.
    assert shard.take_vectors(EMBEDDER, [replace(sent(changed, 11), values=VECTORS[11].tobytes())]) == 1
    assert asked(shard, 11).ids[0] == changed.id


def test_a_graph_ends_with_its_segment_and_is_built_anew_over_the_merged_one(shard: Shard) -> None:
    gone = [Change(seq=2, record_id=one.id) for one in CATALOGUE[: ROWS // 2 + 1]]
    shard.apply(1, 2, gone)
    assert shard.status().graph_bytes == 0
    assert shard.status().unembedded == 0
    assert not asked(shard, 700).approximate
    with_graph(shard)
    hits = asked(shard, 700)
    assert hits.approximate
    assert hits.ids[0] == CATALOGUE[700].id


@pytest.fixture
def half_built(cheap: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shard]:
    monkeypatch.setattr(graph, "SLICE_VALUES", 100 * (DIMS + graph._ROW_VALUES))
    shard = loaded(CATALOGUE)
    shard.take_vectors(EMBEDDER, [sent(one, row) for row, one in enumerate(CATALOGUE)])
    for _ in range(4):
        assert shard.build_graph()
    assert shard.status().graph_bytes == 0
    return shard


def test_a_search_between_two_slices_scans(half_built: Shard) -> None:
    assert plain(asked(half_built, 3, "dapo")) == plain(exact(3, "dapo"))


def test_a_graph_in_the_making_goes_on_when_rows_die(half_built: Shard) -> None:
    half_built.apply(1, 2, [Change(seq=2, record_id=CATALOGUE[0].id), upsert(2, record("s", "dapo"))])
    slices = 0
    while half_built.build_graph():
        slices += 1
    assert slices == 5
    assert asked(half_built, 5).ids[0] == CATALOGUE[5].id


@pytest.mark.parametrize("ending", ["merged", "embedder", "loaded"])
def test_a_graph_in_the_making_is_given_up_when_its_segment_or_its_vectors_end(half_built: Shard, ending: str) -> None:
    if ending == "merged":
        half_built.apply(1, 2, [Change(seq=2, record_id=one.id) for one in CATALOGUE[: ROWS // 2 + 1]])
    elif ending == "embedder":
        half_built.take_vectors("another", [sent(CATALOGUE[1], 1)])
    else:
        half_built.begin_load()
        half_built.finish_load(9, {})
    with_graph(half_built)
    assert (half_built.status().graph_bytes > 0) == (ending == "merged")


def test_without_vectors_there_is_no_graph_to_build() -> None:
    assert not loaded(CATALOGUE[:3]).build_graph()


def test_without_hnswlib_every_search_scans(cheap: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "find_spec", lambda _: None)
    shard = loaded(CATALOGUE)
    shard.take_vectors(EMBEDDER, [sent(one, row) for row, one in enumerate(CATALOGUE)])
    assert not shard.build_graph()
    assert not asked(shard, 3).approximate


def test_a_saved_graph_is_there_after_a_start_and_a_damaged_one_is_seen(shard: Shard, tmp_path: Path) -> None:
    shard.save(tmp_path)
    opened = Shard.open(0, tmp_path)
    assert opened.status() == shard.status()
    for row in (1, 2, 500):
        assert plain(asked(opened, row, "dapo")) == plain(asked(shard, row, "dapo"))
    assert not opened.build_graph()
    (path,) = tmp_path.glob("*.graph")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptSnapshot, match="does not match its checksum"):
        Shard.open(0, tmp_path)
    shard.save(tmp_path)
    assert Shard.open(0, tmp_path).status() == shard.status()


def test_a_snapshot_with_a_graph_opens_where_hnswlib_is_missing(
    shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard.save(tmp_path)
    monkeypatch.setattr(graph, "find_spec", lambda _: None)
    assert plain(asked(Shard.open(0, tmp_path), 5, "dapo")) == plain(exact(5, "dapo"))


def test_a_graph_that_a_crash_left_half_written_is_removed_by_the_next_save(
    shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard.save(tmp_path)
    before = {path.name for path in tmp_path.iterdir()}

    def crash(_: Graph, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Graph, "write", crash)
        with pytest.raises(OSError, match="No space"):
            shard.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(before) + 1
    assert Shard.open(0, tmp_path).status() == shard.status()
    shard.save(tmp_path)
    assert len(list(tmp_path.iterdir())) == len(before)
    assert Shard.open(0, tmp_path).status() == shard.status()


def test_a_shard_that_builds_no_graph_does_not_load_hnswlib() -> None:
    code = (
        "import sys; from shards.shard import Shard; shard = Shard(0); shard.begin_load(); shard.finish_load(1, {}); "
        "assert not shard.build_graph(); assert 'hnswlib' not in sys.modules"
    )
    ended = subprocess.run(  # noqa: S603 -- our own interpreter on our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
