"""The exhaustive retrieval kernel: add up every posting of the query, then scan the authorized rows with a heap.

It is the reference that faster kernels are tested against. It knows integers only: no texts, ids or scopes.
All functions are compiled when this module is imported (seconds once, then from Numba's cache), release the GIL, and
return new arrays.
"""

from typing import Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.heap_kernel import sift_down, sift_up
from shards.lookup_kernel import list_of
from shards.messages import ScoreMix
from shards.postings import Postings

_ROW_BITS: Final = 16
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


_NO_SETS: Final = (np.zeros(0, np.int64), np.zeros((0, 0), np.uint64), np.zeros(1, np.int64))
"""What a channel has instead of ``_sets`` whose postings are all in lists."""


def _read(dtype: object, dimensions: int = 1) -> object:
    """A contiguous array that may be read-only, as those from files and from Ray are."""
    return types.Array(dtype, dimensions, "C", readonly=True)


_I64, _U32, _U16, _U8, _BOOL = map(_read, (types.int64, types.uint32, types.uint16, types.uint8, types.bool_))
_U64_2 = _read(types.uint64, 2)


@numba.njit(types.void(types.int32[::1], _U16, _U8, types.int32, types.int32), nogil=True, cache=True)
def _add_list(
    scores: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
    factor: int,
    constant: int,
) -> None:
    for p in range(len(rows)):
        scores[rows[p]] += factor * np.int32(values[p]) + constant


@numba.njit(types.void(types.int32[::1], _I64, _I64, _I64, _U32, _U16, _U8, _I64, _U64_2, _I64), nogil=True, cache=True)
def _accumulate(  # noqa: PLR0917 -- Numba wants positions
    scores: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    factors: npt.NDArray[np.int64],
    constants: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
) -> None:
    """Add ``factor * value + constant`` of each posting to the score of its row."""
    for position in range(len(terms)):
        term = terms[position]
        factor, constant = np.int32(factors[position]), np.int32(constants[position])
        if term < 0 or factor | constant == 0:
            continue
        rows, first = list_of(term, offsets, ordinals, dense, bits, starts)
        _add_list(scores, rows, values[first : first + len(rows)], factor, constant)


@numba.njit(types.int64[::1](types.int32[::1], _BOOL, types.int64), nogil=True, cache=True)
def _selected(scores: npt.NDArray[np.int32], mask: npt.NDArray[np.bool_], n: int) -> npt.NDArray[np.int64]:
    """Keys of the best ``n`` masked rows, descending, and last how many masked rows score above 0.

    A key is ``score << 16 | 65535 - row``: its order is the total order. Hidden rows end with score 0.
    """
    matched = 0
    for row in range(len(scores)):
        visible = scores[row] if mask[row] else np.int32(0)
        scores[row] = visible
        matched += 1 if visible > 0 else 0
    heap = np.empty(min(n, matched), np.int64)
    size = 0
    limit = np.int32(0)
    for row in range(len(scores)):
        # Rows come in ascending order, so a later row of the same score never displaces an earlier one.
        if scores[row] <= limit:
            continue
        key = (np.int64(scores[row]) << _ROW_BITS) | (_ROW_MASK - row)
        if size < len(heap):
            heap[size] = key
            sift_up(heap, size)
            size += 1
        else:
            heap[0] = key
            sift_down(heap, size)
        if size == len(heap):
            limit = np.int32(heap[0] >> _ROW_BITS)
    heap.sort()
    result = np.empty(size + 1, np.int64)
    result[:size] = heap[::-1]
    result[size] = matched
    return result


@numba.njit(types.int64[::1](_I64, _U32, _U16, _I64, _U64_2, _I64, _BOOL), nogil=True, cache=True)
def _frequencies(  # noqa: PLR0917 -- Numba wants positions
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
    mask: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    counts = np.zeros(len(terms), np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        count = 0
        for row in list_of(term, offsets, ordinals, dense, bits, starts)[0]:
            count += mask[row]
        counts[position] = count
    return counts


@numba.njit(types.uint8[:, ::1](_U16, _I64, _U32, _U16, _U8, _I64, _U64_2, _I64), nogil=True, cache=True)
def _channel(  # noqa: PLR0917 -- Numba wants positions
    rows: npt.NDArray[np.uint16],
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
    dense: npt.NDArray[np.int64],
    bits: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint8]:
    """The value of each term in each row, 0 where it has none."""
    found = np.zeros((len(rows), len(terms)), np.uint8)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        holders, first = list_of(term, offsets, ordinals, dense, bits, starts)
        for place in range(len(rows)):
            row = rows[place]
            # Invariant: holders below `low` are smaller than `row`, those from `high` on are not.
            low, high = 0, len(holders)
            while low < high:
                middle = (low + high) >> 1
                if holders[middle] < row:
                    low = middle + 1
                else:
                    high = middle
            if low < len(holders) and holders[low] == row:
                found[place, position] = values[first + low]
    return found


def frequencies(postings: Postings, terms: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """int64[n_terms]: authorized records that hold each dictionary row of ``terms``; 0 for row -1."""
    counts: npt.NDArray[np.int64] = _frequencies(terms, postings.offsets, postings.ordinals, *_sets(postings), mask)
    return counts


def _sets(
    postings: Postings,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """The dense terms as the kernels take them."""
    return postings.dense.rows, postings.dense.bits, postings.dense.starts


def added_up(
    postings: Postings,
    terms: npt.NDArray[np.int64],
    *,
    weights: npt.NDArray[np.int64],
    mix: ScoreMix,
    base: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]:
    """int32[rows]: what each row, hidden ones too, starts with and what its words add.

    Args:
        postings: of the segment.
        terms: int64[n_terms], dictionary rows of the query's terms, -1 where the segment does not hold one.
        weights: int64[n_terms], weight of each term, 0 leaves it out.
        mix: how the channels add up (``ScoreMix`` says why nothing overflows).
        base: int32[rows], mention bonus and similarity of each row.
    """
    scores = base.copy()
    _accumulate(
        scores,
        terms,
        weights * mix.impact,
        weights * mix.presence,
        postings.offsets,
        postings.ordinals,
        postings.impacts,
        *_sets(postings),
    )
    _accumulate(
        scores,
        terms,
        weights * mix.name,
        np.zeros(len(terms), np.int64),
        postings.name_offsets,
        postings.name_ordinals,
        postings.names,
        *_NO_SETS,
    )
    return scores


def top_rows(
    scores: npt.NDArray[np.int32], mask: npt.NDArray[np.bool_], n: int
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], int]:
    """The best ``n`` authorized rows of a segment by (score descending, row ascending).

    Args:
        scores: int32[rows] of ``added_up``; those of hidden rows are 0 afterwards.
        mask: bool[rows], the authorized rows.
        n: at least 1.

    Returns:
        rows uint16[m] and scores int32[m], m = min(n, matched), and matched: authorized rows with a score above 0.

    Raises:
        ValueError: if ``n`` is below 1.
    """
    if n < 1:
        raise ValueError(f"n: {n} is not allowed; expected at least 1")
    selected = _selected(scores, mask, n)
    keys, matched = selected[:-1], int(selected[-1])
    return (_ROW_MASK - (keys & _ROW_MASK)).astype(np.uint16), (keys >> _ROW_BITS).astype(np.int32), matched


def values_of(rows: npt.NDArray[np.uint16], postings: Postings, terms: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """uint8[rows, n_terms, 2]: impact and name channel of each term in each row, 0 where it does not occur."""
    impacts = _channel(rows, terms, postings.offsets, postings.ordinals, postings.impacts, *_sets(postings))
    names = _channel(rows, terms, postings.name_offsets, postings.name_ordinals, postings.names, *_NO_SETS)
    return np.stack((impacts, names), axis=2)
