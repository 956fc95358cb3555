"""The retrieval kernel for few authorized rows: each is looked up in each list, no list is walked.

It gives what ``shards.kernel`` gives, to the bit, and knows integers only, too. Compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.heap_kernel import best_of
from shards.lists import I32, I64, LISTS, U8, U16, Lists
from shards.lookup_kernel import look_up, look_up_term


@numba.njit(types.void(types.int32[::1], types.int64[::1], U8, types.int64, types.int64), nogil=True, cache=True)
def _add_found(
    scores: npt.NDArray[np.int32],
    found: npt.NDArray[np.int64],
    values: npt.NDArray[np.uint8],
    factor: int,
    constant: int,
) -> None:
    times, plus = np.int32(factor), np.int32(constant)
    for place in range(len(found)):
        if found[place] >= 0:
            scores[place] += times * np.int32(values[found[place]]) + plus


@numba.njit(
    types.UniTuple(types.int64, 2)(
        types.uint16[::1], types.int32[::1], U16, I32, I64, I64,
        types.int64, types.int64, types.int64, LISTS, types.int64,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def top_of_few(  # noqa: PLR0917 -- Numba wants positions
    best: npt.NDArray[np.uint16],
    kept: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    base: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    impact: int,
    name: int,
    presence: int,
    lists: Lists,
    floor: int,
) -> tuple[int, int]:
    """Put the best of the authorized ``rows``, ascending, into ``best``; how many, and how many score above 0."""
    scores = np.zeros(len(rows), np.int32)
    if len(base):
        for place in range(len(rows)):
            scores[place] = base[rows[place]]
    found = np.empty(len(rows), np.int64)
    for position in range(len(terms)):
        term, weight = terms[position], weights[position]
        if term < 0 or weight == 0:
            continue
        look_up_term(found, rows, term, lists)
        _add_found(scores, found, lists.impacts, weight * impact, weight * presence)
        start, end = np.int64(lists.name_offsets[term]), np.int64(lists.name_offsets[term + 1])
        look_up(found, rows, lists.name_ordinals, start, end)
        _add_found(scores, found, lists.names, weight * name, 0)
    count = best_of(best, kept, rows, scores, max(floor, 1))
    return count, (scores > 0).sum()
