"""Replies of shards become one list, whatever their number and order."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluster.merge import best_first, merge, priority, winners, within_ceiling
from cluster.query import AnalyzedRequest
from shards.mentions import NO_MENTIONS
from shards.messages import ScoreMix
from shards.statistics import frequency_weight
from tests.cluster.rig import hits_of

MIX = ScoreMix(impact=1, name=1, presence=0, similarity=1)
ALL = 2**31 - 1
Row = tuple[str, tuple[tuple[int, int], tuple[int, int]], int, int]

channels = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda pair: pair if pair[0] else (0, 0))
catalogues = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.tuples(st.tuples(channels, channels), st.integers(0, 2), st.integers(0, 200)),
    max_size=30,
).map(lambda rows: [(record_id, *row) for record_id, row in rows.items()])


def question(n_terms: int = 2) -> AnalyzedRequest:
    terms = tuple(f"w{n}" for n in range(n_terms))
    return AnalyzedRequest(terms=terms, term_weights=(256,) * n_terms, mentions=NO_MENTIONS, length=n_terms)


def brute_force(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Every record scored in plain Python, in the one total order."""
    weights = [frequency_weight(len(rows), sum(1 for row in rows if row[1][t][0]), 256) for t in range(2)]
    scored = [
        (record_id, sum(weights[t] * sum(values[t]) for t in range(2)) + bonus + likeness)
        for record_id, values, bonus, likeness in rows
    ]
    return sorted(scored, key=lambda row: (-row[1], row[0]))


@given(rows=catalogues, shards=st.integers(1, 5), seed=st.randoms(use_true_random=False))
def test_the_order_is_total_and_the_number_of_shards_changes_nothing(
    rows: list[Row], shards: int, seed: "np.random.Generator"
) -> None:
    shuffled = list(rows)
    seed.shuffle(shuffled)
    parts = {n: shuffled[n::shards] for n in reversed(range(shards))}
    replies = {
        n: hits_of([row[:3] for row in part], 2, likenesses=[row[3] for row in part]) for n, part in parts.items()
    }
    pool = merge(replies, question(), MIX, ALL)
    assert list(zip(pool.ids, pool.scores.tolist(), strict=True)) == brute_force(rows)
    assert pool.authorized == len(rows)
    assert all(
        record_id in {row[0] for row in shuffled[n::shards]} for record_id, n in zip(pool.ids, pool.shards, strict=True)
    )


def test_no_reply_gives_an_empty_pool() -> None:
    pool = merge({}, question(3), MIX, ALL)
    assert (pool.ids, pool.values.shape, pool.weights.tolist(), pool.matched) == ((), (0, 3, 2), [0, 0, 0], 0)
    assert pool.floor(1) is None


def test_an_id_from_two_shards_stays_once_in_its_newer_version() -> None:
    strong, weak = ((9, 0), (9, 0)), ((1, 0), (0, 0))
    old = hits_of([("a", strong, 0), ("b", weak, 0)], 2, versions={"a": 1})
    new = hits_of([("a", weak, 0)], 2, versions={"a": 2})
    for replies in ({0: old, 1: new}, {0: new, 1: old}):
        pool = merge(replies, question(), MIX, ALL)
        assert sorted(pool.ids) == ["a", "b"]
        assert pool.versions[pool.ids.index("a")] == 2
        assert pool.scores[pool.ids.index("a")] == pool.scores[pool.ids.index("b")]


def test_a_reply_over_its_ceiling_is_cut_and_its_threshold_covers_what_went() -> None:
    rows = [(name, ((strength, 0),), 0) for name, strength in (("a", 9), ("b", 7), ("c", 5), ("d", 0))]
    obedient, surplus = within_ceiling(hits_of(rows, 1, threshold=-1, likenesses=(0, 2, 0, 4)), 1, {"d"})
    assert (obedient.ids, surplus, obedient.threshold) == (("a", "d"), 2, 9)
    assert obedient.values.shape == (2, 1, 2)
    assert obedient.likenesses.tolist() == [0, 4]
    untouched = hits_of(rows, 1)
    assert within_ceiling(untouched, 3, {"d"}) == (untouched, 0)


def test_a_cut_keeps_the_rows_that_were_asked_for() -> None:
    replies = {0: hits_of([(name, ((9 - n, 0),), 0) for n, name in enumerate("abcde")], 1)}
    cut = merge(replies, question(1), MIX, 2, {"d"})
    assert (cut.ids, cut.values[:, 0, 0].tolist(), cut.shards) == (("a", "b", "d"), [9, 8, 6], (0, 0, 0))
    assert merge(replies, question(1), MIX, 9, {"d"}).ids == tuple("abcde")


def test_short_places_go_to_pinned_then_to_the_result_then_to_preferred() -> None:
    pool = merge({0: hits_of([(name, ((9 - n, 0),), 0) for n, name in enumerate("abcdef")], 1)}, question(1), MIX, ALL)
    claims = [pool.ids[row] for row in priority(pool, {"f"}, {"d"}, best=3)]
    assert claims == ["f", "a", "b", "d", "c", "e"]


def test_pinned_rows_take_places_from_the_end_and_rows_without_a_score_take_none() -> None:
    rows = [(name, ((strength, 0),), 0) for name, strength in (("a", 9), ("b", 7), ("c", 5), ("y", 0), ("z", 0))]
    pool = merge({0: hits_of(rows, 1)}, question(1), MIX, ALL)
    assert [pool.ids[row] for row in winners(pool, pool.scores, {"z"}, 3)] == ["a", "b", "z"]
    assert [pool.ids[row] for row in winners(pool, pool.scores, frozenset(), 9)] == ["a", "b", "c"]
    lifted = pool.scores + np.array([0, 0, 0, 1, 0])
    assert [pool.ids[row] for row in winners(pool, lifted, frozenset(), 9)] == ["a", "b", "c", "y"]


def test_equal_scores_are_ordered_by_id() -> None:
    assert best_first(["b", "c", "a"], np.array([1, 2, 1])) == [1, 2, 0]
