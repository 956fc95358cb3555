"""The index score of rows from their static values: the one formula that shards, merge, proof and explanation share.

The kernels add the same numbers up posting by posting and vector by vector. Nothing here orders, cuts or knows an id.
"""

import numpy as np
import numpy.typing as npt

from shards.messages import ScoreMix


def static_values(values: npt.NDArray[np.uint8], mix: ScoreMix) -> npt.NDArray[np.int64]:
    """What each (row, term) is worth before its weight.

    Args:
        values: uint8[n_rows, n_terms, 2], impact and name channel; impact 0 where the row does not hold the term.
        mix: how the channels add up.

    Returns:
        int64[n_rows, n_terms], >= 0, and 0 where the row does not hold the term.
    """
    impact = values[:, :, 0].astype(np.int64)
    name = values[:, :, 1].astype(np.int64)
    return mix.impact * impact + mix.name * name + mix.presence * (impact > 0)


def index_scores(
    values: npt.NDArray[np.uint8],
    bonuses: npt.NDArray[np.int32],
    likenesses: npt.NDArray[np.int32],
    weights: npt.NDArray[np.int64],
    mix: ScoreMix,
) -> npt.NDArray[np.int64]:
    """int64[n_rows], the index score of each row: words under ``weights`` (int64[n_terms]), bonus, likeness.

    ``bonuses`` and ``likenesses`` are int32[n_rows]; without terms a row scores by these two alone.
    """
    n_rows, n_terms, _ = values.shape
    factors = np.array((mix.impact, mix.name), np.int64)
    channels = values.reshape(n_rows, 2 * n_terms) @ (weights[:, None] * factors).reshape(2 * n_terms)
    # As ``static_values`` times the weights, summed: products of integers add up to the same bits in any order.
    scores: npt.NDArray[np.int64] = channels + (values[:, :, 0] > 0) @ (mix.presence * weights) + bonuses
    if mix.similarity:
        scores += mix.similarity * likenesses.astype(np.int64)
    return scores
