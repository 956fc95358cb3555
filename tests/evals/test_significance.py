"""The paired tests against numbers worked out by hand, and the shortcuts against the long way."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.data import Question
from evals.run import Found, Outcome, Run
from evals.significance import EXACT_LIMIT, bootstrap_interval, compare, difference, sign_flip_p
from tests.depth import examples


def test_a_sign_test_of_three_wins_and_one_loss_is_worked_by_hand() -> None:
    # Differences +1 +1 +1 -1 and a tie. Of the 16 ways to flip four signs, the sum is at least 2 away from 0 unless two
    # are up and two are down: 6 ways. So p = 10 / 16.
    one = difference([1, 1, 1, -1, 0])
    assert one["p"] == pytest.approx(0.625)
    assert one["exact"]
    assert (one["mean"], one["better"], one["equal"], one["worse"]) == (pytest.approx(0.4), 3, 1, 1)


def test_a_permutation_test_of_unequal_differences_is_worked_by_hand() -> None:
    # +1 and +1/2: the four sums are 1.5, 0.5, -0.5 and -1.5, of which two are as far from 0 as 1.5. p = 2 / 4.
    assert sign_flip_p([1.0, 0.5]) == (pytest.approx(0.5), True)
    # +1 and -1/2: all four sums are at least 0.5 from 0.
    assert sign_flip_p([1.0, -0.5]) == (pytest.approx(1.0), True)


def test_no_difference_at_all_is_no_evidence_at_all() -> None:
    one = difference([0.0] * 8)
    assert (one["p"], one["low"], one["high"], one["equal"]) == (1.0, 0.0, 0.0, 8)


def test_an_interval_of_one_value_is_that_value_and_ten_wins_of_ten_are_sure() -> None:
    one = difference([0.25] * 10)
    assert (one["low"], one["high"]) == (0.25, 0.25)
    assert one["p"] == pytest.approx(2 / 2**10)


@examples(50)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0, 1 / 3]), min_size=1, max_size=9))
def test_counting_flips_by_size_equals_flipping_every_sign(values: list[float]) -> None:
    observed = abs(sum(values))
    flips = [
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= observed - 1e-9
        for signs in itertools.product((1, -1), repeat=len(values))
    ]
    assert sign_flip_p(values) == (pytest.approx(sum(flips) / len(flips)), True)


def test_where_there_are_too_many_flips_to_count_they_are_drawn_by_a_seed_and_p_is_never_0() -> None:
    values = [1 + number / 1000 for number in range(40)]
    assert EXACT_LIMIT < 2**40
    p, exact = sign_flip_p(values)
    assert not exact
    assert 0 < p < 0.001
    assert sign_flip_p(values) == (p, exact)


def test_the_bootstrap_is_seeded_and_agrees_with_resampling_one_by_one() -> None:
    values = [1.0] * 12 + [0.5] * 5 + [0.0] * 60 + [-1.0] * 3
    rng = np.random.default_rng(1)
    means = [float(np.mean(rng.choice(values, len(values)))) for _ in range(4000)]
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    assert low == pytest.approx(float(np.percentile(means, 2.5)), abs=0.02)
    assert high == pytest.approx(float(np.percentile(means, 97.5)), abs=0.02)


def outcome(ranked: tuple[str, ...], relevant: set[str], acceptable: set[str]) -> Outcome:
    asked = Question(id="q", text="q", relevant=frozenset(relevant), acceptable=frozenset(acceptable), lang="en")
    found = Found(ranked=ranked, scores=(), candidates=ranked, miss=None, exact=None, elapsed_ms=1.0)
    return Outcome(question=asked, found=found, parity=None)


def run_of(*answers: tuple[str, ...]) -> Run:
    asked: list[tuple[set[str], set[str]]] = [({"a"}, {"b"}), ({"a"}, set()), (set(), set())]
    outcomes = tuple(outcome(ranked, *wanted) for ranked, wanted in zip(answers, asked, strict=True))
    return Run(system="s", identity={}, k=5, tools=3, joined=0, unknown_labels=0, outcomes=outcomes)


def test_runs_are_compared_question_by_question_on_recall_hit_and_ndcg_without_unanswerable_ones() -> None:
    found = compare(run_of(("b", "a"), ("a",), ("x",)), run_of(("b",), ("b", "a"), ()))
    assert list(found) == ["recall@5", "hit@5", "ndcg@10"]
    assert found["recall@5"]["mean"] == 0.5  # the first question only
    assert (found["hit@5"]["mean"], found["hit@5"]["equal"]) == (0.0, 2)  # "b" is acceptable
    # NDCG: 1/log2(3) - 0, and 1 - 1/log2(3); half of their sum is a half.
    assert found["ndcg@10"]["mean"] == pytest.approx(0.5)
    assert (found["ndcg@10"]["better"], found["ndcg@10"]["worse"]) == (2, 0)
    assert math.isclose(found["ndcg@10"]["p"], 0.5)


def test_without_an_answerable_question_there_is_nothing_to_compare() -> None:
    assert compare(run_nothing(), run_nothing()) == {}


def run_nothing() -> Run:
    return Run(system="s", identity={}, k=5, tools=0, joined=0, unknown_labels=0, outcomes=(outcome((), set(), set()),))
