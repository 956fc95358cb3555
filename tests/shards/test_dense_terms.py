"""Terms as bit sets: nothing is lost on the way from lists to sets and back."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given

from shards.bits import bits_of
from shards.lookup_kernel import dense_rows_of, rows_of
from shards.near.search_kernel import held
from shards.postings import Postings, assembled
from shards.segment_layout import arrays_of, segment_of
from shards.segment_merge import merged
from tests.depth import examples
from tests.shards.makers import record
from tests.shards.test_segment import built, content
from tests.shards.worlds_of_postings import Drawn, drawn_postings


@pytest.fixture(autouse=True, scope="module")
def _lists_of_few_rows_count_as_dense() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shards.dense_terms.LEAST_ROWS", 3)
        yield


def loose_form(postings: Postings) -> list[int]:
    """(term, ordinal, impact, name) of each posting, in order."""
    loose = postings.packed(np.arange(len(postings.terms), dtype=np.uint64))
    return sorted(loose.tolist())


@examples(100)
@given(drawn=drawn_postings())
def test_postings_taken_apart_and_put_together_are_the_same(drawn: Drawn) -> None:
    postings = drawn.postings
    loose = postings.packed(np.arange(len(postings.terms), dtype=np.uint64))
    again = assembled(list(postings.terms.all_bytes()), loose.copy())
    assert again.dense.rows.tolist() == postings.dense.rows.tolist()
    assert again.dense.bits.tolist() == postings.dense.bits.tolist()
    assert again.impacts.tolist() == postings.impacts.tolist()
    assert loose_form(again) == loose_form(postings)


@examples(100)
@given(drawn=drawn_postings())
def test_a_term_has_a_list_or_a_set_and_each_row_one_impact(drawn: Drawn) -> None:
    postings = drawn.postings
    lists = np.diff(postings.offsets).tolist()
    dense = set(postings.dense.rows.tolist())
    assert dense == {row for row, length in enumerate(lists) if length == 0}
    rows = [postings.ordinals_of(row).tolist() for row in range(len(lists))]
    assert sum(map(len, rows)) == len(postings.impacts)
    assert all(one == sorted(set(one)) for one in rows)
    assert all(len(rows[row]) > max(3, drawn.rows // 20) for row in dense)


@pytest.mark.parametrize("density", [0.0, 0.001, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("rows", [1, 64, 65_536])
def test_the_rows_of_a_set_are_those_of_its_mask(rows: int, density: float) -> None:
    mask = np.random.default_rng(rows).random(rows) < density
    bits, count = bits_of(mask), int(mask.sum())
    assert rows_of(bits, count).tolist() == np.flatnonzero(mask).tolist()
    assert dense_rows_of(bits, count).tolist() == np.flatnonzero(mask).tolist()


@examples(100)
@given(drawn=drawn_postings())
def test_near_terms_are_counted_in_lists_and_in_sets(drawn: Drawn) -> None:
    postings = drawn.postings
    for row in range(len(postings.terms)):
        assert held(postings.lists, bits_of(drawn.mask), row) == drawn.mask[postings.ordinals_of(row)].sum()


def test_a_segment_with_dense_terms_is_built_merged_and_read_alike() -> None:
    catalogue = [record(f"r{number:02d}", "dapo" + " veku" * (number % 2)) for number in range(24)]
    whole = built(*catalogue)
    assert len(whole.postings.dense.rows) >= 2
    halves = [built(*catalogue[::2]), built(*catalogue[1::2])]
    assert content(merged(halves, [np.ones(12, np.bool_)] * 2).segment) == content(whole)
    read = segment_of(arrays_of(whole), b"".join(one.to_json() for one in catalogue))
    assert content(read) == content(whole)
    assert read.postings.dense.ranks.tolist() == whole.postings.dense.ranks.tolist()
    assert read.postings.dense.most.tolist() == whole.postings.dense.most.tolist()
