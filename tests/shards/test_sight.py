"""Kernels that read all parts by their addresses: what the layouts of segments in other tests do not reach."""

from dataclasses import replace

import numpy as np
import pytest

from shards.addresses import LISTS_LENGTH, addresses_of, lists_at
from shards.lists import Lists
from shards.messages import Outcome
from tests.shards.makers import index_of, query, record


def never() -> bool:
    return False


def test_lists_come_back_from_their_addresses() -> None:
    lists = (
        index_of([record(f"r{number}", "dapo " * number) for number in range(1, 9)], 50).parts[0].segment.postings.lists
    )
    found = lists_at(np.array([7, *addresses_of(lists)], np.int64), 1)
    assert len(addresses_of(lists)) == LISTS_LENGTH
    for name in Lists._fields:
        left, right = getattr(lists, name), getattr(found, name)
        assert (left.dtype, left.shape, left.tolist()) == (right.dtype, right.shape, right.tolist()), name


def test_an_array_with_gaps_has_no_address() -> None:
    with pytest.raises(ValueError, match="contiguous"):
        addresses_of([np.arange(6)[::2]])


def test_an_array_of_another_type_has_no_place_in_a_segment() -> None:
    segment = index_of([record("a", "dapo")], 50).parts[0].segment
    wide = replace(segment.postings, ordinals=segment.postings.ordinals.astype(np.uint32))
    with pytest.raises(ValueError, match="uint32"):
        replace(segment, postings=wide)
    with pytest.raises(ValueError, match="float64"):
        replace(segment, versions=segment.versions.astype(np.float64))


@pytest.mark.parametrize("segment_rows", [1, 2, 50])
def test_equal_scores_of_several_parts_stand_in_the_order_of_ids(segment_rows: int) -> None:
    # One id begins another, one is not ASCII, and together they are longer than the first room for ids.
    ids = ["a", "ab", "ab" * 90, "b" * 128, "b" * 127 + "c", "é", "日本"]
    records = [record(one, "dapo") for one in (ids[place] for place in (3, 0, 6, 4, 1, 5, 2))]
    hits = index_of(records, segment_rows).search(replace(query("dapo"), n=5), never)
    assert hits.ids == tuple(ids[:5])
    assert len(set(hits.scores.tolist())) == 1
    assert (hits.matched, hits.threshold) == (7, hits.scores[0])


@pytest.mark.parametrize("version", [1, 300, 70_000, 2**40])
def test_versions_of_every_width_are_told(version: int) -> None:
    records = [replace(record("a", "dapo"), version=version), replace(record("b", "dapo dapo"), version=1)]
    hits = index_of(records, 50).search(query("dapo"), never)
    assert dict(zip(hits.ids, hits.versions.tolist(), strict=True)) == {"a": version, "b": 1}


def test_queries_of_a_batch_answer_as_each_alone() -> None:
    index = index_of([record(f"r{number}", "dapo goli") for number in range(5)], 2)
    nobody = replace(query("dapo").scope, grants=())
    batch = (
        query("dapo"),
        query("goli", scope=nobody),
        replace(query("dapo"), min_seq=99),
        query("goli"),
        query("dapo", scope=nobody),
    )
    together = index.search_batch(batch, lambda _: never)
    assert [(hits.outcome, hits.ids) for hits in together] == [
        (hits.outcome, hits.ids) for hits in (index.search(one, never) for one in batch)
    ]
    assert [hits.outcome for hits in together][2] is Outcome.BEHIND
    assert [len(hits.ids) for hits in together] == [5, 0, 0, 5, 0]
