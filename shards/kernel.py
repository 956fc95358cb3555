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

from shards.messages import ScoreMix
from shards.postings import Postings

_ROW_BITS: Final = 16
_ROW_MASK: Final = (1 << _ROW_BITS) - 1


def _read(dtype: object) -> object:
    """A one-dimensional contiguous array that may be read-only, as those from files and from Ray are."""
    return types.Array(dtype, 1, "C", readonly=True)


_I64, _U32, _U16, _U8, _BOOL = map(_read, (types.int64, types.uint32, types.uint16, types.uint8, types.bool_))


@numba.njit(types.void(types.int64[::1], types.int64), nogil=True, cache=True)
def _sift_down(heap: npt.NDArray[np.int64], size: int) -> None:
    """Restore the min-heap order of ``heap[:size]`` after its root was replaced."""
    position = 0
    key = heap[0]
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[position] = heap[child]
        position = child
    heap[position] = key


@numba.njit(types.void(types.int64[::1], types.int64), nogil=True, cache=True)
def _sift_up(heap: npt.NDArray[np.int64], position: int) -> None:
    """Restore the min-heap order after a key was appended at ``position``."""
    key = heap[position]
    while position > 0 and heap[(position - 1) >> 1] > key:
        heap[position] = heap[(position - 1) >> 1]
        position = (position - 1) >> 1
    heap[position] = key


@numba.njit(types.void(types.int32[::1], _I64, _I64, _I64, _U32, _U16, _U8), nogil=True, cache=True)
def _accumulate(  # noqa: PLR0917 -- Numba wants positions
    scores: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    factors: npt.NDArray[np.int64],
    constants: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
) -> None:
    """Add ``factor * value + constant`` of each posting to the score of its row."""
    for position in range(len(terms)):
        term = terms[position]
        factor, constant = np.int32(factors[position]), np.int32(constants[position])
        if term < 0 or factor | constant == 0:
            continue
        for p in range(offsets[term], offsets[term + 1]):
            scores[ordinals[p]] += factor * np.int32(values[p]) + constant


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
            _sift_up(heap, size)
            size += 1
        else:
            heap[0] = key
            _sift_down(heap, size)
        if size == len(heap):
            limit = np.int32(heap[0] >> _ROW_BITS)
    heap.sort()
    result = np.empty(size + 1, np.int64)
    result[:size] = heap[::-1]
    result[size] = matched
    return result


@numba.njit(types.int64[::1](_I64, _U32, _U16, _BOOL), nogil=True, cache=True)
def _frequencies(
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    mask: npt.NDArray[np.bool_],
) -> npt.NDArray[np.int64]:
    counts = np.zeros(len(terms), np.int64)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        count = 0
        for p in range(offsets[term], offsets[term + 1]):
            count += mask[ordinals[p]]
        counts[position] = count
    return counts


@numba.njit(types.uint8[:, ::1](_U16, _I64, _U32, _U16, _U8), nogil=True, cache=True)
def _channel(
    rows: npt.NDArray[np.uint16],
    terms: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.uint32],
    ordinals: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
) -> npt.NDArray[np.uint8]:
    """The value of each term in each row, 0 where it has none."""
    found = np.zeros((len(rows), len(terms)), np.uint8)
    for position in range(len(terms)):
        term = terms[position]
        if term < 0:
            continue
        end = np.int64(offsets[term + 1])
        for place in range(len(rows)):
            row = rows[place]
            # Invariant: ordinals below `low` are smaller than `row`, those from `high` on are not.
            low, high = np.int64(offsets[term]), end
            while low < high:
                middle = (low + high) >> 1
                if ordinals[middle] < row:
                    low = middle + 1
                else:
                    high = middle
            if low < end and ordinals[low] == row:
                found[place, position] = values[low]
    return found


def frequencies(postings: Postings, terms: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """int64[n_terms]: authorized records that hold each dictionary row of ``terms``; 0 for row -1."""
    counts: npt.NDArray[np.int64] = _frequencies(terms, postings.offsets, postings.ordinals, mask)
    return counts


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
    )
    _accumulate(
        scores,
        terms,
        weights * mix.name,
        np.zeros(len(terms), np.int64),
        postings.name_offsets,
        postings.name_ordinals,
        postings.names,
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
    impacts = _channel(rows, terms, postings.offsets, postings.ordinals, postings.impacts)
    names = _channel(rows, terms, postings.name_offsets, postings.name_ordinals, postings.names)
    return np.stack((impacts, names), axis=2)
