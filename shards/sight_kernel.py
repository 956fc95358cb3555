"""The kernels of a search over all parts that a principal sees: one call each, however many parts there are.

What happens in a part is the knowledge of the kernels that these call; here it is added up and merged. They know
integers and addresses only (``shards.addresses``). All are compiled when this module is imported.
"""

from collections.abc import Sequence
from typing import Any, Final

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.addresses import LISTS_LENGTH, addresses_of, i32_at, i64_at, lists_at, u8_at, u16_at, u32_at, u64_at
from shards.frequency_kernel import count
from shards.lists import I64, U16, U64, Lists
from shards.mention_kernel import any_held
from shards.pruned import top_of_segment
from shards.pruned_steps import SCORES
from shards.statistics import weigh
from shards.text_kernel import BLOCK, append_text, text_at
from shards.value_kernel import fill

COUNT, ROWS, BITS = range(3)
"""Columns of a part: its authorized rows, all its rows, and the address and length of the authorized ones as bits."""

PLACE: Final = 4
"""The column that says which part of the index it is."""

SEGMENT_AT: Final = 5
_IDS: Final = SEGMENT_AT + LISTS_LENGTH
_VERSIONS: Final = _IDS + 4
_NAMES: Final = _VERSIONS + 3
WIDTH: Final = _NAMES + 6
"""Numbers of a part: lists, then ids, versions and their width, then the tables of names, capabilities and domains."""

_READ: Final = [
    np.dtype(one) for one in ("u4", "u2", "u1", "u4", "u2", "u1", "i8", "u8", "u2", "i8", "u1", "u1", "u4", *["u8"] * 3)
]
_VERSION_TYPES: Final = frozenset(np.dtype(one) for one in ("u1", "u2", "u4", "i8"))

TABLE = types.Array(types.int64, 2, "C", readonly=True)


def segment_numbers(
    lists: Lists, ids: Sequence[npt.NDArray[Any]], versions: npt.NDArray[Any], names: Sequence[npt.NDArray[np.uint64]]
) -> npt.NDArray[np.int64]:
    """int64[WIDTH - SEGMENT_AT], the columns of a segment; ``ids`` are the blob and blocks of a table of texts.

    Raises:
        ValueError: if an array is not of the type that the kernels read at its address: they cannot see it.
    """
    arrays: list[npt.NDArray[Any]] = [*lists, *ids, *names]
    found = [array.dtype for array in arrays]
    if found != _READ or versions.dtype not in _VERSION_TYPES:
        raise ValueError(f"arrays of a segment: {found} and versions {versions.dtype}, expected {_READ}")
    return np.array([*addresses_of((*lists, *ids, versions)), versions.dtype.itemsize, *addresses_of(names)], np.int64)


@numba.njit(types.bool_(TABLE, U64, types.int64, types.int64), nogil=True, cache=True)
def any_mentioned(table: npt.NDArray[np.int64], hashes: npt.NDArray[np.uint64], first: int, second: int) -> bool:
    """Whether any part holds a mention (see ``any_held``)."""
    for part in range(len(table)):
        row = table[part]
        if any_held(u64_at(row, _NAMES), u64_at(row, _NAMES + 2), u64_at(row, _NAMES + 4), hashes, first, second):
            return True
    return False


@numba.njit(types.void(types.int64[::1], types.int64[::1], TABLE, TABLE, types.int64, I64), nogil=True, cache=True)
def count_and_weigh(  # noqa: PLR0917 -- Numba wants positions
    frequencies: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    authorized: int,
    term_weights: npt.NDArray[np.int64],
) -> None:
    """Write the authorized frequency of each term in all parts together, and its weight.

    Args:
        frequencies: int64[n_terms], written.
        weights: int64[n_terms], written.
        table: of the parts.
        terms: int64[parts, n_terms], dictionary rows in each part, -1 where it does not hold one.
        authorized: rows of all parts together.
        term_weights: int64[n_terms].
    """
    frequencies[:] = 0
    for part in range(len(table)):
        row = table[part]
        count(frequencies, terms[part], lists_at(row, SEGMENT_AT), u64_at(row, BITS), row[COUNT], row[ROWS])
    weigh(weights, authorized, frequencies, term_weights)


@numba.njit(types.bool_(I64, types.int64, I64, types.int64), nogil=True, cache=True)
def _comes_first(one: npt.NDArray[np.int64], row: int, other: npt.NDArray[np.int64], its: int) -> bool:
    """Whether the id of a row of one part is below that of a row of another."""
    first = text_at(u8_at(one, _IDS), u32_at(one, _IDS + 2), row)
    second = text_at(u8_at(other, _IDS), u32_at(other, _IDS + 2), its)
    for place in range(min(len(first), len(second))):
        if first[place] != second[place]:
            return bool(first[place] < second[place])
    return len(first) < len(second)


@numba.njit(
    types.UniTuple(types.int64, 2)(
        types.int64[::1], types.uint16[::1], types.int32[::1], SCORES, types.uint16[::1], TABLE, TABLE, TABLE, I64,
        types.int64, types.int64, types.int64,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def best_rows(  # noqa: PLR0917 -- Numba wants positions
    owners: npt.NDArray[np.int64],
    best: npt.NDArray[np.uint16],
    found: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    table: npt.NDArray[np.int64],
    bases: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    impact: int,
    name: int,
    presence: int,
) -> tuple[int, int]:
    """Write part, row and score of the best rows of all parts, in the total order.

    Args:
        owners: int64[n], room for the parts; n is at least 1.
        best: uint16[n], room for the rows.
        found: int32[n], room for the scores.
        scores: room for those of a segment.
        rows: room for those of a segment.
        table: of the parts.
        bases: int64[parts, 2], address and length of what each row starts with (int32), length 0 for nothing.
        terms: int64[parts, n_terms], dictionary rows in each part, -1 where it does not hold one.
        weights: int64[n_terms].
        impact: how the channels add up (``ScoreMix``).
        name: likewise.
        presence: likewise.

    Returns:
        how many rows were found, and how many score above 0.
    """
    n, floor, matched = len(best), 0, 0
    tops, reached = np.empty((len(table), n), np.uint16), np.empty((len(table), n), np.int32)
    sizes = np.zeros(len(table), np.int64)
    for part in range(len(table)):
        row = table[part]
        sizes[part], more = top_of_segment(
            tops[part], reached[part], scores, rows, i32_at(bases[part], 0), terms[part], weights, impact, name,
            presence, u64_at(row, BITS), row[COUNT], lists_at(row, SEGMENT_AT), floor,
        )  # fmt: skip
        matched += more
        if sizes[part] == n:
            floor = max(floor, int(reached[part, n - 1]))
    heads = np.zeros(len(table), np.int64)
    for place in range(n):
        chosen = -1
        for part in range(len(table)):
            head = heads[part]
            if head == sizes[part]:
                continue
            if chosen >= 0:
                score, most = reached[part, head], reached[chosen, heads[chosen]]
                if score < most or (
                    score == most
                    and not _comes_first(
                        table[part], np.int64(tops[part, head]), table[chosen], np.int64(tops[chosen, heads[chosen]])
                    )
                ):
                    continue
            chosen = part
        if chosen < 0:
            return place, matched
        head = heads[chosen]
        owners[place], best[place], found[place] = chosen, tops[chosen, head], reached[chosen, head]
        heads[chosen] += 1
    return n, matched


@numba.njit(types.int64(I64, types.int64), nogil=True, cache=True)
def _version(row: npt.NDArray[np.int64], ordinal: int) -> int:
    width = row[_VERSIONS + 2]
    if width == 1:
        return int(u8_at(row, _VERSIONS)[ordinal])
    if width == 2:  # noqa: PLR2004 -- bytes of a number
        return int(u16_at(row, _VERSIONS)[ordinal])
    if width == 4:  # noqa: PLR2004 -- as above
        return int(u32_at(row, _VERSIONS)[ordinal])
    return int(i64_at(row, _VERSIONS)[ordinal])


@numba.njit(
    types.uint8[::1](
        types.uint8[::1], types.int64[::1], types.uint8[:, :, ::1], types.int64[::1], TABLE, TABLE, I64, U16
    ),
    nogil=True,
    cache=True,
)
def gather(  # noqa: PLR0917 -- Numba wants positions
    texts: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    values: npt.NDArray[np.uint8],
    versions: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int64],
    rows: npt.NDArray[np.uint16],
) -> npt.NDArray[np.uint8]:
    """Write what stands in rows of several parts, their ids one behind the other.

    Args:
        texts: room for the ids; ``bounds[0]`` bytes of it are written already.
        bounds: int64[n + 1], where each id begins and the last ends; all but the first are written.
        values: uint8[n, n_terms, 2], zeros; impact and name channel are written.
        versions: int64[n], written.
        table: of the parts.
        terms: int64[parts, n_terms], dictionary rows in each part, -1 where it does not hold one.
        owners: int64[n], the part of each row.
        rows: uint16[n].

    Returns:
        ``texts``, or a larger copy of them.
    """
    room = np.empty((BLOCK, 2), np.int64)
    for place in range(len(rows)):
        row, ordinal = table[owners[place]], np.int64(rows[place])
        ids, blocks = u8_at(row, _IDS), u32_at(row, _IDS + 2)
        texts, bounds[place + 1] = append_text(texts, bounds[place], ids, blocks, ordinal, room)
        versions[place] = _version(row, ordinal)
    places, taken = np.empty(len(rows), np.int64), np.empty(len(rows), np.uint16)
    for part in range(len(table)):
        size = 0
        for place in range(len(rows)):
            if owners[place] == part:
                places[size], taken[size] = place, rows[place]
                size += 1
        if size:
            fill(values, places[:size], taken[:size], terms[part], lists_at(table[part], SEGMENT_AT))
    return texts
