"""The exact scan: likenesses of rows by one integer dot product each, for the rows that are allowed and no other.

It knows integers only: no texts, ids or scopes, and no embedder. Both functions are compiled when this module is
imported (seconds once, then from Numba's cache) and release the GIL.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.messages import LIKENESS_SHIFT, MOST_LIKENESS

_VECTORS = types.Array(types.int8, 2, "C", readonly=True)
_QUERY = types.Array(types.int16, 1, "C", readonly=True)
_ROWS = types.Array(types.uint16, 1, "C", readonly=True)
_BOOL = types.Array(types.bool_, 1, "C", readonly=True)


@numba.njit(types.void(_VECTORS, _QUERY, _BOOL, _BOOL, types.int32[::1]), nogil=True, cache=True)
def _dots(
    vectors: npt.NDArray[np.int8],
    query: npt.NDArray[np.int16],
    mask: npt.NDArray[np.bool_],
    present: npt.NDArray[np.bool_],
    dots: npt.NDArray[np.int32],
) -> None:
    """Write the dot product of each row that is both masked and present.

    The plain loop becomes SIMD, and it stores nothing but 32 bits: were the product used in 64 bits here, as Numba
    adds it up, LLVM could not multiply and add pairs of 16 bits, which is more than twice as fast.
    """
    rows, dims = vectors.shape
    for row in range(rows):
        if not (mask[row] and present[row]):
            continue
        dot = np.int32(0)
        for place in range(dims):
            dot += np.int32(vectors[row, place]) * np.int32(query[place])
        dots[row] = dot


@numba.njit(types.int64(_VECTORS, _QUERY, types.int64, _BOOL, _BOOL, types.int32[::1]), nogil=True, cache=True)
def scan(  # noqa: PLR0917 -- Numba wants positions
    vectors: npt.NDArray[np.int8],
    query: npt.NDArray[np.int16],
    floor: int,
    mask: npt.NDArray[np.bool_],
    present: npt.NDArray[np.bool_],
    likenesses: npt.NDArray[np.int32],
) -> int:
    """Write the likeness of each row that is both masked and present; leave the others as they are.

    Args:
        vectors: int8[rows, dims].
        query: int16[dims]; no dot product may leave int32.
        floor: dot products up to this say nothing.
        mask: bool[rows].
        present: bool[rows].
        likenesses: int32[rows], written to.

    Returns:
        How many rows were written.
    """
    _dots(vectors, query, mask, present, likenesses)
    written = 0
    for row in range(len(vectors)):
        if mask[row] and present[row]:
            above = int(np.int64(likenesses[row])) - floor
            likenesses[row] = max(0, min(above >> LIKENESS_SHIFT, MOST_LIKENESS))
            written += 1
    return written
