import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shards.topk import Scored, Top, merge
from tests.depth import examples


def top(*rows: tuple[int, int]) -> Top:
    return Top(rows=np.array([row for row, _ in rows], np.uint16), scores=np.array([s for _, s in rows], np.int32))


def test_equal_scores_are_ordered_by_id_across_segments() -> None:
    ids = [["b", "d"], ["a", "c"]]
    merged = merge([top((0, 5), (1, 5)), top((0, 5), (1, 5))], 3, lambda part, row: ids[part][row])
    assert merged == [Scored(1, 0, "a", 5), Scored(0, 0, "b", 5), Scored(1, 1, "c", 5)]


def test_a_higher_score_comes_first_whatever_the_id() -> None:
    merged = merge([top((0, 5)), top((0, 9))], 2, lambda part, _: "ab"[part])
    assert [(scored.id, scored.score) for scored in merged] == [("b", 9), ("a", 5)]


def test_no_segments_give_no_rows() -> None:
    assert merge([], 3, lambda *_: "") == []
    assert merge([top(), top()], 3, lambda *_: "") == []


def test_ids_are_asked_only_for_rows_that_can_be_among_the_best() -> None:
    asked: list[tuple[int, int]] = []

    def id_of(part: int, row: int) -> str:
        asked.append((part, row))
        return f"{part}{row}"

    merge([top((0, 9), (1, 3)), top((0, 9), (1, 2))], 2, id_of)
    assert asked == [(0, 0), (1, 0)]


@examples(100)
@given(
    scores=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=30),
    n=st.integers(1, 12),
)
def test_the_cut_of_many_segments_is_the_cut_of_all_rows_together(scores: list[tuple[int, int]], n: int) -> None:
    ids = {(part, row): f"r{(row * 7) % 31:02}" for row, (part, _) in enumerate(scores)}
    rows = [Scored(part, row, ids[part, row], score) for row, (part, score) in enumerate(scores)]
    expected = sorted(rows, key=lambda scored: (-scored.score, scored.id))[:n]
    tops = []
    for part in range(3):
        own = sorted((scored for scored in rows if scored.part == part), key=lambda s: (-s.score, s.id))[:n]
        tops.append(top(*((scored.row, scored.score) for scored in own)))
    assert merge(tops, n, lambda part, row: ids[part, row]) == expected
