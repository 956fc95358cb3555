"""The life of a shard: load, change, and what it refuses in between."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analyzer import ANALYZER_ID
from shards.errors import InvalidRecord, ShardNotReady, StaleFeed
from shards.messages import Change, DocumentRequest, Outcome
from shards.record import Record, Status
from shards.scope import Scope
from shards.shard import Shard
from tests.depth import examples
from tests.shards.makers import ALL, EVERYTHING, loaded, plain, query, record, upsert
from tests.worlds import GRANT_LISTS, WORDS, World, any_id, any_record, callers, grant_ids, worlds

any_change = st.one_of(
    any_record.map(lambda one: upsert(0, one)),
    any_record.map(lambda one: upsert(0, one)),
    any_id.map(lambda record_id: Change(seq=0, record_id=record_id)),
    st.builds(
        lambda name, ids: Change(seq=0, grant_list=name, grant_ids=ids),
        st.sampled_from(GRANT_LISTS),
        st.one_of(st.none(), grant_ids),
    ),
)


@examples(60)
@given(
    world=worlds(max_size=15),
    batches=st.lists(st.lists(any_change, max_size=6), max_size=12),
    scope=callers,
    words=st.lists(st.sampled_from(WORDS), max_size=4, unique=True),
)
def test_changes_one_after_the_other_give_what_a_fresh_load_of_the_result_gives(
    world: World, batches: list[list[Change]], scope: Scope, words: list[str]
) -> None:
    records = {one.id: one for one in world.records}
    lists = dict(world.grant_lists)
    shard = loaded(records.values(), seq=0, lists=lists)
    for seq, batch in enumerate(batches):
        assert shard.apply(seq, seq + 1, batch) == seq + 1
        for change in batch:
            _apply(change, records, lists)
    fresh = loaded(records.values(), seq=len(batches), lists=lists)
    asked = query(*words, scope=scope, pinned=("r01", "r20"), n=5)
    assert plain(shard.search((asked,))[0]) == plain(fresh.search((asked,))[0])
    request = DocumentRequest(scope=scope, ids=tuple(f"r{number:02}" for number in range(40)))
    assert shard.documents((request,)) == fresh.documents((request,))
    assert shard.status().records == fresh.status().records == len(records)
    assert shard.status().segments <= 8


def _apply(change: Change, records: dict[str, Record], lists: dict[str, tuple[str, ...]]) -> None:
    if change.grant_list and change.grant_ids is None:
        lists.pop(change.grant_list, None)
    elif change.grant_list:
        lists[change.grant_list] = change.grant_ids or ()
    elif change.body is None:
        records.pop(change.record_id, None)
    else:
        records[change.record_id] = Record.from_json(change.body)


def ids(shard: Shard, *terms: str, scope: Scope = EVERYTHING) -> tuple[str, ...]:
    return shard.search((query(*terms, scope=scope),))[0].ids


@pytest.mark.parametrize(
    "call",
    [
        lambda shard: shard.search((query("dapo"),)),
        lambda shard: shard.documents(()),
        lambda shard: shard.apply(0, 1, []),
        lambda shard: shard.save(None),
    ],
)
@pytest.mark.parametrize("loading", [False, True])
def test_a_shard_that_is_not_loaded_refuses_to_answer(loading: bool, call: Callable[[Shard], object]) -> None:  # noqa: FBT001
    shard = Shard(3)
    if loading:
        shard.begin_load()
        shard.load_batch([record("a").to_json()])
    assert not shard.status().ready
    with pytest.raises(ShardNotReady, match="shard 3"):
        call(shard)


def test_loading_needs_a_beginning() -> None:
    with pytest.raises(ShardNotReady):
        Shard(0).load_batch([])
    with pytest.raises(ShardNotReady):
        Shard(0).finish_load(1, {})


def test_loading_again_starts_from_nothing() -> None:
    shard = loaded([record("a", "dapo")])
    shard.begin_load()
    assert not shard.status().ready
    shard.load_batch([record("b", "dapo").to_json()])
    shard.finish_load(9, {})
    assert ids(shard, "dapo") == ("b",)
    assert shard.status().seq == 9


def test_a_removed_disabled_or_hidden_record_is_gone_and_comes_back_when_enabled() -> None:
    shard = loaded([record("a", "dapo"), record("b", "dapo"), record("c", "dapo")])
    shard.apply(1, 2, [Change(seq=2, record_id="a"), upsert(2, record("b", "dapo", status=Status.DISABLED))])
    assert ids(shard, "dapo") == ("c",)
    assert shard.documents((DocumentRequest(scope=EVERYTHING, ids=("a", "b", "c")),))[0][0].id == "c"
    assert shard.status().records == 2
    shard.apply(2, 3, [upsert(3, record("b", "dapo", version=3))])
    assert ids(shard, "dapo") == ("b", "c")


def test_the_last_change_of_an_id_in_a_batch_wins() -> None:
    shard = loaded([record("a", "dapo")])
    shard.apply(
        1,
        9,
        [
            upsert(2, record("a", "veku", version=2)),
            Change(seq=3, record_id="a"),
            upsert(4, record("a", "molo", version=4)),
            upsert(5, record("b", "molo")),
            Change(seq=6, record_id="b"),
            Change(seq=7, grant_list="l", grant_ids=("a",)),
            Change(seq=8, grant_list="l", grant_ids=()),
        ],
    )
    assert [ids(shard, word) for word in ("dapo", "veku", "molo")] == [(), (), ("a",)]
    assert ids(shard, "molo", scope=Scope(grants=(replace(ALL, grant_list="l"),))) == ()


def test_a_batch_that_was_applied_already_changes_nothing() -> None:
    shard = loaded([record("a", "dapo")], seq=5)
    assert shard.apply(3, 5, [Change(seq=4, record_id="a")]) == 5
    assert ids(shard, "dapo") == ("a",)


@pytest.mark.parametrize(("after_seq", "upto_seq"), [(6, 7), (4, 6), (0, 9)])
def test_a_batch_that_leaves_a_gap_or_overlaps_is_stale(after_seq: int, upto_seq: int) -> None:
    shard = loaded([record("a", "dapo")], seq=5)
    with pytest.raises(StaleFeed) as raised:
        shard.apply(after_seq, upto_seq, [Change(seq=upto_seq, record_id="a")])
    assert (raised.value.applied_seq, raised.value.after_seq) == (5, after_seq)
    assert ids(shard, "dapo") == ("a",)


def test_an_empty_batch_moves_the_sequence_on() -> None:
    shard = loaded([record("a", "dapo")], seq=5)
    assert shard.apply(5, 8, []) == 8
    assert shard.search((query("dapo"),))[0].seq == 8


@pytest.mark.parametrize(
    "bad",
    [
        Change(seq=2, record_id="b", body=record("c").to_json()),
        Change(seq=2, record_id="b", body=record("b").to_json().replace(b'"name":"tool"', b'"name":""')),
    ],
)
def test_one_bad_body_leaves_the_whole_batch_out(bad: Change) -> None:
    shard = loaded([record("a", "dapo")])
    with pytest.raises(InvalidRecord):
        shard.apply(1, 2, [Change(seq=2, record_id="a"), bad])
    assert ids(shard, "dapo") == ("a",)
    assert shard.status().seq == 1


def test_a_search_that_must_see_a_later_change_is_told_that_the_shard_is_behind() -> None:
    shard = loaded([record("a", "dapo")], seq=5)
    behind, seen = shard.search((query("dapo", min_seq=6), query("dapo", min_seq=5)))
    assert (behind.outcome, behind.ids, behind.authorized, behind.seq) == (Outcome.BEHIND, (), 0, 5)
    assert (seen.outcome, seen.ids) == (Outcome.COMPLETE, ("a",))


def test_remaining_time_counts_from_the_start_of_the_batch() -> None:
    now_s = [100.0]

    def clock() -> float:
        now_s[0] += 0.001
        return now_s[0]

    shard = Shard(0, clock)
    shard.begin_load()
    shard.load_batch([record("a", "dapo").to_json()])
    shard.finish_load(1, {})
    # The first query asks the clock at 1 and 2 ms; by then it is known what its caller may see, so others ask once,
    # at 3 ms, at 4 ms and so on.
    limits = (2.5, 3.5, 3.5, 0.0, 60_000.0)
    outcomes = [hits.outcome for hits in shard.search(tuple(query("dapo", remaining_ms=limit) for limit in limits))]
    assert outcomes == ["complete", "complete", "expired", "expired", "complete"]


def test_a_batch_answers_each_query_as_if_it_were_alone() -> None:
    shard = loaded([record("a", "dapo"), record("b", "veku"), record("c", "dapo veku")])
    mine = Scope(grants=(replace(ALL, ids=frozenset({"a", "c"})),))
    batch = (query("dapo"), query("veku", scope=mine), query("veku"), query("dapo", scope=Scope(grants=())))
    together = [plain(hits) for hits in shard.search(batch)]
    assert together == [plain(loaded_alone) for one in batch for loaded_alone in shard.search((one,))]
    assert [hits["ids"] for hits in together] == [("a", "c"), ("c",), ("b", "c"), ()]


def test_status_counts_what_the_shard_holds() -> None:
    shard = loaded([record("a", "dapo"), record("b", "veku", status=Status.DISABLED)], seq=4, number=2)
    status = shard.status()
    assert (status.shard, status.ready, status.seq, status.records, status.segments) == (2, True, 4, 2, 1)
    assert status.analyzer == ANALYZER_ID
    assert status.postings > 4
    assert status.index_bytes > 4 * status.postings // 2
    assert status.document_bytes > 2 * len(record("a").to_json())
