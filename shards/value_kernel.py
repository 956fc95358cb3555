"""The static values of chosen rows: which terms of a query each holds, and with what impact and name.

The same values as ``shards.kernel.values_of``, written where the answer wants them. It knows integers only. All are
compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lookup_kernel import look_up, look_up_term
from shards.postings import Postings


def _read(dtype: object, dimensions: int = 1) -> object:
    return types.Array(dtype, dimensions, "C", readonly=True)


@numba.njit(
    types.void(
        types.uint8[:, :, ::1], _read(types.int64), _read(types.uint16), _read(types.int64),
        _read(types.uint32), _read(types.uint16), _read(types.uint8),
        _read(types.uint32), _read(types.uint16), _read(types.uint8),
        _read(types.int64), _read(types.uint64, 2), _read(types.uint16, 2), _read(types.int64),
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def _fill(  # noqa: PLR0917 -- Numba wants positions
    values: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    rows: npt.NDArray[np.uint16],
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    impacts: npt.NDArray[np.uint8],
    name_offsets: npt.NDArray[np.uint32],
    name_ordinals: npt.NDArray[np.uint16],
    names: npt.NDArray[np.uint8],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    ranks: npt.NDArray[np.uint16],
    starts: npt.NDArray[np.int64],
) -> None:
    found, named = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        look_up_term(found, rows, term, offsets, ordinals, dense, bits, ranks, starts)
        look_up(named, rows, name_ordinals, np.int64(name_offsets[term]), np.int64(name_offsets[term + 1]))
        for at in range(len(rows)):
            if found[at] >= 0:
                values[places[at], position, 0] = impacts[found[at]]
            if named[at] >= 0:
                values[places[at], position, 1] = names[named[at]]


def fill_values(
    values: npt.NDArray[np.uint8],
    places: npt.NDArray[np.int64],
    rows: npt.NDArray[np.uint16],
    postings: Postings,
    terms: npt.NDArray[np.int64],
) -> None:
    """Write impact and name channel of each term in each row of one segment.

    Args:
        values: uint8[n, n_terms, 2], written at ``places``; what a row does not hold is left as it is.
        places: int64[m], where in ``values`` each row stands.
        rows: uint16[m].
        postings: of the segment.
        terms: int64[n_terms], dictionary rows, -1 where the segment does not hold one.
    """
    dense = postings.dense
    _fill(
        values, places, rows, terms,
        postings.offsets, postings.ordinals, postings.impacts,
        postings.name_offsets, postings.name_ordinals, postings.names,
        dense.rows, dense.bits, dense.ranks, dense.starts,
    )  # fmt: skip
