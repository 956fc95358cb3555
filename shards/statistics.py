"""Statistics of terms over an authorized set: integers that add up over segments and shards.

Hidden records never enter. The weight is the idf of BM25 (Robertson & Zaragoza 2009, eq. 3.3, kept positive by the
1 inside the logarithm as Lucene does), in 1/128 nats.
"""

import math
from collections.abc import Sequence
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

WEIGHT_CEILING: Final = 2047
"""Largest weight of a term; with it 64 terms never overflow an int32 score (see ``ScoreMix``)."""

FULL_WEIGHT: Final = 256
"""The term weight of a term that counts in full."""

_I64 = types.Array(types.int64, 1, "C", readonly=True)


def frequency_weight(authorized: int, frequency: int, term_weight: int) -> int:
    """Integer weight of a term: rare terms weigh more, a term nobody may see weighs nothing.

    ``round(128 * ln(1 + (N - df + 0.5) / (df + 0.5)) * term_weight / 256)``, clipped to 1..2047.

    Args:
        authorized: N, records the principal may see.
        frequency: df, those of them that hold the term; at most N.
        term_weight: 1..256.
    """
    if frequency == 0:
        return 0
    rarity = math.log(1 + (authorized - frequency + 0.5) / (frequency + 0.5))
    return min(WEIGHT_CEILING, max(1, round(128 * rarity * term_weight / FULL_WEIGHT)))


@numba.njit(types.void(types.int64[::1], types.int64, _I64, _I64), nogil=True, cache=True)
def weigh(
    weights: npt.NDArray[np.int64],
    authorized: int,
    frequencies: npt.NDArray[np.int64],
    term_weights: npt.NDArray[np.int64],
) -> None:
    """Write ``frequency_weight`` of each term, by the same ``log`` of the C library: a test holds their bits together.

    All are int64[n_terms].
    """
    for position in range(len(frequencies)):
        frequency = frequencies[position]
        weights[position] = 0
        if frequency == 0:
            continue
        rarity = math.log(1 + (authorized - frequency + 0.5) / (frequency + 0.5))
        # rint goes to the even number in the middle, as Python's round does.
        weight = int(np.rint(128 * rarity * term_weights[position] / FULL_WEIGHT))
        weights[position] = min(WEIGHT_CEILING, max(1, weight))


def frequency_weights(
    authorized: int, frequencies: npt.NDArray[np.int64], term_weights: Sequence[int]
) -> npt.NDArray[np.int64]:
    """int64[n_terms]: ``frequency_weight`` of each term.

    Raises:
        ValueError: if there are not as many frequencies as term weights.
    """
    if len(frequencies) != len(term_weights):
        raise ValueError(f"frequencies: {len(frequencies)} are not allowed; expected {len(term_weights)}, one a term")
    weights = np.empty(len(frequencies), np.int64)
    weigh(weights, authorized, frequencies, np.array(term_weights, np.int64))
    return weights
