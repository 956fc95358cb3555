"""Parts are merged while a shard changes, and stay few."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import compaction
from shards.compaction import SMALL_PARTS, compacted
from shards.part import Part
from shards.segment_builder import SegmentBuilder
from tests.depth import examples
from tests.shards.makers import record


def part_of(*ids: str) -> Part:
    builder = SegmentBuilder()
    for record_id in ids:
        builder.add(record(record_id, "dapo"), b"")
    return Part.of(builder.build())


def live_ids(parts: tuple[Part, ...]) -> list[str]:
    return sorted(
        record_id
        for part in parts
        for record_id, alive in zip(part.segment.ids, part.live_rows().tolist(), strict=True)
        if alive
    )


@examples(100)
@given(steps=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40), seed=st.integers(0, 9))
def test_any_order_of_changes_leaves_few_parts_that_hold_the_live_records(
    steps: list[tuple[int, int]], seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 -- the same changes in every run, nothing secret
    parts: tuple[Part, ...] = ()
    expected: list[str] = []
    for step, (added, removed) in enumerate(steps):
        gone = chance.sample(expected, min(removed, len(expected)))
        fresh = [f"{step:02}-{number}" for number in range(added)]
        expected = sorted({*expected, *fresh} - set(gone))
        parts = compacted((*(part.without(gone) for part in parts), part_of(*fresh)))
        assert len(parts) <= SMALL_PARTS
        assert live_ids(parts) == expected
        assert all(2 * part.count >= len(part.segment) for part in parts)


def test_parts_stay_as_they_are_while_they_are_few() -> None:
    parts = tuple(part_of(f"a{number}") for number in range(SMALL_PARTS))
    assert compacted(parts) == parts


def test_large_parts_are_left_alone_when_small_ones_are_merged() -> None:
    large = part_of(*(f"large{number}" for number in range(200)))
    small = [part_of(f"a{number}") for number in range(SMALL_PARTS)]
    merged = compacted((large, *small))
    assert merged[0] is large
    assert [part.count for part in merged] == [200, SMALL_PARTS]


def test_single_changes_rewrite_each_record_a_logarithmic_number_of_times() -> None:
    parts: tuple[Part, ...] = ()
    rewritten = 0
    for number in range(1000):
        before = {part.segment.uid for part in parts}
        parts = compacted((*parts, part_of(f"{number:04}")))
        rewritten += sum(part.count for part in parts if part.segment.uid not in before and part.count > 1)
    # 1,000 records in rounds of about 1.5 times: at most log(1000) / log(1.5) = 17 rewrites each.
    assert rewritten <= 17 * 1000
    assert len(parts) <= SMALL_PARTS


def test_a_single_record_is_not_merged_into_a_large_part_again_and_again() -> None:
    parts = tuple(part_of(*(f"{letter}{number}" for number in range(100))) for letter in "abcdefgh")
    rewritten = 0
    for number in range(40):
        before = {part.segment.uid for part in parts}
        parts = compacted((*parts, part_of(f"z{number:02}")))
        rewritten += sum(part.count for part in parts if part.segment.uid not in before and part.count > 1)
    # The first change merges the large ones, the others what came after; each of the 40 into all others would be 4,820.
    assert rewritten <= 1_200
    assert len(parts) <= SMALL_PARTS


def test_one_change_rewrites_so_many_mostly_dead_rows_at_most_and_the_deadest_parts_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compaction, "REWRITTEN_ROWS", 75)
    ids = {letter: [f"{letter}{number:03}" for number in range(100)] for letter in "abc"}
    parts = tuple(part_of(*ids[letter]) for letter in ids)
    dead = {"a": 60, "b": 80, "c": 70}
    dying = tuple(part.without(ids[letter][: dead[letter]]) for part, letter in zip(parts, ids, strict=True))
    once = compacted(dying)
    assert [len(part.segment) for part in once] == [100, 20, 30]
    assert [len(part.segment) for part in compacted(once)] == [40, 20, 30]
    assert live_ids(once) == live_ids(dying)
