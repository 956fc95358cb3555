"""The one total order across segments, and where it is cut."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shards.topk import Ranked, Top, merge
from tests.depth import examples


def top(*rows: tuple[int, int]) -> Top:
    return Top(rows=np.array([row for row, _ in rows], np.uint16), scores=np.array([s for _, s in rows], np.int32))


def triples(ranked: Ranked) -> list[tuple[int, int, int]]:
    return list(zip(ranked.parts.tolist(), ranked.rows.tolist(), ranked.scores.tolist(), strict=True))


def test_equal_scores_are_ordered_by_id_across_segments() -> None:
    ids = [["b", "d"], ["a", "c"]]
    merged = merge([top((0, 5), (1, 5)), top((0, 5), (1, 5))], 3, lambda part, row: ids[part][row])
    assert triples(merged) == [(1, 0, 5), (0, 0, 5), (1, 1, 5)]


def test_a_higher_score_comes_first_whatever_the_id() -> None:
    merged = merge([top((0, 5)), top((0, 9))], 2, lambda part, _: "ab"[part])
    assert triples(merged) == [(1, 0, 9), (0, 0, 5)]


def test_no_segments_give_no_rows() -> None:
    assert triples(merge([], 3, lambda *_: "")) == []
    assert triples(merge([top(), top()], 3, lambda *_: "")) == []


def test_ids_are_asked_only_for_rows_of_two_segments_that_score_the_same_and_can_be_among_the_best() -> None:
    asked: list[tuple[int, int]] = []

    def id_of(part: int, row: int) -> str:
        asked.append((part, row))
        return f"{part}{row}"

    tops = [top((0, 9), (1, 7), (2, 4), (3, 2)), top((0, 8), (1, 4), (2, 2))]
    assert triples(merge(tops, 4, id_of)) == [(0, 0, 9), (1, 0, 8), (0, 1, 7), (0, 2, 4)]
    assert asked == [(0, 2), (1, 1)]


def test_a_tie_at_the_cut_is_decided_by_all_that_share_it() -> None:
    ids = [["b", "d"], ["a"]]
    merged = merge([top((0, 5), (1, 5)), top((0, 5))], 1, lambda part, row: ids[part][row])
    assert triples(merged) == [(1, 0, 5)]


@examples(100)
@given(
    scores=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=30),
    n=st.integers(1, 12),
)
def test_the_cut_of_many_segments_is_the_cut_of_all_rows_together(scores: list[tuple[int, int]], n: int) -> None:
    ids = {(part, row): f"r{(row * 7) % 31:02}" for row, (part, _) in enumerate(scores)}
    # Inside a segment ids ascend with the rows, and its best come in the total order.
    places: dict[int, list[str]] = {part: sorted(ids[key] for key in ids if key[0] == part) for part in range(3)}
    rows = [
        (part, places[part].index(ids[part, row]), score, ids[part, row]) for row, (part, score) in enumerate(scores)
    ]
    expected = sorted(rows, key=lambda one: (-one[2], one[3]))[:n]
    tops = []
    for part in range(3):
        own = sorted((one for one in rows if one[0] == part), key=lambda one: (-one[2], one[3]))[:n]
        tops.append(top(*((row, score) for _, row, score, _ in own)))
    merged = merge(tops, n, lambda part, row: places[part][row])
    assert triples(merged) == [one[:3] for one in expected]
