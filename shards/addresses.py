"""Addresses: arrays as numbers, so that one call of a kernel can take those of any number of segments.

Handing an array to Numba costs 0.1 µs, and a search reads thirty of each segment. A row of addresses is made once per
segment. Whoever hands one over keeps its arrays alive until the call is over; nothing here does.
"""

from collections.abc import Sequence
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic

from shards.lists import I32, I64, LISTS, U8, U16, U16_2, U32, U64, U64_2, Lists

Row = npt.NDArray[np.int64]


def addresses_of(arrays: Sequence[npt.NDArray[Any]]) -> list[int]:
    """Of each array its address, then the lengths of its dimensions.

    Raises:
        ValueError: if one is not in C order without gaps, which no kernel could read.
    """
    if not all(array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative for array in arrays):
        raise ValueError("arrays: only contiguous ones of this machine's byte order have an address that says all")
    return [number for array in arrays for number in (array.ctypes.data, *array.shape)]


def _array_at(kind: types.Array) -> Any:  # noqa: ANN401 -- Numba's intrinsics are untyped
    """``(row, at)`` -> the array of this type whose address and lengths stand in ``row`` from ``at`` on."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: list[ir.Value]
    ) -> ir.Value:
        row, at = arguments
        numbers = context.make_array(signature.args[0])(context, builder, row).data
        address, *shape = (
            builder.load(builder.gep(numbers, [builder.add(at, ir.Constant(at.type, place))]))
            for place in range(1 + kind.ndim)
        )
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        strides = [ir.Constant(at.type, size)]
        if kind.ndim > 1:
            strides.insert(0, builder.mul(shape[-1], strides[0]))
        array = context.make_array(kind)(context, builder)
        context.populate_array(
            array,
            data=builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer()),
            shape=shape,
            strides=strides,
            itemsize=ir.Constant(at.type, size),
            meminfo=None,
        )
        return array._getvalue()  # noqa: SLF001 -- the way Numba's own intrinsics hand a struct over

    @intrinsic
    def array_at(_context: object, _row: object, _at: object) -> object:
        return kind(I64, types.int64), generate

    return array_at


u8_at, u16_at, u32_at, i32_at, i64_at, u64_at = map(_array_at, (U8, U16, U32, I32, I64, U64))
u64_2_at, u16_2_at = _array_at(U64_2), _array_at(U16_2)


@numba.njit(LISTS(I64, types.int64), nogil=True, cache=True)
def lists_at(row: Row, at: int) -> Lists:
    """The ``Lists`` whose ``addresses_of`` stand in ``row`` from ``at`` on."""
    return Lists(
        u32_at(row, at), u16_at(row, at + 2), u8_at(row, at + 4),
        u32_at(row, at + 6), u16_at(row, at + 8), u8_at(row, at + 10),
        i64_at(row, at + 12), u64_2_at(row, at + 14), u16_2_at(row, at + 17), i64_at(row, at + 20),
        u8_at(row, at + 22),
    )  # fmt: skip


LISTS_LENGTH: Final = 24
"""Numbers in a row that ``Lists`` take."""
