"""The index score from static values: worked numbers, the empty cases, and the largest ones."""

import numpy as np

from shards.messages import MOST_LIKENESS, ScoreMix
from shards.scoring import index_scores, static_values

MIX = ScoreMix(impact=2, name=1, presence=3)


def test_a_term_is_worth_its_channels_and_its_presence_and_an_absent_one_nothing() -> None:
    values = np.array([[[10, 4], [0, 0]], [[1, 0], [7, 200]]], np.uint8)
    assert static_values(values, MIX).tolist() == [[2 * 10 + 4 + 3, 0], [2 + 3, 2 * 7 + 200 + 3]]
    scores = index_scores(values, np.array([0, 50], np.int32), np.zeros(2, np.int32), np.array([100, 2]), MIX)
    assert scores.tolist() == [2_700, 500 + 434 + 50]


def test_scores_are_bonuses_and_likenesses_alone_without_terms_and_empty_without_rows() -> None:
    none, alike = np.zeros(0, np.int32), np.array([0, 7], np.int32)
    mix = ScoreMix(impact=2, name=1, presence=3, similarity=10)
    without_terms = np.zeros((2, 0, 2), np.uint8)
    assert index_scores(without_terms, np.array([3, 4], np.int32), alike, np.zeros(0, np.int64), mix).tolist() == [
        3,
        74,
    ]
    assert index_scores(np.zeros((0, 1, 2), np.uint8), none, none, np.ones(1, np.int64), mix).shape == (0,)


def test_the_largest_values_do_not_overflow() -> None:
    values = np.full((1, 64, 2), 255, np.uint8)
    mix = ScoreMix(impact=15, name=15, presence=3825, similarity=65_535)
    bonuses, likenesses = np.array([500_000_000], np.int32), np.array([MOST_LIKENESS], np.int32)
    scores = index_scores(values, bonuses, likenesses, np.full(64, 2047, np.int64), mix)
    assert scores.tolist() == [64 * 2047 * (15 * 255 * 2 + 3825) + 500_000_000 + 65_535 * 2047]
    assert scores[0] < 2**31
