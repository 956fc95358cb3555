"""The static values of chosen rows: which terms of a query each holds, and with what impact and name.

The same values as ``shards.kernel.values_of``, written where the answer wants them. It knows integers only. All are
compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import I64, LISTS, U16, Lists
from shards.lookup_kernel import look_up, look_up_term


@numba.njit(types.void(types.uint8[:, :, ::1], I64, U16, I64, LISTS), nogil=True, cache=True)
def fill(
    values: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    rows: npt.NDArray[np.uint16],
    terms: npt.NDArray[np.int64],
    lists: Lists,
) -> None:
    """Write impact and name channel of each term in each row of one segment.

    Args:
        values: uint8[n, n_terms, 2], written at ``places``; what a row does not hold is left as it is.
        places: int64[m], where in ``values`` each row stands.
        rows: uint16[m].
        terms: int64[n_terms], dictionary rows, -1 where the segment does not hold one.
        lists: of the segment.
    """
    found, named = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    holders, targets = np.empty(len(rows), np.uint16), np.empty(len(rows), np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        look_up_term(found, rows, term, lists)
        # Most rows hold few of the terms, and only those that do can have one in their name.
        held = 0
        for at in range(len(rows)):
            if found[at] >= 0:
                values[places[at], position, 0] = lists.impacts[found[at]]
                holders[held], targets[held] = rows[at], places[at]
                held += 1
        start, end = np.int64(lists.name_offsets[term]), np.int64(lists.name_offsets[term + 1])
        if held == 0 or start == end:
            continue
        look_up(named, holders[:held], lists.name_ordinals, start, end)
        for at in range(held):
            if named[at] >= 0:
                values[targets[at], position, 1] = lists.names[named[at]]
