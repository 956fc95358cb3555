"""Confirmed duplicates in searches: one is shown, the more specific one, and only while the pair holds."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.budget import Budget, Deadline
from cluster.collapse import _Asked, _dropped, _window, collapsed
from cluster.contract import Answer, SearchRequest
from cluster.discovery import Discovery
from cluster.duplicate_store import ConfirmedPair
from cluster.local import LocalCluster
from cluster.merge import Pool, winners
from cluster.ranking import Ranking
from cluster.registry import Registry
from shards.messages import Outcome, Twin
from shards.record import Access, Kind, Record, Status
from shards.retrieval import nothing
from shards.scope import Denial, Grant, Narrowing, Scope
from shards.shard import Shard
from tests.shards.makers import query

EVERYTHING = Grant(
    reason="test",
    tenants=frozenset({"acme"}),
    permissions=frozenset(),
    mode="analyzer",
    side_effects=frozenset({"read"}),  # type: ignore[arg-type]
)
TEXT = "The upload of a large file stops at 99 percent of its size."


def passage(record_id: str, text: str = TEXT, **more: str) -> Record:
    return Record(
        id=record_id,
        kind=Kind.PASSAGE,
        name="Upload stops",
        namespace="kb",
        description=text,
        access=Access(tenant="acme"),
        **{"locale": "en", "release": "3.0", "product": "sync", **more},
    )


RECORDS = (
    passage("kb:a"),
    passage("kb:b"),
    passage("kb:c"),
    *(passage(f"kb:z{number}", "An upload of a small file never stops.") for number in range(5)),
)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    registry = Registry.in_home(tmp_path)
    registry.upsert_many(RECORDS)
    yield registry
    registry.close()


def cluster_of(registry: Registry) -> LocalCluster:
    return LocalCluster(registry, shards=3, discovery=Discovery())


@pytest.fixture
def cluster(registry: Registry) -> LocalCluster:
    return cluster_of(registry)


def pair(duplicate: Record, canonical: Record) -> ConfirmedPair:
    return ConfirmedPair(
        duplicate=duplicate.id,
        canonical=canonical.id,
        tenant="acme",
        duplicate_hash=duplicate.search_text_hash,
        canonical_hash=canonical.search_text_hash,
        subject="someone",
        at=datetime.now(UTC).isoformat(),
    )


def confirm(cluster: LocalCluster, duplicate: Record, canonical: Record) -> None:
    asyncio.run(cluster.confirm_duplicate(pair(duplicate, canonical)))


def ask(cluster: LocalCluster, query: str = "upload stops at 99 percent", *, k: int = 10, **more: object) -> Answer:
    scope = more.pop("scope", Scope(grants=(EVERYTHING,)))
    budget = Budget(candidate_k=40, rerank_k=40, evidence_k=k, evidence_tokens=100_000, timeout_ms=60_000)
    request = SearchRequest(
        query=query,
        scope=scope,  # type: ignore[arg-type]
        budget=budget,
        deadline=Deadline.after(60_000),
        request_id="r",
        **more,  # type: ignore[arg-type]
    )
    return asyncio.run(cluster.router.search(request))


def shown(
    cluster: LocalCluster, query: str = "upload stops at 99 percent", **more: object
) -> dict[str, tuple[str, ...]]:
    return {hit.record.id: hit.duplicates for hit in ask(cluster, query, **more).hits if "z" not in hit.record.id}  # type: ignore[arg-type]


A, B, C, *OTHERS = RECORDS


def test_one_of_a_pair_is_shown_and_cites_the_other_and_both_come_back_at_once(cluster: LocalCluster) -> None:
    before = ask(cluster)
    confirm(cluster, B, A)
    answer = ask(cluster)
    assert {hit.record.id: hit.duplicates for hit in answer.hits if hit.duplicates} == {"kb:a": ("kb:b",)}
    assert "kb:b" not in {hit.record.id for hit in answer.hits}
    assert (answer.spent.matched, answer.spent.candidates, answer.spent.reranked) == (
        before.spent.matched,
        before.spent.candidates,
        before.spent.reranked,
    )
    assert (answer.exact, answer.coverage) == (True, before.coverage)
    # The original is where it was.
    assert asyncio.run(cluster.record("kb:b")) is not None
    assert asyncio.run(cluster.withdraw_duplicate("kb:b"))
    assert ask(cluster).hits == before.hits


def test_the_free_place_is_taken_by_the_next_row(cluster: LocalCluster) -> None:
    assert [hit.record.id for hit in ask(cluster, k=3).hits] == ["kb:a", "kb:b", "kb:c"]
    confirm(cluster, B, A)
    assert [hit.record.id for hit in ask(cluster, k=3).hits] == ["kb:a", "kb:c", "kb:z0"]
    confirm(cluster, C, A)
    answer = ask(cluster, k=3)
    assert (answer.hits[0].record.id, answer.hits[0].duplicates) == ("kb:a", ("kb:b", "kb:c"))
    assert len(answer.hits) == 3
    # One place is one record: nothing further down takes it away.
    assert [(hit.record.id, hit.duplicates) for hit in ask(cluster, k=1).hits] == [("kb:a", ())]


def test_a_chain_is_shown_as_its_end_and_only_over_links_that_are_shown(cluster: LocalCluster) -> None:
    confirm(cluster, A, B)
    confirm(cluster, B, C)
    assert shown(cluster) == {"kb:c": ("kb:a", "kb:b")}
    without_b = Scope(
        grants=(EVERYTHING,), denials=(Denial(reason="test", namespaces=frozenset(), ids=frozenset({"kb:b"})),)
    )
    assert shown(cluster, scope=without_b) == {"kb:a": (), "kb:c": ()}
    without_c = replace(without_b, denials=(replace(without_b.denials[0], ids=frozenset({"kb:c"})),))
    assert shown(cluster, scope=without_c) == {"kb:b": ("kb:a",)}
    assert "kb:c" not in repr(ask(cluster, scope=without_c))


def test_a_ring_shows_its_best_record(cluster: LocalCluster) -> None:
    for duplicate, canonical in ((A, B), (B, C), (C, A)):
        confirm(cluster, duplicate, canonical)
    assert shown(cluster) == {"kb:a": ("kb:b", "kb:c")}


def test_a_pinned_record_always_stays(cluster: LocalCluster) -> None:
    confirm(cluster, B, A)
    confirm(cluster, C, A)
    assert shown(cluster, pinned=("kb:b",)) == {"kb:b": ("kb:a", "kb:c")}
    assert shown(cluster, pinned=("kb:a", "kb:b")) == {"kb:a": ("kb:c",), "kb:b": ()}
    assert shown(cluster, pinned=("kb:b", "kb:c")) == {"kb:b": ("kb:a",), "kb:c": ()}


@pytest.mark.parametrize(
    ("own", "query", "cited"),
    [
        ({"release": "3.1"}, "upload stops in 3.1", "kb:b"),
        ({"release": "3.1"}, "upload stops in v3.1, why?", "kb:b"),
        ({"release": "3.1"}, "آپلود upload stops ۳.۱", "kb:b"),
        ({"release": "3.1"}, "upload stops in 3.10", "kb:a"),
        ({"release": "3.1"}, "upload stops in 13.1", "kb:a"),
        ({"release": "3.1"}, "upload stops in 3.0", "kb:a"),
        ({"release": "3.1"}, "upload stops", "kb:a"),
        ({"product": "Sync Server"}, "upload stops on sync server", "kb:b"),
        ({"product": "Sync Server"}, "upload stops on the server", "kb:a"),
        ({"locale": "fa-IR"}, "چرا upload متوقف می‌شود stops", "kb:b"),
        ({"locale": "fa-IR"}, "why does the upload stop", "kb:a"),
        ({"locale": "en-GB"}, "why does the upload stop", "kb:a"),
    ],
)
def test_the_one_whose_release_product_or_language_is_asked_for_is_cited(
    registry: Registry, own: dict[str, str], query: str, cited: str
) -> None:
    specific = passage("kb:b", **own)
    registry.upsert_many([specific])
    cluster = cluster_of(registry)
    confirm(cluster, specific, A)
    other = ({"kb:a", "kb:b"} - {cited}).pop()
    assert {one: others for one, others in shown(cluster, query).items() if one != "kb:c"} == {cited: (other,)}


def test_a_comparison_of_both_gets_both(registry: Registry) -> None:
    newer = passage("kb:b", release="3.1")
    registry.upsert_many([newer])
    cluster = cluster_of(registry)
    confirm(cluster, newer, A)
    assert shown(cluster, "upload stops: what is new in 3.1 since 3.0?") == {"kb:a": (), "kb:b": (), "kb:c": ()}
    # A filter leaves one of them, which then stands for nothing.
    only = Scope(grants=(EVERYTHING,), narrowing=Narrowing(releases=frozenset({"3.1"})))
    assert shown(cluster, scope=only) == {"kb:b": ()}


def test_one_that_ranks_clearly_higher_is_cited(registry: Registry) -> None:
    named = replace(passage("kb:b"), name="Chunk timeout of the gateway")
    registry.upsert_many([named])
    cluster = cluster_of(registry)
    confirm(cluster, named, A)
    assert shown(cluster, "chunk timeout of the gateway, upload stops")["kb:b"] == ("kb:a",)
    assert shown(cluster, "upload of a large file stops at 99 percent")["kb:a"] == ("kb:b",)


def test_a_pair_holds_while_both_records_are_there_as_they_were(cluster: LocalCluster) -> None:
    confirm(cluster, B, A)

    def stands() -> bool:
        return "kb:b" not in shown(cluster)

    assert stands()
    asyncio.run(cluster.upsert([passage("kb:a", TEXT.replace("99", "98"))]))
    assert not stands()
    asyncio.run(cluster.upsert([A]))
    assert stands()
    asyncio.run(cluster.set_status("kb:a", Status.DISABLED))
    assert shown(cluster) == {"kb:b": (), "kb:c": ()}
    asyncio.run(cluster.set_status("kb:a", Status.ENABLED))
    assert stands()
    asyncio.run(cluster.remove("kb:a"))
    assert shown(cluster) == {"kb:b": (), "kb:c": ()}
    asyncio.run(cluster.upsert([A]))
    assert stands()
    asyncio.run(cluster.remove("kb:b"))
    assert shown(cluster) == {"kb:a": (), "kb:c": ()}


def test_what_is_loaded_saved_or_followed_is_the_same(registry: Registry, tmp_path: Path) -> None:
    following = cluster_of(registry)
    registry.confirm_duplicate(pair(B, A))
    following.catch_up()
    loaded = cluster_of(registry)
    assert shown(following) == shown(loaded) == {"kb:a": ("kb:b",), "kb:c": ()}
    for shard in loaded.shards:
        shard.save(tmp_path / str(shard.status().shard))
    opened = [Shard.open(number, tmp_path / str(number)) for number in range(3)]
    assert [one._index.twins for one in opened] == [one._index.twins for one in following.shards]
    registry.confirm_duplicate(pair(B, C))
    following.catch_up()
    assert shown(following) == shown(cluster_of(registry)) == {"kb:a": (), "kb:c": ("kb:b",)}


def test_only_what_changes_is_told(registry: Registry) -> None:
    start = registry.last_seq()
    registry.confirm_duplicate(pair(B, A))
    assert registry.last_seq() == start + 1
    registry.confirm_duplicate(pair(B, A))
    assert registry.last_seq() == start + 1
    # A pair of texts that are not the stored ones never holds, and nobody hears of it.
    registry.confirm_duplicate(replace(pair(C, A), duplicate_hash="0" * 32))
    assert registry.last_seq() == start + 1
    assert not registry.withdraw_duplicate("kb:a")
    assert registry.withdraw_duplicate("kb:b")
    assert not registry.withdraw_duplicate("kb:b")
    assert registry.last_seq() == start + 2
    told = registry.changes(start, 10)
    assert [(one.duplicate, one.twin and one.twin.canonical) for one in told] == [("kb:b", "kb:a"), ("kb:b", None)]


def _pool(ids: tuple[str, ...], scores: npt.NDArray[np.int64]) -> Pool:
    n, zeros = len(ids), np.zeros(len(ids), np.int32)
    return Pool(
        ids=ids,
        shards=(0,) * n,
        versions=scores,
        scores=scores,
        values=np.zeros((n, 1, 2), np.uint8),
        bonuses=zeros,
        likenesses=zeros,
        weights=np.ones(1, np.int64),
        authorized=n,
        matched=n,
    )


def _request(k: int) -> SearchRequest:
    most = max(k, 2000)
    return SearchRequest(
        query="upload",
        scope=Scope(grants=(EVERYTHING,)),
        budget=Budget(candidate_k=most, rerank_k=most, evidence_k=k, evidence_tokens=1, timeout_ms=1),
        deadline=Deadline.after(1),
        request_id="r",
    )


@pytest.mark.parametrize("places", [None, 10])
@pytest.mark.parametrize("upward", [lambda row: row - 1, lambda _: 0, lambda row: row + 1], ids=["chain", "star", "up"])
def test_any_number_of_records_that_stand_for_each_other_is_collapsed_in_no_time(
    upward: Callable[[int], int], places: int | None
) -> None:
    n = 2000
    scores = np.arange(10 * n, 9 * n, -1)
    rows = _pool(tuple(f"r{row:04}" for row in range(n)), scores)
    ids = rows.ids
    none = ("", "", "")
    twins = tuple(
        Twin(duplicate=ids[row], canonical=ids[upward(row)], own=none, its=none)
        for row in range(n)
        if upward(row) != row and 0 <= upward(row) < n
    )
    reply = replace(nothing(query("upload"), Outcome.COMPLETE, 0), twins=twins)
    request = _request(n if places is None else places)
    started_s = time.process_time()
    found = collapsed(request, Ranking(rows=rows, scores=scores, candidates=n, doubt=None), [reply])
    # Some 0.02 s; where each record's way to its root was walked anew, a chain took minutes, and where the window was
    # looked through again for each free place, a second.
    assert time.process_time() - started_s < 0.5
    assert [len(others) for others in found.cited.values()] == [n - 1]


def _grown(request: SearchRequest, ranking: Ranking, twins: dict[str, Twin]) -> list[int]:
    """The window by its definition: a place more for each row that is not left, until none is missing."""
    k = places = request.budget.evidence_k
    while True:
        window = winners(ranking.rows, ranking.scores, request.pinned, places)
        dropped = _dropped(request, _Asked.of(request.query), ranking, window, twins)
        free = k - (len(window) - len(dropped))
        if free <= 0 or len(window) < places:
            return window
        places += free


@given(
    upward=st.lists(st.integers(0, 11), min_size=1, max_size=12),
    pinned=st.sets(st.integers(0, 11), max_size=3),
    k=st.integers(1, 6),
    silent=st.integers(0, 3),
)
def test_the_window_is_the_smallest_of_which_enough_is_left(
    upward: list[int], pinned: set[int], k: int, silent: int
) -> None:
    n = len(upward)
    scores = np.maximum(np.arange(n, 0, -1) - silent, 0)
    rows = _pool(tuple(f"r{row:04}" for row in range(n)), scores)
    none = ("", "", "")
    twins = {
        rows.ids[row]: Twin(duplicate=rows.ids[row], canonical=rows.ids[up], own=none, its=none)
        for row, up in enumerate(upward)
        if up < n and up != row
    }
    request = replace(_request(k), pinned=tuple(f"r{row:04}" for row in sorted(pinned)))
    ranking = Ranking(rows=rows, scores=scores, candidates=n, doubt=None)
    assert _window(request, ranking, twins) == _grown(request, ranking, twins)
