"""The exact scan of vectors beside a plain loop."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import vectors
from shards.deadline import OutOfTimeError
from shards.errors import InvalidVector
from shards.messages import VectorQuery
from shards.vectors import Vectors, merged_vectors
from tests.depth import examples
from tests.shards.makers import likeness


def never() -> bool:
    return False


def query_of(values: list[int], floor: int = 0) -> VectorQuery:
    return VectorQuery(embedder="e", values=np.array(values, np.int16), floor=floor)


def vectors_of(rows: list[list[int]], present: list[bool] | None = None) -> Vectors:
    """Vectors of these rows; those that are not present hold numbers too, as memory may."""
    return Vectors(
        embedder="e",
        values=np.array(rows, np.int8).reshape(len(rows), -1),
        present=np.array(present if present is not None else [True] * len(rows), np.bool_),
    )


def test_a_likeness_is_the_dot_product_above_the_floor_in_steps_of_1024_between_0_and_2047() -> None:
    # dots: 100 * 300 - 50 * 200 = 20,000; 127 * 300 + 127 * 200 = 63,500; -100 * 300 = -30,000; 14 * 300 = 4,200.
    held = vectors_of([[100, -50], [127, 127], [-100, 0], [14, 0]])
    # above the floor of 3,176: 16,824 = 16.4 steps; 60,324 = 58.9 steps; below 0; 1,024 = exactly one.
    found, embedded = held.likenesses(query_of([300, 200], 3_176), np.ones(4, np.bool_), never)
    assert (found.tolist(), embedded) == ([16, 58, 0, 1], 4)
    # the least that is below the floor is a step below, and a floor may be negative.
    assert held.likenesses(query_of([300, 200], 4_201), np.ones(4, np.bool_), never)[0].tolist()[3] == 0
    assert held.likenesses(query_of([300, 200], -3_000_000), np.ones(4, np.bool_), never)[0].tolist() == [2047] * 4


numbers = st.one_of(st.integers(-128, 127), st.sampled_from((-128, 127, 0)))
shapes = st.tuples(st.integers(0, 30), st.integers(1, 40))


@st.composite
def compared(draw: st.DrawFn) -> tuple[Vectors, VectorQuery, npt.NDArray[np.bool_]]:
    rows, dims = draw(shapes)
    seed = draw(st.integers(0, 2**32 - 1))
    chance = np.random.default_rng(seed)
    values = chance.integers(-128, 128, (rows, dims)).astype(np.int8)
    present = chance.random(rows) < draw(st.sampled_from((0.0, 0.5, 1.0)))
    mask = chance.random(rows) < draw(st.sampled_from((0.0, 0.1, 0.5, 1.0)))
    query = query_of(
        chance.integers(-2000, 2000, dims).tolist(), draw(st.sampled_from((0, 50_000, -1_000_000, 10_000_000)))
    )
    return Vectors(embedder="e", values=values, present=present), query, mask


@examples(100)
@given(case=compared())
def test_a_scan_looks_at_allowed_rows_with_a_vector_only_and_says_what_a_plain_loop_says(
    case: tuple[Vectors, VectorQuery, npt.NDArray[np.bool_]],
) -> None:
    held, query, mask = case
    found, embedded = held.likenesses(query, mask, never)
    expected = [
        likeness(query, row.tobytes()) if masked and there else 0
        for row, masked, there in zip(held.values, mask, held.present, strict=True)
    ]
    assert found.tolist() == expected
    assert embedded == int(np.count_nonzero(mask & held.present))
    everything, _ = held.likenesses(query, np.ones(len(mask), np.bool_), never)
    assert found.tolist() == np.where(mask, everything, 0).tolist()
    rows = np.flatnonzero(mask)[::-1].astype(np.uint16)
    assert held.likenesses_at(query, rows).tolist() == everything[rows].tolist()


@examples(30)
@given(case=compared(), step=st.integers(1, 200))
def test_a_scan_in_steps_says_what_a_scan_in_one_go_says(
    case: tuple[Vectors, VectorQuery, npt.NDArray[np.bool_]], step: int
) -> None:
    held, query, mask = case
    whole = held.likenesses(query, mask, never)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "_STEP_VALUES", step)
        looks: list[bool] = []
        cut = held.likenesses(query, mask, lambda: looks.append(True) or False)  # type: ignore[func-returns-value]
    assert (cut[0].tolist(), cut[1]) == (whole[0].tolist(), whole[1])
    rows_at_once = max(1, step // held.dims)
    assert len(looks) == max(0, -(-len(mask) // rows_at_once) - 1)


def test_a_scan_stops_between_two_steps_once_the_time_has_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_STEP_VALUES", 4)
    left = [False, True]
    with pytest.raises(OutOfTimeError):
        vectors_of([[1, 2]] * 9).likenesses(query_of([1, 1]), np.ones(9, np.bool_), lambda: left.pop(0))
    assert left == []


def test_the_largest_dot_products_that_the_contract_allows_fit() -> None:
    # 8,192 values of 2,047: 128 * 8,192 * 2,047 = 2,146,435,072 < 2^31.
    dims = 8_192
    held = Vectors(
        embedder="e",
        values=np.array([[-128] * dims, [127] * dims], np.int8),
        present=np.ones(2, np.bool_),
    )
    for sign, expected in ((1, [0, 2047]), (-1, [2047, 0])):
        query = query_of([sign * 2_047] * dims, 2_000_000_000)
        held.require(query)
        assert held.likenesses(query, np.ones(2, np.bool_), never)[0].tolist() == expected


@pytest.mark.parametrize(
    ("values", "told"), [([1] * 3, r"int16\[3\] is not allowed; expected int16\[4\]"), ([32_000] * 4, None)]
)
def test_a_query_of_another_length_is_refused_by_name_and_range(values: list[int], told: str | None) -> None:
    held = vectors_of([[0, 0, 0, 0]])
    if told is None:
        held.require(query_of(values))
        return
    with pytest.raises(InvalidVector, match=told):
        held.require(query_of(values))


def test_a_query_whose_dot_products_could_leave_32_bits_is_refused() -> None:
    with pytest.raises(InvalidVector, match=r"vector.values: a dot product of up to 2148526080 .* at most 2147483647"):
        vectors_of([[0] * 513]).require(query_of([32_720] * 513))


def test_arrays_that_came_from_files_and_from_ray_are_read_only_and_taken() -> None:
    held = vectors_of([[10, 0], [20, 0]], [True, False])
    query = query_of([1024, 0])
    mask = np.ones(2, np.bool_)
    for array in (held.values, held.present, query.values, mask):
        array.flags.writeable = False
    assert held.likenesses(query, mask, never)[0].tolist() == [10, 0]


def test_a_row_that_is_filled_is_seen_by_nobody_who_holds_the_older_vectors() -> None:
    before = Vectors.none_yet("e", 3, 2)
    after = before.filled(np.array([2, 0]), np.array([[7, 0], [5, 0]], np.int8))
    query, mask = query_of([1024, 0]), np.ones(3, np.bool_)
    assert before.likenesses(query, mask, never)[0].tolist() == [0, 0, 0]
    assert before.likenesses_at(query, np.array([0, 2], np.uint16)).tolist() == [0, 0]
    assert after.likenesses(query, mask, never)[0].tolist() == [5, 0, 7]
    assert after.values is before.values
    assert not after.present.flags.writeable
    assert after.nbytes == 3 * 2 + 3


def test_merged_vectors_follow_their_rows_and_leave_out_the_dead() -> None:
    first, second = vectors_of([[1], [2], [3]], [True, True, False]), vectors_of([[4], [5]])
    ranks = [np.array([3, -1, 0]), np.array([1, 4]), np.array([2])]
    merged = merged_vectors([first, second, None], ranks)
    assert merged is not None
    assert (merged.values.tolist(), merged.present.tolist()) == (
        [[0], [4], [0], [1], [5]],
        [False, True, False, True, True],
    )
    assert merged_vectors([None, None], ranks[:2]) is None
    assert merged_vectors([vectors_of([[1], [2]], [True, False])], [np.array([-1, 0])]) is None
