"""The in-process part of the growth benchmark over small catalogues."""

from pathlib import Path

import orjson

from cluster.contract import VectorState
from loadtest.catalogue import Catalogue
from loadtest.growth.counts import by_count
from loadtest.growth.sizes import FULL, INDEX, VECTORS, by_size
from loadtest.growth.vectors import RandomEmbedder, give_vectors
from loadtest.in_process import InProcess
from loadtest.store import Store
from loadtest.tiers import Share, scope_of

QUERIES = tuple(f"send message {number}" for number in range(30))


def store(folder: Path) -> Store:
    rows = [
        {"id": f"t{number}", "name": f"send_{number}", "namespace": "mail", "description": "Send a message."}
        for number in range(60)
    ]
    (folder / "tools.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return Store(catalogue=Catalogue(folder / "tools.jsonl"), folder=folder, tell=lambda _: None)


def test_every_size_is_searched_in_three_ways(tmp_path: Path) -> None:
    points = list(by_size(store(tmp_path), (20, 80), QUERIES, lambda _: None))
    assert [(point["records"], point["way"]) for point in points] == [
        (size, way) for size in (20, 80) for way in (FULL, INDEX, VECTORS)
    ]
    assert all(point["count"] == 25 and 0 < point["p50_ms"] <= point["p95_ms"] and point["rps"] > 0 for point in points)


def test_with_random_vectors_a_search_scans_them(tmp_path: Path) -> None:
    shards, embedder = store(tmp_path).shards(60), RandomEmbedder()
    give_vectors(shards[0], embedder)
    answer, _ = InProcess(shards, embedder).search("send message", scope_of(Share.ALL))
    assert answer.vectors.state is VectorState.USED
    assert answer.exact


def test_more_shards_hold_the_same_records(tmp_path: Path) -> None:
    points = list(by_count(store(tmp_path), 60, QUERIES, lambda _: None, (1, 2)))
    assert [point["shards"] for point in points] == [1, 2]
    assert points[1]["apart"]["p50_ms"] < points[1]["together"]["p50_ms"]
