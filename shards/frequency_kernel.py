"""Document frequencies over authorized rows: lists are walked or searched, dense terms are counted by their sets.

The same counts as ``shards.kernel.frequencies``. All are compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import Bits, contains, in_both
from shards.dense_terms import place_of
from shards.lists import I64, LISTS, U64, Lists
from shards.lookup_kernel import LOOKUP, look_up, rows_of


@numba.njit(types.void(types.int64[::1], I64, LISTS, U64, types.int64, types.int64), nogil=True, cache=True)
def count(  # noqa: PLR0917 -- Numba wants positions
    counts: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    lists: Lists,
    allowed: Bits,
    authorized: int,
    held: int,
) -> None:
    """Add to ``counts`` (int64[n_terms]) how many authorized records hold each term of one segment.

    Args:
        counts: written.
        terms: int64[n_terms], dictionary rows, -1 where the segment does not hold one.
        lists: of the segment.
        allowed: the authorized rows.
        authorized: how many they are.
        held: rows of the segment.
    """
    few = authorized if LOOKUP * authorized < held else 0
    rows = rows_of(allowed, few) if few else np.empty(0, np.uint16)
    found = np.empty(few, np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        start, end = np.int64(lists.offsets[term]), np.int64(lists.offsets[term + 1])
        if start == end:
            place = place_of(lists.dense, term)
            if authorized == held:
                counts[position] += lists.starts[place + 1] - lists.starts[place]
            else:
                counts[position] += in_both(lists.bits[place], allowed)
            continue
        if authorized == held:
            counts[position] += end - start
            continue
        if LOOKUP * authorized < end - start:
            look_up(found, rows, lists.ordinals, start, end)
            counts[position] += (found >= 0).sum()
            continue
        many = 0
        for row in lists.ordinals[start:end]:
            many += contains(allowed, row)
        counts[position] += many
