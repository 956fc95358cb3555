"""Document frequencies over authorized rows: lists are walked or searched, dense terms are counted by their sets.

The same counts as ``shards.kernel.frequencies``. All are compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import Bits, contains, in_both
from shards.dense_terms import place_of
from shards.lookup_kernel import LOOKUP, look_up, rows_of
from shards.postings import Postings


def _read(dtype: object, dimensions: int = 1) -> object:
    return types.Array(dtype, dimensions, "C", readonly=True)


@numba.njit(
    types.void(
        types.int64[::1], _read(types.int64), _read(types.uint32), _read(types.uint16), _read(types.int64),
        _read(types.uint64, 2), _read(types.int64),
        _read(types.uint64), types.int64, types.int64,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def _count(  # noqa: PLR0917 -- Numba wants positions
    counts: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
    allowed: Bits,
    authorized: int,
    held: int,
) -> None:
    few = authorized if LOOKUP * authorized < held else 0
    rows = rows_of(allowed, few) if few else np.empty(0, np.uint16)
    found = np.empty(few, np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        start, end = np.int64(offsets[term]), np.int64(offsets[term + 1])
        if start == end:
            place = place_of(dense, term)
            if authorized == held:
                counts[position] += starts[place + 1] - starts[place]
            else:
                counts[position] += in_both(bits[place], allowed)
            continue
        if authorized == held:
            counts[position] += end - start
            continue
        if LOOKUP * authorized < end - start:
            look_up(found, rows, ordinals, start, end)
            counts[position] += (found >= 0).sum()
            continue
        count = 0
        for row in ordinals[start:end]:
            count += contains(allowed, row)
        counts[position] += count


def add_frequencies(  # noqa: PLR0917 -- as the kernel
    counts: npt.NDArray[np.int64],
    postings: Postings,
    terms: npt.NDArray[np.int64],
    allowed: Bits,
    authorized: int,
    rows: int,
) -> None:
    """Add to ``counts`` (int64[n_terms]) how many authorized records hold each term of one segment.

    Args:
        counts: written.
        postings: of the segment.
        terms: int64[n_terms], dictionary rows, -1 where the segment does not hold one.
        allowed: the authorized rows.
        authorized: how many they are.
        rows: of the segment.
    """
    dense = postings.dense
    _count(
        counts, terms, postings.offsets, postings.ordinals,
        dense.rows, dense.bits, dense.starts, allowed, authorized, rows,
    )  # fmt: skip
