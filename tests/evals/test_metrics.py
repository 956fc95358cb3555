"""Each metric against numbers worked out by hand."""

import math

import pytest

from evals.metrics import hit, mean, ndcg, percentile, recall

RANKED = ("a", "b", "c", "d", "e")


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [
        ({"a"}, 1, 1.0),
        ({"b"}, 1, 0.0),
        ({"b", "d"}, 2, 0.5),
        ({"b", "d", "z"}, 5, 2 / 3),
        ({"a", "b"}, 1, 0.5),  # two are wanted and one place is left: the best possible is a half
        ({"e"}, 50, 1.0),
        (set(), 5, 0.0),
    ],
)
def test_recall_is_the_share_of_relevant_ids_in_the_top_k(relevant: set[str], k: int, expected: float) -> None:
    assert recall(RANKED, relevant, k) == expected


def test_recall_of_an_empty_ranking_is_zero() -> None:
    assert recall((), {"a"}, 5) == 0.0


@pytest.mark.parametrize(
    ("wanted", "k", "expected"),
    [({"c", "z"}, 3, 1.0), ({"c"}, 2, 0.0), ({"a", "b"}, 1, 1.0), (set(), 5, 0.0)],
)
def test_hit_asks_for_any_wanted_id_in_the_top_k(wanted: set[str], k: int, expected: float) -> None:
    assert hit(RANKED, wanted, k) == expected


def test_ndcg_of_one_relevant_id_at_rank_two_is_its_discount() -> None:
    assert ndcg(RANKED, {"b"}, 10) == pytest.approx(1 / math.log2(3))  # 0.6309


def test_ndcg_of_two_relevant_ids_at_ranks_one_and_three_is_worked_by_hand() -> None:
    # DCG = 1 + 1/2 = 1.5; the ideal puts both first: 1 + 1/log2(3) = 1.63093
    assert ndcg(RANKED, {"a", "c"}, 10) == pytest.approx(1.5 / 1.6309297535714573)


def test_ndcg_normalises_by_what_k_places_can_hold() -> None:
    assert ndcg(RANKED, {"a", "b", "c", "d"}, 2) == pytest.approx(1.0)


def test_ndcg_without_relevant_ids_is_zero() -> None:
    assert ndcg(RANKED, set(), 10) == 0.0


def test_percentile_is_the_nearest_rank() -> None:
    values = [15.0, 20.0, 35.0, 40.0, 50.0]
    assert [percentile(values, share) for share in (0.05, 0.3, 0.4, 0.5, 1.0)] == [15.0, 20.0, 20.0, 35.0, 50.0]
    assert percentile([], 0.5) == 0.0


def test_mean_of_nothing_is_none_because_an_empty_class_has_no_rate() -> None:
    assert mean([]) is None
    assert mean([0.25, 0.75]) == 0.5
