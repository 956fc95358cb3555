"""The pruned retrieval kernel: the best rows of a segment without walking the lists of its dense terms.

It gives what ``shards.kernel`` gives, to the bit, and knows integers only, too. After Turtle and Flood, "Query
evaluation: strategies and optimizations" (1995), with sets of rows for the lists it leaves out:

1. All lists but the impacts of dense terms are added up row by row.
2. The n-th best of these partial scores, ``limit``, is a score that a row of the answer must reach.
3. A dense term adds at most its weight times its largest impact. While all of them together could lift a row from
   nothing to ``limit``, the one that adds most is added up, too, and ``limit`` rises.
4. A row is left where its partial score and the bounds of the dense terms it holds, as their sets tell, reach
   ``limit``. Of some 150 such rows the impacts are looked up, and the best of them are the answer.

How many rows score above 0 is what the sets and the partial scores hold together. Arithmetic is on int32 as in the
exhaustive kernel (``ScoreMix`` says why nothing overflows); bounds are int64.
"""

from threading import local
from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import WORD, Bits
from shards.few_rows import top_of_few
from shards.heap_kernel import ROW_MASK, best_of
from shards.lists import I32, I64, LISTS, U64, Lists
from shards.lookup_kernel import LOOKUP, rows_of
from shards.messages import ScoreMix
from shards.postings import Postings
from shards.pruned_steps import (
    SCORES,
    add_partial,
    add_shared,
    complete,
    contenders,
    holders_of,
    ordered,
    places_of,
    reached,
    walked,
)

WORD_COST: Final = 16
"""What the passes over 64 rows cost beside the lists, in postings walked."""


@numba.njit(
    types.UniTuple(types.int64, 2)(
        types.uint16[::1], types.int32[::1], SCORES, types.uint16[::1], I32, I64, I64,
        types.int64, types.int64, types.int64, U64, types.int64, LISTS, types.int64,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def top_of_segment(  # noqa: PLR0917 -- Numba wants positions
    best: npt.NDArray[np.uint16],
    found: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    base: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    impact: int,
    name: int,
    presence: int,
    allowed: Bits,
    authorized: int,
    lists: Lists,
    floor: int,
) -> tuple[int, int]:
    """Put the best rows into ``best`` and their scores into ``found``; how many, and how many score above 0.

    ``scores`` and ``rows`` are room for those of a segment; the rest is as in ``top_rows``.
    """
    places = places_of(terms, lists)
    walking = walked(terms, weights, lists) + len(allowed) * WORD_COST
    if LOOKUP * authorized * len(terms) < walking:
        count, matched = top_of_few(
            best, found, rows_of(allowed, authorized), base, terms, weights, impact, name, presence, lists, floor
        )
        return count, matched
    scores = scores[: WORD * len(allowed)]
    scores[: len(base)] = base
    scores[len(base) :] = 0
    add_partial(scores, terms, weights, impact, name, presence, lists)
    bits, ranks, impacts, starts = lists.bits, lists.ranks, lists.impacts, lists.starts
    order, bounds = np.empty(len(terms), np.int64), np.empty(len(terms), np.int64)
    left = ordered(order, bounds, places, weights, impact, presence, lists.most)
    order, bounds = order[:left], bounds[:left]
    holders = holders_of(allowed, bits, places[order])
    # Steps 2 and 3: no row reaches `limit` by the dense terms that are left, `rest` together, alone.
    heap = np.empty(len(best), np.int64)
    limit = reached(scores, allowed, heap, max(floor, 1))
    rest, added = bounds.sum(), 0
    while rest >= limit:
        position = order[added]
        place = places[position]
        values = impacts[starts[place] : starts[place + 1]]
        factor, constant = weights[position] * impact, weights[position] * presence
        add_shared(scores, bits[place], allowed, values, factor, constant)
        rest -= bounds[added]
        added += 1
        if rest < limit:
            limit = reached(scores, allowed, heap, limit)
    # Step 4: the rows that can reach it, in full.
    count, matched = contenders(rows, scores, allowed, holders, bits, places[order[added:]], bounds[added:], limit)
    for position in order[added:]:
        place = places[position]
        factor, constant = weights[position] * impact, weights[position] * presence
        complete(scores, rows[:count], impacts, starts[place], factor, constant, bits, ranks, place)
    return best_of(best, found, rows[:count], scores[rows[:count]], limit), matched


class Scratch(local):
    """Room for one segment's scores and rows; each thread has its own, because a kernel holds no lock."""

    def __init__(self) -> None:
        self.scores = np.empty(ROW_MASK + 1, np.int32)
        self.rows = np.empty(ROW_MASK + 1, np.uint16)


SCRATCH: Final = Scratch()


def top_rows(
    postings: Postings,
    terms: npt.NDArray[np.int64],
    *,
    weights: npt.NDArray[np.int64],
    mix: ScoreMix,
    base: npt.NDArray[np.int32],
    allowed: Bits,
    count: int,
    n: int,
    floor: int,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], int]:
    """The best ``n`` authorized rows of a segment by (score descending, row ascending).

    Args:
        postings: of the segment.
        terms: int64[n_terms], distinct dictionary rows, -1 where the segment does not hold one.
        weights: int64[n_terms], weight of each term, 0 leaves it out.
        mix: how the channels add up.
        base: int32[rows], what each row starts with, at least 0; or int32[0] for nothing.
        allowed: the authorized rows.
        count: how many they are.
        n: at least 1.
        floor: rows that score less are of no interest and may be missing; 0 for all.

    Returns:
        rows uint16[m] and scores int32[m], m = min(n, rows that score at least ``floor`` and 1), and matched:
        authorized rows with a score above 0.
    """
    # Given to the kernel, because an array that a kernel returns costs more than one it gets.
    # Whoever wants everything asks for more rows than a segment has.
    most = max(1, min(n, count))
    best, scores = np.empty(most, np.uint16), np.empty(most, np.int32)
    found, matched = top_of_segment(
        best, scores, SCRATCH.scores, SCRATCH.rows, base, terms, weights, mix.impact, mix.name, mix.presence,
        allowed, count, postings.lists, floor,
    )  # fmt: skip
    return best[:found], scores[:found], matched
