"""The merge of the best rows of several segments, as far as it needs no ids.

It knows integers only. Compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

_I32 = types.Array(types.int32, 1, "C", readonly=True)
_I64 = types.Array(types.int64, 1, "C", readonly=True)
_U16 = types.Array(types.uint16, 1, "C", readonly=True)


@numba.njit(
    types.int64(types.int64[::1], types.uint16[::1], types.int32[::1], _I32, _U16, _I64), nogil=True, cache=True
)
def merged(  # noqa: PLR0917 -- Numba wants positions
    owners: npt.NDArray[np.int64],
    best: npt.NDArray[np.uint16],
    found: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    ends: npt.NDArray[np.int64],
) -> int:
    """Put segment, row and score of the best of all, the best first, into the first three; how many.

    It fills them all, unless ids must decide who comes next.

    Args:
        owners: int64[n], room for the segments.
        best: uint16[n], room for the rows.
        found: int32[n], room for the scores.
        scores: int32[m], those of one segment after the other, descending in each; m is at least n.
        rows: uint16[m], their rows.
        ends: int64[segments], where each segment's scores end.
    """
    heads = np.zeros(len(ends), np.int64)
    heads[1:] = ends[:-1]
    for place in range(len(best)):
        chosen, shared = -1, False
        for segment in range(len(ends)):
            head = heads[segment]
            if head == ends[segment]:
                continue
            if chosen < 0 or scores[head] > scores[heads[chosen]]:
                chosen, shared = segment, False
            elif scores[head] == scores[heads[chosen]]:
                shared = True
        if shared:
            return place
        owners[place], best[place], found[place] = chosen, rows[heads[chosen]], scores[heads[chosen]]
        heads[chosen] += 1
    return len(best)
