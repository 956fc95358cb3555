"""The one loop over the hashes of a query's mentions: whether a segment holds any of them, in a few microseconds.

It knows integers only. Compiled when this module is imported, releases the GIL.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

_U64 = types.Array(types.uint64, 1, "C", readonly=True)
_I64 = types.int64


@numba.njit(types.int64(_U64, types.uint64), nogil=True, cache=True)
def _first_at_least(table: npt.NDArray[np.uint64], digest: int) -> int:
    """The first position of an ascending table that is not below ``digest``."""
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) >> 1
        if table[middle] < digest:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(types.bool_(_U64, _U64, _I64, _I64), nogil=True, cache=True)
def _holds(table: npt.NDArray[np.uint64], asked: npt.NDArray[np.uint64], start: int, end: int) -> bool:
    for place in range(start, end):
        row = _first_at_least(table, asked[place])
        if row < len(table) and table[row] == asked[place]:
            return True
    return False


@numba.njit(types.bool_(_U64, _U64, _U64, _U64, _I64, _I64), nogil=True, cache=True)
def any_held(  # noqa: PLR0917 -- Numba wants positions
    names: npt.NDArray[np.uint64],
    capabilities: npt.NDArray[np.uint64],
    domains: npt.NDArray[np.uint64],
    asked: npt.NDArray[np.uint64],
    first: int,
    second: int,
) -> bool:
    """Whether a hash is in the ascending table of its field: ``asked[:first]`` in names, and so on."""
    found: bool = _holds(names, asked, 0, first) or _holds(capabilities, asked, first, second)
    return found or _holds(domains, asked, second, len(asked))
