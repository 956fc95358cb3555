"""The exhaustive kernel beside a plain loop over the postings."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import kernel
from shards.messages import MAX_TERMS, MOST_LIKENESS, ScoreMix
from shards.postings import Postings, assembled, packed
from shards.statistics import WEIGHT_CEILING
from tests.depth import examples

Loose = dict[tuple[int, int], tuple[int, int]]
"""(term, ordinal) -> (impact, name)."""

ROWS = 24


@pytest.fixture(autouse=True, scope="module", params=[3, 256], ids=["in sets", "in lists"])
def _most_rows_of_a_list(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shards.dense_terms.LEAST_ROWS", request.param)
        yield


def postings_of(loose: Loose) -> Postings:
    return assembled(
        [b"t%02d" % term for term in range(MAX_TERMS)],
        packed(
            np.array([term for term, _ in loose], np.uint64),
            np.array([ordinal for _, ordinal in loose], np.uint16),
            np.array([impact for impact, _ in loose.values()], np.uint8),
            np.array([name for _, name in loose.values()], np.uint8),
        ),
    )


def top_rows(
    postings: Postings,
    terms: int,
    *,
    weights: list[int],
    mix: ScoreMix,
    mask: npt.NDArray[np.bool_],
    base: npt.NDArray[np.int32],
    n: int,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], int]:
    rows = dictionary_rows(postings, terms)
    scores = kernel.added_up(postings, rows, weights=np.array(weights, np.int64), mix=mix, base=base)
    return kernel.top_rows(scores, mask, n)


def dictionary_rows(postings: Postings, terms: int) -> npt.NDArray[np.int64]:
    return postings.terms.find_all([b"t%02d" % term for term in range(terms)])


loose_postings = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, ROWS - 1)), st.tuples(st.integers(1, 255), st.integers(0, 255))
)
masks = st.lists(st.booleans(), min_size=ROWS, max_size=ROWS).map(lambda bits: np.array(bits, np.bool_))
mixes = st.builds(ScoreMix, impact=st.integers(0, 15), name=st.integers(0, 15), presence=st.sampled_from((0, 1, 3825)))


@examples(100)
@given(
    loose=loose_postings,
    weights=st.lists(st.sampled_from((0, 1, 2, 2047)), min_size=6, max_size=6),
    mix=mixes,
    mask=masks,
    base=st.lists(st.sampled_from((0, 0, 0, 1, 700)), min_size=ROWS, max_size=ROWS),
    n=st.integers(1, ROWS + 3),
)
def test_top_rows_are_those_of_a_plain_loop_over_the_postings(  # noqa: PLR0917 -- drawn by name
    loose: Loose, weights: list[int], mix: ScoreMix, mask: npt.NDArray[np.bool_], base: list[int], n: int
) -> None:
    scores = dict(enumerate(base))
    for (term, ordinal), (impact, name) in loose.items():
        scores[ordinal] += weights[term] * (mix.impact * impact + mix.name * name + mix.presence)
    best = sorted(((-score, row) for row, score in scores.items() if mask[row] and score > 0))
    postings = postings_of(loose)
    start = np.array(base, np.int32)
    rows, found, matched = top_rows(postings, 6, weights=weights, mix=mix, mask=mask, base=start, n=n)
    assert start.tolist() == base
    assert list(zip((-found).tolist(), rows.tolist(), strict=True)) == best[:n]
    assert matched == len(best)


@examples(100)
@given(loose=loose_postings, mask=masks)
def test_frequencies_count_masked_rows_only(loose: Loose, mask: npt.NDArray[np.bool_]) -> None:
    postings = postings_of(loose)
    counts = kernel.frequencies(postings, dictionary_rows(postings, 6), mask)
    assert counts.tolist() == [sum(one == term and bool(mask[row]) for one, row in loose) for term in range(6)]


@examples(100)
@given(loose=loose_postings, rows=st.lists(st.integers(0, ROWS - 1), max_size=8))
def test_values_of_rows_are_those_of_their_postings(loose: Loose, rows: list[int]) -> None:
    postings = postings_of(loose)
    values = kernel.values_of(np.array(rows, np.uint16), postings, dictionary_rows(postings, 6))
    assert values.shape == (len(rows), 6, 2)
    assert values.tolist() == [[list(loose.get((term, row), (0, 0))) for term in range(6)] for row in rows]


def test_the_largest_score_that_the_contract_allows_fits() -> None:
    postings = postings_of({(term, 0): (255, 255) for term in range(MAX_TERMS)})
    most = 500_000_000 + 65_535 * MOST_LIKENESS
    _, scores, _ = top_rows(
        postings,
        MAX_TERMS,
        weights=[WEIGHT_CEILING] * MAX_TERMS,
        mix=ScoreMix(impact=15, name=15, presence=3825),
        mask=np.ones(1, np.bool_),
        base=np.array([most], np.int32),
        n=1,
    )
    assert scores.tolist() == [64 * 2047 * 11_475 + most]


def test_the_last_row_of_a_full_segment_is_reached_and_loses_ties() -> None:
    postings = postings_of({(0, 65_535): (9, 0), (0, 3): (9, 0)})
    rows, _, matched = top_rows(
        postings,
        1,
        weights=[2],
        mix=ScoreMix(impact=1, name=0, presence=0),
        mask=np.ones(65_536, np.bool_),
        base=np.zeros(65_536, np.int32),
        n=2,
    )
    assert rows.tolist() == [3, 65_535]
    assert matched == 2


def test_read_only_arrays_are_taken() -> None:
    postings = postings_of({(0, 0): (9, 0)})
    mask = np.ones(1, np.bool_)
    for array in (mask, postings.ordinals, postings.impacts, postings.names, postings.offsets):
        array.flags.writeable = False
    terms = dictionary_rows(postings, 1)
    assert kernel.frequencies(postings, terms, mask).tolist() == [1]


def test_a_cut_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="n: 0"):
        kernel.top_rows(np.zeros(1, np.int32), np.ones(1, np.bool_), 0)
