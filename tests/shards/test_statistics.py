"""Weights of terms from their frequencies, by hand and as properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.statistics import frequency_weight, frequency_weights
from tests.depth import examples


@pytest.mark.parametrize(
    ("authorized", "frequency", "term_weight", "weight"),
    [
        (0, 0, 256, 0),
        (1000, 0, 256, 0),  # nobody may see it: worth nothing, and no log of anything
        (1000, 10, 256, 583),  # 128 * ln(1 + 990.5 / 10.5) = 128 * 4.5573 = 583.3
        (1000, 10, 128, 292),  # half the term weight: 291.7
        (1000, 1, 256, 832),  # 128 * ln(1 + 999.5 / 1.5) = 128 * 6.5033 = 832.4
        (1, 1, 256, 37),  # 128 * ln(1 + 0.5 / 1.5) = 128 * 0.28768 = 36.8
        (1000, 1000, 256, 1),  # 128 * ln(1 + 0.5 / 1000.5) = 0.064, but what is there weighs at least 1
        (1000, 1000, 1, 1),
        (10**9, 1, 256, 2047),  # 128 * 20.3 = 2600, at the ceiling
    ],
)
def test_weight_of_a_frequency(authorized: int, frequency: int, term_weight: int, weight: int) -> None:
    assert frequency_weight(authorized, frequency, term_weight) == weight


def test_weights_of_several_terms_are_those_of_each() -> None:
    weights = frequency_weights(1000, np.array([10, 0, 1], np.int64), (256, 256, 256))
    assert weights.tolist() == [583, 0, 832]
    assert weights.dtype == np.int64


def test_a_rarer_term_never_weighs_less() -> None:
    weights = [frequency_weight(149_005, frequency, 256) for frequency in range(1, 149_006, 97)]
    assert weights == sorted(weights, reverse=True)


@examples(300)
@given(
    authorized=st.integers(1, 2_000_000),
    shares=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 256)), min_size=1, max_size=64),
)
def test_weights_have_the_bits_of_a_plain_loop(authorized: int, shares: list[tuple[float, int]]) -> None:
    frequencies = [int(share**4 * authorized) for share, _ in shares]
    term_weights = [weight for _, weight in shares]
    found = frequency_weights(authorized, np.array(frequencies, np.int64), term_weights)
    pairs = zip(frequencies, term_weights, strict=True)
    assert found.tolist() == [frequency_weight(authorized, frequency, weight) for frequency, weight in pairs]


def test_a_frequency_too_many_is_refused() -> None:
    with pytest.raises(ValueError, match="2 are not allowed; expected 1"):
        frequency_weights(9, np.array([1, 2], np.int64), (256,))
