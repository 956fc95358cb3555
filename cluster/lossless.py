"""The proof of the lossless cut: what a record below a shard's cut can score at most, in exact integers.

Pure functions over what shards reply; asking again where a proof fails is the task of ``cluster.retrieval``.

A shard cuts with the weights of its own authorized records, the answer is ordered by the summed ones. For a record
that shard left out, with static values v_t >= 0 of the terms it holds, and c >= 0 for what no weight changes, which is
its mention bonus and the mix's similarity times its vector's likeness::

    own    = sum over t of own_t * v_t + c    <= threshold              (what the shard says of its cut)
    summed = sum over t of summed_t * v_t + c
           <= r * own, r = max(1, max over t of summed_t / own_t)      (each summand grows by r at most)
           <= floor(r * threshold)                                     (summed is an integer)

Only terms that some authorized record of the shard holds count for r, and their own weight is at least 1. Where a
graph chose rows by their vectors (``ShardHits.approximate``), the shard has not looked at every record: its threshold
is no ceiling, and nothing is proved.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from shards.messages import ShardHits

NOTHING_LEFT_OUT: Final = -1
"""The bound of a shard that replied with every record that scores; below every score."""

UNBOUNDED: Final = 2**62
"""The bound where none can be computed; above every score."""


def left_out_bound(hits: ShardHits, summed: npt.NDArray[np.int64]) -> int:
    """The most that a record this shard left out can score under the summed weights (int64[n_terms]).

    Returns:
        ``NOTHING_LEFT_OUT`` (-1) if every scoring record is among the rows, ``UNBOUNDED`` if a graph chose rows or a
        held term had weight 0.
    """
    if hits.approximate:
        return UNBOUNDED
    if hits.threshold < 0:
        return NOTHING_LEFT_OUT
    bound = threshold = hits.threshold
    # A dozen terms: plain integers are quicker than arrays, and never overflow.
    for frequency, own, new in zip(hits.frequencies.tolist(), hits.weights.tolist(), summed.tolist(), strict=True):
        if frequency > 0:
            if not own:
                return UNBOUNDED
            if new > own:
                bound = max(bound, threshold * new // own)
    return bound


def same_order(hits: ShardHits, summed: npt.NDArray[np.int64]) -> bool:
    """Whether the shard already cut by the summed weights, so that its rows are its best ones in their final order."""
    held = hits.frequencies > 0
    return not hits.approximate and bool(np.array_equal(hits.weights[held], summed[held]))


def shard_is_settled(
    hits: ShardHits, asked: int, summed: npt.NDArray[np.int64], places: int, floor: int | None
) -> bool:
    """Whether no record that this shard left out can be among the best ``places`` of all shards.

    ``asked`` is the cut the shard was asked for. ``floor`` is the index score of the last of these places among all
    rows known, None while fewer rows are known.

    Either nothing was left out, or the shard's own best ``asked >= places`` rows are exact and all come before what it
    left out, or what it left out stays under the floor. Equal to the floor is not enough: the id might come first.
    """
    bound = left_out_bound(hits, summed)
    if bound == NOTHING_LEFT_OUT:
        return True
    if floor is not None and bound < floor:
        return True
    return asked >= places and same_order(hits, summed)


def ranking_is_settled(kth_score: int | None, best_left_out: int | None, ranker_bound: int) -> bool:
    """Whether no record that was not ranked can reach the last place of the result.

    ``kth_score`` is the ranker's score at that place, None if the result has room for more. ``best_left_out`` is the
    highest index score of a matching record that was not ranked, None if there is none. ``ranker_bound`` is the most
    that the ranker's score can exceed the index score. Equality is not enough: the id might come first.
    """
    if best_left_out is None:
        return True
    return kth_score is not None and kth_score > best_left_out + ranker_bound
