"""Vectors on their way to the rows of a shard, and what becomes of them when records change."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.errors import InvalidVector, ShardNotReady
from shards.messages import Change, MissingVector, NewVector
from shards.record import Record, Status
from shards.scope import Scope
from shards.shard import Shard
from tests.depth import examples
from tests.shards.makers import (
    DIMS,
    EMBEDDER,
    MIX_OF_BOTH,
    Naive,
    likeness,
    loaded,
    new_vector,
    plain,
    query,
    record,
    upsert,
    vector_of,
    vector_query,
)
from tests.worlds import WORDS, World, any_id, any_record, callers, worlds

CATALOGUE = tuple(record(f"r{number:02}", WORDS[number % 5], name=f"tool{number}") for number in range(12))
OTHER = "hashed-2"


def give(shard: Shard, records: Iterable[Record], embedder: str = EMBEDDER) -> int:
    return shard.take_vectors(embedder, [new_vector(one, embedder) for one in records])


def embedded(shard: Shard, embedder: str = EMBEDDER) -> set[str]:
    """Ids of the enabled records with a vector, by their likenesses to a query that every vector is like."""
    asked = replace(vector_query(0, embedder=embedder), floor=-(10**7))
    hits = shard.search((query(vector=asked, mix=MIX_OF_BOTH, n=100),))[0]
    assert set(hits.likenesses.tolist()) <= {2047}
    assert hits.unembedded == hits.authorized - len(hits.ids)
    return set(hits.ids)


def lacking(shard: Shard, embedder: str = EMBEDDER) -> list[str]:
    return [one.record_id for one in shard.missing_vectors(embedder, 1000)]


def test_a_shard_says_what_it_lacks_and_takes_it_once() -> None:
    shard = loaded(CATALOGUE, seq=5)
    assert shard.missing_vectors(EMBEDDER, 2) == tuple(
        MissingVector(record_id=one.id, search_text_hash=one.search_text_hash) for one in CATALOGUE[:2]
    )
    assert shard.missing_vectors(EMBEDDER, 0) == ()
    assert give(shard, CATALOGUE[:3]) == 3
    assert give(shard, CATALOGUE[:4]) == 1
    assert lacking(shard) == [one.id for one in CATALOGUE[4:]]
    assert embedded(shard) == {one.id for one in CATALOGUE[:4]}
    assert shard.status().seq == 5


def test_a_vector_of_a_text_that_has_changed_or_of_an_unknown_record_is_passed_over() -> None:
    shard = loaded(CATALOGUE)
    old = new_vector(CATALOGUE[0])
    shard.apply(1, 2, [upsert(2, record("r00", "other words")), Change(seq=2, record_id="r01")])
    stale = [old, new_vector(CATALOGUE[1]), replace(old, record_id="unknown")]
    assert shard.take_vectors(EMBEDDER, stale) == 0
    assert shard.status().embedder == ""
    assert embedded(shard) == set()


@pytest.mark.parametrize(
    ("embedder", "lengths", "told"),
    [
        ("", [DIMS], "embedder: '' is not allowed; expected the id of an embedder"),
        (EMBEDDER, [DIMS, DIMS - 1], "values: 11 bytes is not allowed; expected 12 bytes"),
        (EMBEDDER, [DIMS + 1], "values: 13 bytes is not allowed; expected 12 bytes"),
        (OTHER, [8_193], "values: 8193 bytes is not allowed; expected 1 to 8192 bytes"),
        (OTHER, [0], "values: 0 bytes is not allowed; expected 1 to 8192 bytes"),
        (OTHER, [8, 9], "values: 9 bytes is not allowed; expected 8 bytes"),
    ],
)
def test_a_vector_of_another_length_is_refused_by_name_and_range_and_none_of_its_batch_is_taken(
    embedder: str, lengths: list[int], told: str
) -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE[:1])
    batch = [
        replace(new_vector(one), values=bytes(length)) for one, length in zip(CATALOGUE[1:], lengths, strict=False)
    ]
    with pytest.raises(InvalidVector, match=told):
        shard.take_vectors(embedder, batch)
    assert embedded(shard) == {"r00"}


def test_no_vectors_are_taken_without_a_word() -> None:
    shard = loaded(CATALOGUE)
    assert shard.take_vectors(EMBEDDER, []) == 0
    assert shard.status().embedder == ""


def test_the_first_vector_of_another_embedder_ends_all_those_of_the_one_before() -> None:
    shard = loaded(CATALOGUE)
    shard.apply(1, 2, [upsert(2, record("s00", "dapo"))])
    give(shard, (*CATALOGUE, record("s00", "dapo")))
    assert len(lacking(shard, OTHER)) == 13
    assert lacking(shard) == []
    # One that fits no record is no vector of the other yet.
    assert shard.take_vectors(OTHER, [replace(new_vector(CATALOGUE[0], OTHER), search_text_hash="gone")]) == 0
    assert shard.status().embedder == EMBEDDER
    assert shard.take_vectors(OTHER, [replace(new_vector(CATALOGUE[0], OTHER), values=bytes(5))]) == 1
    assert (shard.status().embedder, shard.status().unembedded) == (OTHER, 12)
    assert len(lacking(shard)) == 13
    assert lacking(shard, OTHER) == [one.id for one in CATALOGUE[1:]] + ["s00"]
    assert embedded(shard) == set()
    assert shard.status().vector_bytes == 12 * 5 + 12


def test_a_query_of_another_embedder_is_answered_by_words_alone_and_says_so() -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    asked = query("dapo", mix=MIX_OF_BOTH)
    by_words, other = shard.search((asked, replace(asked, vector=vector_query(1, embedder=OTHER))))
    assert plain(other) == plain(by_words) | {"unembedded": 12}


def test_a_query_of_another_length_is_refused() -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    asked = vector_query(1)
    with pytest.raises(InvalidVector, match=r"vector.values: int16\[11\] is not allowed; expected int16\[12\]"):
        shard.search((query("dapo", vector=replace(asked, values=asked.values[1:].copy())),))


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (upsert(2, record("r03", WORDS[3], name="tool3", version=2, product="p", locale="en")), True),
        (upsert(2, record("r03", WORDS[3], name="tool3", version=2, status=Status.DEPRECATED)), True),
        (upsert(2, record("r03", WORDS[4], name="tool3", version=2)), False),
        (upsert(2, record("r03", WORDS[3], name="tool3", version=2, tags=("x",))), False),
        (Change(seq=2, record_id="r03"), None),
    ],
)
def test_a_record_keeps_its_vector_as_long_as_its_text_stays_the_same(change: Change, kept: bool | None) -> None:  # noqa: FBT001
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    shard.apply(1, 2, [change, upsert(2, record("new", "dapo"))])
    assert lacking(shard) == sorted({"new", *([] if kept is not False else ["r03"])})
    others = {one.id for one in CATALOGUE} - {"r03"}
    disabled = change.body is not None and b"deprecated" in change.body
    assert embedded(shard) == others | ({"r03"} if kept and not disabled else set())


def test_a_vector_outlives_a_record_that_is_disabled_and_enabled_again() -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    shard.apply(1, 2, [upsert(2, replace(CATALOGUE[0], status=Status.DISABLED, version=2))])
    assert "r00" not in embedded(shard)
    shard.apply(2, 3, [upsert(3, replace(CATALOGUE[0], version=3))])
    assert embedded(shard) == {one.id for one in CATALOGUE}


def test_a_removed_record_that_comes_back_lacks_its_vector_until_it_is_handed_out_again() -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    shard.apply(1, 2, [Change(seq=2, record_id="r00")])
    shard.apply(2, 3, [upsert(3, CATALOGUE[0])])
    assert lacking(shard) == ["r00"]
    assert give(shard, CATALOGUE) == 1


def test_vectors_survive_merges_of_segments() -> None:
    shard = loaded((), seq=0)
    for number, one in enumerate(CATALOGUE * 2):
        shard.apply(number, number + 1, [upsert(number + 1, replace(one, version=number + 1))])
        if number % 3:
            give(shard, [one])
    assert shard.status().segments <= 8
    with_vector = {one.id for number, one in enumerate(CATALOGUE * 2) if number % 3}
    assert embedded(shard) == with_vector
    asked = vector_query(4)
    hits = shard.search((query(vector=asked, mix=MIX_OF_BOTH, n=1, pinned=tuple(with_vector)),))[0]
    by_id = {one.id: one for one in CATALOGUE}
    assert dict(zip(hits.ids, hits.likenesses.tolist(), strict=True)) == {
        one: likeness(asked, vector_of(by_id[one])) for one in with_vector
    }


def test_status_tells_embedder_missing_vectors_and_bytes() -> None:
    shard = loaded(CATALOGUE)
    before = shard.status()
    assert (before.embedder, before.unembedded, before.vector_bytes, before.graph_bytes) == ("", 12, 0, 0)
    give(shard, CATALOGUE[:5])
    after = shard.status()
    assert (after.embedder, after.unembedded, after.graph_bytes) == (EMBEDDER, 7, 0)
    assert after.vector_bytes == 12 * DIMS + 12
    assert (after.index_bytes, after.document_bytes) == (before.index_bytes, before.document_bytes)


def test_a_shard_without_vectors_pays_nothing_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    shard = loaded(CATALOGUE)
    asked = query("dapo", mix=MIX_OF_BOTH, vector=vector_query(1))
    for name in ("shards.vector_arrivals.text_hash_in", "shards.vectors.vector_kernel.scan", "shards.graph.find_spec"):
        monkeypatch.setattr(name, None)
    shard.apply(1, 2, [upsert(2, replace(CATALOGUE[0], version=2))])
    assert shard.search((asked,))[0].unembedded == 12
    assert shard.status().vector_bytes == 0
    assert all(part.vectors is None for part in shard._index.parts)


def test_loading_again_starts_without_vectors() -> None:
    shard = loaded(CATALOGUE)
    give(shard, CATALOGUE)
    shard.begin_load()
    shard.finish_load(2, {})
    assert (shard.status().embedder, shard.status().vector_bytes) == ("", 0)


def test_a_shard_that_is_not_loaded_takes_and_tells_nothing() -> None:
    shard = Shard(3)
    for call in (lambda: shard.missing_vectors(EMBEDDER, 1), lambda: give(shard, CATALOGUE), shard.build_graph):
        with pytest.raises(ShardNotReady, match="shard 3"):
            call()


any_event = st.one_of(
    any_record.map(lambda one: [upsert(0, one)]),
    any_id.map(lambda record_id: [Change(seq=0, record_id=record_id)]),
    st.lists(any_record.map(lambda one: upsert(0, one)), min_size=2, max_size=6),
    st.integers(0, 2**16),
    st.sampled_from(("save", "other")),
)
"""Changes, the seed of some vectors, a stop and a start, or a passing change of embedders."""


@examples(60)
@given(
    world=worlds(max_size=12),
    events=st.lists(any_event, max_size=16),
    scope=callers,
    words=st.lists(st.sampled_from(WORDS), max_size=3, unique=True),
    seed=st.integers(0, 50),
)
def test_vectors_in_any_order_and_changes_between_them_give_what_a_fresh_load_gives(  # noqa: PLR0917 -- drawn by name
    world: World,
    events: list[list[Change] | int | str],
    scope: Scope,
    words: list[str],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    records = {one.id: one for one in world.records}
    shard, seq = loaded(records.values(), seq=0, lists=world.grant_lists), 0
    for event in events:
        if event == "save":
            shard = reopened(shard, tmp_path_factory.mktemp("saved"))
        elif event == "other":
            give(shard, records.values(), OTHER)
        elif isinstance(event, int):
            give(shard, some(list(records.values()), event))
        elif isinstance(event, list):
            seq = shard.apply(seq, seq + 1, event)
            for change in event:
                _apply(change, records)
    held = {one: vector_of(records[one]) for one in records if one not in lacking(shard)}
    fresh = loaded(records.values(), seq=seq, lists=world.grant_lists)
    give(fresh, (records[one] for one in held))
    asked = query(*words, scope=scope, pinned=("r01", "r20"), n=5, mix=MIX_OF_BOTH, vector=vector_query(seed))
    found = plain(shard.search((asked,))[0])
    assert found == plain(fresh.search((asked,))[0])
    assert found == Naive(records=list(records.values()), lists=world.grant_lists, vectors=held).answer(asked)
    assert give(shard, records.values()) == len(records) - len(held)
    assert (lacking(shard), shard.status().unembedded) == ([], 0)


def reopened(shard: Shard, directory: Path) -> Shard:
    shard.save(directory)
    return Shard.open(0, directory)


def some(records: Sequence[Record], seed: int) -> list[Record]:
    chance = random.Random(seed)  # noqa: S311 -- a replayable choice, no secret
    return chance.sample(records, chance.randint(0, len(records)))


def _apply(change: Change, records: dict[str, Record]) -> None:
    if change.body is None:
        records.pop(change.record_id, None)
    else:
        records[change.record_id] = Record.from_json(change.body)


def test_a_new_vector_is_found_under_the_id_it_was_sent_for_only() -> None:
    twin = replace(CATALOGUE[0], id="twin")
    shard = loaded((CATALOGUE[0], twin))
    assert shard.take_vectors(EMBEDDER, [new_vector(twin)]) == 1
    assert embedded(shard) == {"twin"}
    assert shard.take_vectors(EMBEDDER, [NewVector(record_id="r00", search_text_hash="", values=bytes(DIMS))]) == 0
