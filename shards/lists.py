"""Lists: the arrays of one segment's postings under one name, as the kernels take them, and how Numba types arrays.

What stands in them is told in ``shards.postings.Postings`` and ``shards.dense_terms.DenseTerms``; nothing here reads
one.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types


def read(dtype: object, dimensions: int = 1) -> object:
    """A contiguous array that may be read-only, as those from files and from Ray are."""
    return types.Array(dtype, dimensions, "C", readonly=True)


I64, I32, U64, U32, U16, U8 = map(
    read, (types.int64, types.int32, types.uint64, types.uint32, types.uint16, types.uint8)
)
U64_2, U16_2 = read(types.uint64, 2), read(types.uint16, 2)


class Lists(NamedTuple):
    """The impacts of all terms, their names, and the sets of those that are dense."""

    offsets: npt.NDArray[np.uint32]
    ordinals: npt.NDArray[np.uint16]
    impacts: npt.NDArray[np.uint8]
    name_offsets: npt.NDArray[np.uint32]
    name_ordinals: npt.NDArray[np.uint16]
    names: npt.NDArray[np.uint8]
    dense: npt.NDArray[np.int64]
    bits: npt.NDArray[np.uint64]
    ranks: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.int64]
    most: npt.NDArray[np.uint8]

    def read_only(self) -> "Lists":
        """Views of the same arrays that Numba takes as ``LISTS``: a tuple of arrays has to have its very type."""
        return Lists(*[_read_only(array) for array in self])


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


LISTS = types.NamedTuple((U32, U16, U8, U32, U16, U8, I64, U64_2, U16_2, I64, U8), Lists)
"""The type of ``Lists`` for Numba."""
