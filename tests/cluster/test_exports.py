"""Exports: everything that matched at one seq, once and only once, whatever is written meanwhile."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import exports
from cluster.errors import ExpiredExport, ExportsExceeded, ExportTooLarge, InvalidRequest, UnknownExport
from cluster.export_limits import ExportLimits
from cluster.export_store import ExportStore
from cluster.exports import GRACE_S, ExportDesk, Exporter, ExportOrder, ExportPage
from cluster.local import LocalCluster
from cluster.query import plan_query
from cluster.registry import Registry
from shards.record import Record, Status
from shards.scope import Scope
from tests import supervised, worlds
from tests.oracle import Oracle, postings_of

READER = Exporter(subject="ann", tenant="acme", authority="a1")
EVERYTHING = Scope(grants=(worlds.WIDE,))


def order(scope: Scope = EVERYTHING, terms: tuple[str, ...] = (), page_size: int | None = None) -> ExportOrder:
    return ExportOrder(exporter=READER, scope=scope, terms=terms, page_size=page_size, request_id="first")


def records_of(page: ExportPage) -> list[Record]:
    return [Record.from_json(body) for body in page.bodies]


def pages_of(
    cluster: LocalCluster, ordered: ExportOrder, between: Callable[[], None] = lambda: None
) -> Iterator[ExportPage]:
    """Every page, with something done after each."""
    page = asyncio.run(cluster.open_export(ordered))
    yield page
    while page.cursor:
        between()
        page = asyncio.run(cluster.export_page(READER, page.cursor, ordered.page_size))
        yield page


writes = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), worlds.any_record),
        st.tuples(st.just("remove"), worlds.any_id),
        st.tuples(st.just("disable"), worlds.any_id),
        st.tuples(st.just("grant"), worlds.grant_ids),
    ),
    max_size=12,
)


def do(cluster: LocalCluster, write: tuple[str, object]) -> None:
    match write:
        case ("upsert", Record() as record):
            asyncio.run(cluster.upsert([replace(record, version=0)]))
        case ("remove", str(record_id)):
            asyncio.run(cluster.remove(record_id))
        case ("disable", str(record_id)):
            asyncio.run(cluster.set_status(record_id, Status.DISABLED))
        case ("grant", tuple(ids)):
            asyncio.run(cluster.put_grant_list("lists", "even", ids))


@settings(max_examples=50, deadline=None)
@given(
    world=worlds.worlds(max_size=30),
    scope=worlds.scopes,
    words=st.lists(st.sampled_from((*worlds.WORDS, worlds.UNKNOWN_WORD)), max_size=2, unique=True),
    done=writes,
    sizes=st.tuples(st.integers(1, 7), st.integers(1, 3)),
)
def test_an_export_is_what_the_scope_admitted_at_its_seq_once_and_only_once_while_writes_go_on(
    world: worlds.World,
    scope: Scope,
    words: list[str],
    done: list[tuple[str, object]],
    sizes: tuple[int, int],
) -> None:
    page_size, shards = sizes
    with TemporaryDirectory() as folder:
        registry = Registry.in_home(Path(folder))
        registry.upsert_many(world.records)
        registry.put_grant_list("lists", "even", world.grant_lists[worlds.GRANT_LISTS[0]])
        cluster = LocalCluster(registry, shards=shards)
        for write in done[::2]:
            do(cluster, write)
        stored = (registry.get(f"r{number:02d}") for number in range(40))
        current = {record.id: record for record in stored if record is not None}
        even = registry.grant_list("lists", "even").ids
        oracle = Oracle(current.values(), {worlds.GRANT_LISTS[0]: even})
        terms = plan_query(" ".join(words)).terms
        expected = [
            record for record in oracle.visible(scope) if not terms or set(terms) & set(postings_of(record))
        ]  # fmt: skip

        pending = list(done[1::2])
        pages = list(
            pages_of(
                cluster,
                order(scope, terms, page_size),
                lambda: do(cluster, pending.pop()) if pending else None,
            )
        )
        registry.close()

    assert [record for page in pages for record in records_of(page)] == expected
    assert {page.total for page in pages} == {len(expected)}
    assert len({page.position for page in pages}) == len({page.seq for page in pages}) == 1
    assert [page.start for page in pages] == [0, *(page.end for page in pages[:-1])]
    assert all(len(page.bodies) == page_size for page in pages[:-1])


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry.in_home(tmp_path)
    opened.upsert_many([supervised.record(number) for number in range(10)])
    yield opened
    opened.close()


def everything(**limits: int) -> ExportLimits:
    return ExportLimits(**{"page_size": 4, **limits})


TEN = supervised.EVERYTHING


def test_a_cursor_serves_nobody_else_and_no_other_authority(registry: Registry) -> None:
    cluster = LocalCluster(registry, exports=everything())
    page = asyncio.run(cluster.open_export(order(TEN)))
    forged = [page.cursor[:-1] + ("A" if page.cursor[-1] != "A" else "B"), "A" * 56, "x", "é", "", page.cursor + "AAAA"]
    strangers = [
        (replace(READER, subject="bob"), page.cursor),
        (replace(READER, tenant="zeta"), page.cursor),
        (replace(READER, authority="a2"), page.cursor),
        *((READER, cursor) for cursor in forged),
    ]
    for exporter, cursor in strangers:
        with pytest.raises(UnknownExport):
            asyncio.run(cluster.export_page(exporter, cursor))
    assert len(asyncio.run(cluster.export_page(READER, page.cursor)).bodies) == 4


def test_a_cursor_survives_a_restart_and_gives_the_same_page_again(registry: Registry, tmp_path: Path) -> None:
    cluster = LocalCluster(registry, exports=everything())
    first = asyncio.run(cluster.open_export(order(TEN)))
    second = asyncio.run(cluster.export_page(READER, first.cursor))
    registry.close()

    reopened = Registry.in_home(tmp_path)
    restarted = LocalCluster(reopened, shards=3, exports=everything())
    assert asyncio.run(restarted.export_page(READER, first.cursor)) == second
    last = asyncio.run(restarted.export_page(READER, second.cursor))
    assert (last.start, last.end, last.total, last.cursor) == (8, 10, 10, "")
    reopened.close()


def test_an_expired_cursor_says_so_to_its_owner_and_to_nobody_else(registry: Registry) -> None:
    now_s = 1_000.0
    store = ExportStore(registry.engine)
    desk = ExportDesk(store, everything(lifetime_s=3600, audit_s=86_400), now_s=lambda: now_s)
    listings = [shard.listing(order(TEN).listing) for shard in LocalCluster(registry, shards=2).shards]
    cursor = desk.open(order(TEN), listings).cursor

    now_s = 4_599.0
    assert desk.page(READER, cursor).start == 4
    now_s = 4_600.0
    with pytest.raises(ExpiredExport):
        desk.page(READER, cursor)
    with pytest.raises(UnknownExport):
        desk.page(replace(READER, subject="bob"), cursor)

    # The entry outlives its records, and then goes too.
    desk.open(order(TEN), listings)
    assert store.bodies(store.entries()[0].id, 0, 10) == []
    assert [(one.request_id, one.subject, one.total, one.finished_s) for one in store.entries()] == [
        ("first", "ann", 10, None)
    ] * 2
    now_s = 90_000.0
    desk.open(order(TEN), listings)
    with pytest.raises(UnknownExport):
        desk.page(READER, cursor)


def test_a_finished_export_is_entered_as_such_and_soon_expires(registry: Registry) -> None:
    now_s = 1_000.0
    store = ExportStore(registry.engine)
    desk = ExportDesk(store, everything(), now_s=lambda: now_s)
    listings = [shard.listing(order(TEN).listing) for shard in LocalCluster(registry).shards]
    page = desk.open(order(TEN), listings)
    while page.cursor:
        cursor = page.cursor
        page = desk.page(READER, cursor)
    assert [one.finished_s for one in store.entries()] == [1000]
    now_s += GRACE_S - 1
    assert desk.page(READER, cursor).bodies == page.bodies
    now_s += 1
    with pytest.raises(ExpiredExport):
        desk.page(READER, cursor)


def test_each_limit_is_refused_by_its_own_error(registry: Registry) -> None:
    with pytest.raises(ExportTooLarge):
        asyncio.run(LocalCluster(registry, exports=everything(max_records=9)).open_export(order(TEN)))
    for size in (0, 5, -1):
        with pytest.raises(InvalidRequest, match="page_size"):
            asyncio.run(LocalCluster(registry, exports=everything()).open_export(order(TEN, page_size=size)))

    crowded = LocalCluster(registry, exports=everything(open_per_caller=2))
    for _ in range(2):
        asyncio.run(crowded.open_export(order(TEN)))
    with pytest.raises(ExportsExceeded, match="open_per_caller"):
        asyncio.run(crowded.open_export(order(TEN)))
    other = replace(order(TEN), exporter=replace(READER, subject="bob"))
    assert asyncio.run(crowded.open_export(other)).total == 10


def test_pages_are_counted_by_the_minute_and_by_the_caller(registry: Registry) -> None:
    clock_s = 0.0
    desk = ExportDesk(ExportStore(registry.engine), everything(pages_per_minute=3), clock=lambda: clock_s)
    for _ in range(3):
        desk.admit(READER)
    clock_s = 20.5
    with pytest.raises(ExportsExceeded) as refused:
        desk.admit(READER)
    assert (refused.value.limit, refused.value.retry_after_s) == ("pages_per_minute", 40)
    desk.admit(replace(READER, subject="bob"))
    clock_s = 60.0
    desk.admit(READER)


def test_a_page_of_large_records_ends_early_and_loses_none(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each record takes some 1,500 bytes.
    monkeypatch.setattr(exports, "PAGE_BYTES", 4_000)
    registry.upsert_many([supervised.record(number, "long " * 200) for number in range(10)])
    pages = list(pages_of(LocalCluster(registry, exports=everything()), order(TEN)))
    assert [len(page.bodies) for page in pages] == [2] * 5
    assert [record.id for page in pages for record in records_of(page)] == [f"r{number}" for number in range(10)]


def test_another_process_may_write_between_the_listing_and_the_entry(registry: Registry) -> None:
    cluster = LocalCluster(registry, shards=2)
    listings = [shard.listing(order(TEN).listing) for shard in cluster.shards]
    registry.upsert_many([supervised.record(3, "newer text")])
    registry.remove("r4")
    page = ExportDesk(ExportStore(registry.engine)).open(order(TEN), listings)
    assert [record.description for record in records_of(page)] == ["text"] * 10


def test_the_supervisor_exports_one_state_while_writers_write(tmp_path: Path) -> None:
    async def story(world: supervised.World) -> None:
        supervisor = world.supervisor
        stop = asyncio.Event()

        async def write(offset: int) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                await supervisor.upsert([supervised.record(100 + offset, f"text {number}")])
                await supervisor.remove(f"r{offset}" if number % 2 else f"r{offset + 10}")

        writers = [asyncio.create_task(write(offset)) for offset in (0, 1)]
        await asyncio.sleep(0.02)
        ordered = order(supervised.EVERYTHING, page_size=2)
        first = page = await supervisor.open_export(ordered)
        pages = [page]
        while page.cursor:
            page = await supervisor.export_page(READER, page.cursor, 2)
            pages.append(page)
        stop.set()
        await asyncio.gather(*writers)

        log = {}
        for change in world.registry.changes(0, 100_000):
            if change.seq <= first.seq:
                log[change.record_id] = change.body
        expected = sorted(body for body in log.values() if body is not None)
        assert sorted(body for page in pages for body in page.bodies) == expected
        assert first.total == len(expected) > 15

    supervised.run(supervised.World(tmp_path, shards=3), story)
