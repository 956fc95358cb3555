"""The proof never lies: brute force over everything a shard left out."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.lossless import (
    NOTHING_LEFT_OUT,
    UNBOUNDED,
    left_out_bound,
    ranking_is_settled,
    shard_is_settled,
)
from shards.messages import ScoreMix, ShardHits
from shards.scoring import index_scores
from tests.cluster.rig import hits_of

MIX = ScoreMix(impact=2, name=1, presence=3, similarity=50)

Held = tuple[tuple[tuple[int, int], ...], int, int]


def rows_of(n_terms: int) -> st.SearchStrategy[list[Held]]:
    channel = st.tuples(st.integers(0, 255), st.integers(0, 255)).map(lambda pair: pair if pair[0] else (0, 0))
    return st.lists(
        st.tuples(st.tuples(*[channel] * n_terms), st.integers(0, 1000), st.integers(0, 2047)), min_size=1, max_size=12
    )


def weights_of(n_terms: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 2047), min_size=n_terms, max_size=n_terms)


@st.composite
def shard_cuts(draw: st.DrawFn) -> tuple[ShardHits, npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
    """A shard's reply to a cut of n, its left-out records' true scores, the summed weights, and n."""
    n_terms = draw(st.integers(1, 4))
    rows = draw(rows_of(n_terms))
    own, summed = np.array(draw(weights_of(n_terms))), np.array(draw(weights_of(n_terms)))
    n = draw(st.integers(1, 6))
    values = np.array([row[0] for row in rows], np.uint8)
    bonuses = np.array([row[1] for row in rows], np.int32)
    likenesses = np.array([row[2] for row in rows], np.int32)
    own_scores = index_scores(values, bonuses, likenesses, own, MIX)
    order = np.lexsort((np.arange(len(rows)), -own_scores))
    kept, left = order[:n], order[n:]
    scored = own_scores[left]
    hits = replace(
        hits_of([], n_terms),
        ids=tuple(f"t{row:02d}" for row in kept),
        scores=own_scores[kept].astype(np.int32),
        values=values[kept],
        bonuses=bonuses[kept],
        likenesses=likenesses[kept],
        frequencies=(values[:, :, 0] > 0).sum(axis=0).astype(np.int64),
        weights=own,
        threshold=int(scored.max()) if len(scored) and scored.max() > 0 else -1,
    )
    return hits, index_scores(values[left], bonuses[left], likenesses[left], summed, MIX), summed, n


@settings(max_examples=200)
@given(shard_cuts())
def test_nothing_that_a_shard_left_out_scores_above_its_bound(
    cut: tuple[ShardHits, npt.NDArray[np.int64], npt.NDArray[np.int64], int],
) -> None:
    hits, left_out, summed, _ = cut
    best = max(left_out.tolist(), default=0)
    bound = left_out_bound(hits, summed)
    assert best <= max(bound, 0)
    if bound == NOTHING_LEFT_OUT:
        assert best == 0


@settings(max_examples=200)
@given(shard_cuts(), st.integers(1, 8), st.integers(0, 3))
def test_a_settled_shard_holds_back_none_of_the_best_places(
    cut: tuple[ShardHits, npt.NDArray[np.int64], npt.NDArray[np.int64], int], places: int, rivals: int
) -> None:
    hits, left_out, summed, n = cut
    known = sorted(
        [*index_scores(hits.values, hits.bonuses, hits.likenesses, summed, MIX).tolist(), *[400_000] * rivals],
        reverse=True,
    )
    floor = known[places - 1] if len(known) >= places else None
    if shard_is_settled(hits, n, summed, places, floor):
        everything = sorted([*known, *left_out.tolist()], reverse=True)
        assert [score for score in everything[:places] if score > 0] == [score for score in known[:places] if score > 0]


def test_the_bound_grows_by_the_worst_ratio_of_a_held_term() -> None:
    hits = replace(
        hits_of([("a", ((9, 0), (9, 0), (0, 0)), 0)], 3, weights=(100, 100, 1)), threshold=1000
    )  # the third term is held by nobody here, so its ratio of 900 does not count
    assert left_out_bound(hits, np.array([90, 107, 900])) == 1070
    assert left_out_bound(hits, np.array([90, 90, 900])) == 1000
    assert (
        left_out_bound(replace(hits, threshold=999), np.array([90, 107, 900])) == 1068
    )  # 1068.93, and scores are whole
    assert left_out_bound(replace(hits, threshold=-1), np.array([90, 107, 900])) == NOTHING_LEFT_OUT
    assert left_out_bound(replace(hits, weights=np.array([100, 0, 1])), np.array([90, 107, 900])) == UNBOUNDED


def test_a_bound_equal_to_the_floor_proves_nothing_because_the_id_might_come_first() -> None:
    hits = replace(hits_of([("b", ((9, 0),), 0)], 1, weights=(10,)), threshold=100)
    summed = np.array([11])
    assert shard_is_settled(hits, 5, summed, places=1, floor=111)
    assert not shard_is_settled(hits, 5, summed, places=1, floor=110)
    assert not shard_is_settled(hits, 5, summed, places=1, floor=None)


def test_a_shard_whose_rows_a_graph_chose_proves_nothing() -> None:
    hits = replace(hits_of([("b", ((9, 0),), 0)], 1, weights=(10,)), threshold=-1, approximate=True)
    assert left_out_bound(hits, np.array([10])) == UNBOUNDED
    assert not shard_is_settled(hits, 5, np.array([10]), places=1, floor=10**9)


def test_a_shard_that_cut_by_the_summed_weights_is_settled_for_as_many_places_as_it_was_asked() -> None:
    hits = replace(hits_of([("b", ((9, 0),), 0)], 1, weights=(10,)), threshold=100)
    assert shard_is_settled(hits, 5, np.array([10]), places=5, floor=None)
    assert not shard_is_settled(hits, 5, np.array([10]), places=6, floor=None)


def test_a_ranking_is_settled_only_by_a_margin_above_the_rankers_bound() -> None:
    assert ranking_is_settled(None, None, 5)
    assert ranking_is_settled(106, 100, 5)
    assert not ranking_is_settled(105, 100, 5)
    assert not ranking_is_settled(None, 100, 5)
