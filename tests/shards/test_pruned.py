"""The pruned kernel beside the exhaustive one, which it must equal to the bit."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import kernel, pruned
from shards.bits import bits_of
from shards.frequency_kernel import count
from shards.messages import MOST_LIKENESS, ScoreMix
from shards.statistics import WEIGHT_CEILING
from shards.value_kernel import fill
from tests.depth import examples
from tests.shards.test_kernel import postings_of
from tests.shards.worlds_of_postings import TERMS, Drawn, drawn_postings, mixes


@pytest.fixture(autouse=True, scope="module")
def _lists_of_few_rows_count_as_dense() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shards.dense_terms.LEAST_ROWS", 3)
        yield


@examples(400)
@given(
    drawn=drawn_postings(),
    weights=st.lists(st.sampled_from((0, 1, 40, 2047)), min_size=TERMS, max_size=TERMS),
    mix=mixes,
    n=st.integers(1, 40),
    share=st.sampled_from((0.0, 0.3, 1.0)),
)
def test_the_pruned_kernel_gives_what_the_exhaustive_one_gives_from_the_floor_on(
    drawn: Drawn, weights: list[int], mix: ScoreMix, n: int, share: float
) -> None:
    weighted = np.array(weights, np.int64)
    start = drawn.base if len(drawn.base) else np.zeros(drawn.rows, np.int32)
    scores = kernel.added_up(drawn.postings, drawn.terms, weights=weighted, mix=mix, base=start)
    rows, best, matched = kernel.top_rows(scores, drawn.mask, n)
    floor = int(best[int(share * (len(best) - 1))]) if len(best) and share else 0
    found = pruned.top_rows(
        drawn.postings,
        drawn.terms,
        weights=weighted,
        mix=mix,
        base=drawn.base,
        allowed=bits_of(drawn.mask),
        count=int(drawn.mask.sum()),
        n=n,
        floor=floor,
    )
    assert found[2] == matched
    assert found[0].tolist() == rows[best >= floor].tolist()
    assert found[1].tolist() == best[best >= floor].tolist()


@examples(200)
@given(drawn=drawn_postings())
def test_frequencies_by_sets_are_those_of_the_lists(drawn: Drawn) -> None:
    expected = kernel.frequencies(drawn.postings, drawn.terms, drawn.mask)
    authorized = int(drawn.mask.sum())
    found = np.full(TERMS, 5)
    count(found, drawn.terms, drawn.postings.lists, bits_of(drawn.mask), authorized, drawn.rows)
    assert found.tolist() == (expected + 5).tolist()


@examples(200)
@given(drawn=drawn_postings(), seed=st.integers(0, 99))
def test_values_are_written_where_they_are_wanted(drawn: Drawn, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, drawn.rows, 9).astype(np.uint16)
    places = rng.permutation(12)[:9]
    values = np.zeros((12, TERMS, 2), np.uint8)
    fill(values, places, rows, drawn.terms, drawn.postings.lists)
    assert values[places].tolist() == kernel.values_of(rows, drawn.postings, drawn.terms).tolist()
    assert not values[np.setdiff1d(np.arange(12), places)].any()


def test_the_largest_score_that_the_contract_allows_fits() -> None:
    loose = {(term, row): (255, 255) for term in range(64) for row in range(8)}
    postings = postings_of(loose)
    assert len(postings.dense.rows) == 64
    most = 500_000_000 + 65_535 * MOST_LIKENESS
    rows, scores, matched = pruned.top_rows(
        postings,
        postings.terms.find_all([b"t%02d" % term for term in range(64)]),
        weights=np.full(64, WEIGHT_CEILING),
        mix=ScoreMix(impact=15, name=15, presence=3825),
        base=np.full(8, most, np.int32),
        allowed=bits_of(np.ones(8, np.bool_)),
        count=8,
        n=2,
        floor=0,
    )
    assert (rows.tolist(), matched) == ([0, 1], 8)
    assert scores.tolist() == [64 * 2047 * 11_475 + most] * 2
