"""Sets of rows as bits, 64 to a word, and the machine operations on them that Numba has no name for.

Row r is bit ``r % 64`` of word ``r // 64``. Nothing here knows what a row is. All are compiled when this module is
imported, or into the kernels that use them.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing import Signature
from numba.extending import intrinsic

WORD: Final = 64
"""Rows of a word."""

LIFTS: Final = 4
"""Sets of rows that one comparison lifts."""

_U64 = types.Array(types.uint64, 1, "C", readonly=True)

Bits = npt.NDArray[np.uint64]


def words_of(rows: int) -> int:
    """How many words hold the bits of this many rows."""
    return -(-rows // WORD)


def bits_of(mask: npt.NDArray[np.bool_]) -> Bits:
    """uint64[words_of(rows)]: the rows that ``mask`` (bool[rows]) admits; bits behind the last row are 0."""
    padded = np.zeros(WORD * words_of(len(mask)), np.bool_)
    padded[: len(mask)] = mask
    bits: Bits = np.packbits(padded, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)
    return bits


def mask_of(bits: Bits, rows: int) -> npt.NDArray[np.bool_]:
    """bool[rows]: the mask that ``bits_of`` made these of."""
    octets = bits.astype(np.dtype("<u8"), copy=False).view(np.uint8)
    return np.unpackbits(octets, count=rows, bitorder="little").view(np.bool_)


@intrinsic
def ones(_context: object, _word: object) -> object:
    """How many bits of a word are set."""
    return types.int64(types.uint64), lambda _, builder, __, arguments: builder.ctpop(arguments[0])


@intrinsic
def lowest(_context: object, _word: object) -> object:
    """The number of the lowest set bit of a word that is not 0."""
    zero_is_undefined = ir.Constant(ir.IntType(1), 1)
    return types.int64(types.uint64), lambda _, builder, __, arguments: builder.cttz(arguments[0], zero_is_undefined)


@intrinsic
def above(_context: object, _scores: object, _word: object, _limit: object) -> object:
    """``above(scores, w, limit)``: bits of the 64 scores from ``64 * w`` on that are larger than ``limit``.

    ``scores`` is int32[64 * words]. Said as one comparison of vectors, which every compiler back end splits into what
    its machine has; a loop over rows takes ten times as long.
    """

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: list[ir.Value]
    ) -> ir.Value:
        scores, word, limit = arguments
        values = _word_of_scores(builder, context.make_array(signature.args[0])(context, builder, scores).data, word)
        return builder.bitcast(builder.icmp_signed(">", values, _splat(builder, limit)), ir.IntType(WORD))

    return types.uint64(types.int32[::1], types.int64, types.int32), generate


@intrinsic
def lifted_above(
    _context: object, _scores: object, _word: object, _held: object, _lifts: object, _limit: object
) -> object:
    """``lifted_above(scores, w, held, lifts, limit)``: as ``above``, each score lifted by what its row is held by.

    A row whose bit is set in ``held[i]`` (uint64[LIFTS]) gets ``lifts[i]`` (int32[LIFTS]) more; nothing is written.
    """

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: list[ir.Value]
    ) -> ir.Value:
        scores, word, held, lifts, limit = arguments
        arrays = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip((signature.args[0], *signature.args[2:4]), (scores, held, lifts), strict=True)
        ]
        values = _word_of_scores(builder, arrays[0], word)
        nothing = ir.Constant(_VECTOR, [0] * WORD)
        for place in range(LIFTS):
            rows, lift = (
                builder.load(builder.gep(array, [ir.Constant(ir.IntType(64), place)])) for array in arrays[1:]
            )
            chosen = builder.bitcast(rows, ir.VectorType(ir.IntType(1), WORD))
            values = builder.add(values, builder.select(chosen, _splat(builder, lift), nothing))
        return builder.bitcast(builder.icmp_signed(">", values, _splat(builder, limit)), ir.IntType(WORD))

    signature = types.uint64(types.int32[::1], types.int64, types.uint64[::1], types.int32[::1], types.int32)
    return signature, generate


@intrinsic
def write_eight(_context: object, _rows: object, _at: object, _places: object, _held: object, _first: object) -> object:
    """``write_eight(rows, at, PLACES, held, first)``: the rows in one byte of a set into ``rows[at : at + 8]``.

    ``held`` is the byte, ``first`` the row of its lowest bit; behind as many rows as it has bits comes what means
    nothing. Said as one addition of vectors, as ``above``: bit by bit a full set takes five times as long.
    """

    def generate(
        context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: list[ir.Value]
    ) -> ir.Value:
        rows, at, places, held, first = arguments
        to, table = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip((signature.args[0], signature.args[2]), (rows, places), strict=True)
        )
        source = builder.gep(table, [builder.mul(held, ir.Constant(held.type, _BYTE))])
        bits = builder.load(builder.bitcast(source, ir.PointerType(ir.VectorType(ir.IntType(8), _BYTE))), align=1)
        wide = ir.VectorType(ir.IntType(16), _BYTE)
        written = builder.add(builder.zext(bits, wide), _splat(builder, builder.trunc(first, ir.IntType(16)), _BYTE))
        builder.store(written, builder.bitcast(builder.gep(to, [at]), ir.PointerType(wide)), align=2)
        return context.get_dummy_value()

    places = types.Array(types.uint8, 1, "C", readonly=True)
    return types.void(types.uint16[::1], types.int64, places, types.int64, types.int64), generate


_BYTE: Final = 8


def _places() -> npt.NDArray[np.uint8]:
    places = np.zeros((1 << _BYTE, _BYTE), np.uint8)
    for byte in range(1 << _BYTE):
        held = [place for place in range(_BYTE) if byte >> place & 1]
        places[byte, : len(held)] = held
    return places.reshape(-1)


PLACES: Final = _places()
"""uint8[2048]: for each byte of a set eight numbers, of its set bits first."""

_VECTOR: Final = ir.VectorType(ir.IntType(32), WORD)


def _word_of_scores(builder: ir.IRBuilder, data: ir.Value, word: ir.Value) -> ir.Value:
    first = builder.gep(data, [builder.mul(word, ir.Constant(word.type, WORD))])
    return builder.load(builder.bitcast(first, ir.PointerType(_VECTOR)), align=4)


def _splat(builder: ir.IRBuilder, value: ir.Value, lanes: int = WORD) -> ir.Value:
    undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    head = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(head, undefined, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))


@numba.njit(types.int64(_U64, types.int64), nogil=True, cache=True)
def contains(rows: Bits, row: int) -> int:
    """1 where ``row`` is in the set, which must have a word for it; else 0."""
    return int((rows[row // WORD] >> np.uint64(row % WORD)) & np.uint64(1))


@numba.njit(types.int64(_U64, _U64), nogil=True, cache=True)
def in_both(first: Bits, second: Bits) -> int:
    """How many rows are in both of two sets; words that only one of them has are empty."""
    count = 0
    for word in range(min(len(first), len(second))):
        count += ones(first[word] & second[word])
    return count
