"""The kernels of several searches in one call: their queries stand one behind the other in flat arrays.

Each query is answered for itself, by the kernels of one search (``shards.sight_kernel``), and no result depends on what
else is in the call. They know integers only. All are compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.lists import I64, U16, U64
from shards.pruned_steps import SCORES
from shards.sight_kernel import PLACE, TABLE, any_mentioned, best_rows, count_and_weigh, gather

PARTS_AT, PARTS, AUTHORIZED, TERMS_AT, TERMS, WEIGHTED, HASHES_AT, FIRST, SECOND, HASHES = range(10)
IMPACT, NAME, PRESENCE, ROOM_AT, ROOM, SHOWN, STEPS, MENTIONED, FOUND, COUNT, MATCHED, THRESHOLD = range(10, 22)
"""Numbers of a query: where its own begin in a flat array, ``*_AT``, and how many they are.

``PARTS`` are rows of the tables, ``AUTHORIZED`` the records behind them. ``WEIGHTED`` is 1 where the weights are given.
``FIRST`` and ``SECOND`` part its hashes by field; ``IMPACT``, ``NAME`` and ``PRESENCE`` are its ``ScoreMix``. There is
``ROOM`` for so many rows, of which ``SHOWN`` are in the answer at most.

``STEPS`` are those still to do. Written are ``MENTIONED``, 1 where a record of a part that the caller sees has a field
that the query mentions, how many rows stand in the room (``FOUND``) and are in the answer (``COUNT``), how many score
above 0 (``MATCHED``), and the best score left out, or -1 (``THRESHOLD``).
"""

WEIGH, CHOOSE = 1, 2
"""Steps, as bits."""

COLUMNS, TERM_WEIGHTS, GIVEN = range(3)
"""Rows of what is known of terms: the column of their dictionary rows, their weights, and those that a query brings."""

FREQUENCIES, WEIGHTS, EFFECTIVE = range(3)
"""Rows of what is found out of terms: authorized frequency and weights (``shards.selection.Selection``)."""

_LONGS, _OCTETS = types.int64[::1], types.uint8[::1]


@numba.njit(types.int64[:, ::1](I64, TABLE, TABLE, I64), nogil=True, cache=True)
def _terms_of(
    plan: npt.NDArray[np.int64],
    tables: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """int64[parts, n_terms]: the dictionary rows of a query in each part that its caller sees."""
    terms = np.empty((plan[PARTS], plan[TERMS]), np.int64)
    for part in range(plan[PARTS]):
        place = tables[plan[PARTS_AT] + part, PLACE]
        for position in range(plan[TERMS]):
            terms[part, position] = rows[place, columns[plan[TERMS_AT] + position]]
    return terms


@numba.njit(
    types.void(
        types.int64[:, ::1], types.int64[:, ::1], _LONGS, types.uint16[::1], types.int32[::1], SCORES,
        types.uint16[::1], TABLE, TABLE, TABLE, TABLE, U64,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def choose_all(  # noqa: PLR0917 -- Numba wants positions
    plans: npt.NDArray[np.int64],
    weighed: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int64],
    best: npt.NDArray[np.uint16],
    found: npt.NDArray[np.int32],
    scores: npt.NDArray[np.int32],
    ordinals: npt.NDArray[np.uint16],
    tables: npt.NDArray[np.int64],
    bases: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
    hashes: npt.NDArray[np.uint64],
) -> None:
    """Do what is to do: weigh the terms of queries, and write part, row and score of the best rows by words.

    A query that turns out to mention something is weighed only: it is chosen for at the next call, when ``bases`` tells
    what its rows start with.

    Args:
        plans: int64[queries, numbers of a query], written as told there.
        weighed: int64[3, all terms], written.
        owners: int64[room], the parts, counted as in the query's sight, best rows first.
        best: uint16[room], the rows.
        found: int32[room], the scores.
        scores: room for those of a segment.
        ordinals: room for those of a segment.
        tables: int64[all parts, shards.sight_kernel.WIDTH], those of the queries one behind the other.
        bases: int64[all parts, 2], address and length of what each row starts with (int32), length 0 for nothing.
        rows: int64[parts of the index, columns], dictionary rows of the queries' distinct terms, -1 where not held.
        terms: int64[3, all terms].
        hashes: uint64[...], the mentions of all queries.
    """
    for query in range(len(plans)):
        plan = plans[query]
        steps = plan[STEPS]
        if steps == 0:
            continue
        parts = slice(plan[PARTS_AT], plan[PARTS_AT] + plan[PARTS])
        own = slice(plan[TERMS_AT], plan[TERMS_AT] + plan[TERMS])
        looked_up = _terms_of(plan, tables, rows, terms[COLUMNS])
        if steps & WEIGH:
            frequencies, weights, effective = weighed[FREQUENCIES, own], weighed[WEIGHTS, own], weighed[EFFECTIVE, own]
            count_and_weigh(frequencies, weights, tables[parts], looked_up, plan[AUTHORIZED], terms[TERM_WEIGHTS, own])
            if plan[WEIGHTED]:
                weights[:] = terms[GIVEN, own]
            for place in range(len(effective)):
                effective[place] = weights[place] if frequencies[place] else 0
            asked = hashes[plan[HASHES_AT] : plan[HASHES_AT] + plan[HASHES]]
            plan[MENTIONED] = any_mentioned(tables[parts], asked, plan[FIRST], plan[SECOND])
            plan[STEPS] = steps - WEIGH
        if plan[STEPS] == CHOOSE and not (plan[MENTIONED] and steps & WEIGH):
            start, end = plan[ROOM_AT], plan[ROOM_AT] + plan[ROOM]
            plan[FOUND], plan[MATCHED] = best_rows(
                owners[start:end], best[start:end], found[start:end], scores, ordinals, tables[parts], bases[parts],
                looked_up, weighed[EFFECTIVE, own], plan[IMPACT], plan[NAME], plan[PRESENCE],
            )  # fmt: skip
            plan[COUNT] = min(plan[FOUND], plan[SHOWN])
            plan[THRESHOLD] = found[start + plan[SHOWN]] if plan[FOUND] > plan[SHOWN] else -1
            plan[STEPS] = 0


@numba.njit(
    _OCTETS(_OCTETS, _LONGS, _OCTETS, _LONGS, I64, U16, TABLE, TABLE, TABLE, TABLE),
    nogil=True,
    cache=True,
)
def gather_all(  # noqa: PLR0917 -- Numba wants positions
    texts: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    values: npt.NDArray[np.uint8],
    versions: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int64],
    best: npt.NDArray[np.uint16],
    plans: npt.NDArray[np.int64],
    tables: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    terms: npt.NDArray[np.int64],
) -> npt.NDArray[np.uint8]:
    """Write what stands in the first ``COUNT`` rows of each query, their ids one behind the other.

    Args:
        texts: room for the ids.
        bounds: int64[all counted + 1], written: where each id begins and the last ends.
        values: uint8[...], zeros; the channels are written, uint8[COUNT, n_terms, 2] of each query.
        versions: int64[all counted], written.
        owners: int64[room], as ``choose_all`` writes them.
        best: uint16[room], likewise.
        plans: as ``choose_all`` leaves them.
        tables: as there, and so are ``rows`` and ``terms``.
        rows: see there.
        terms: likewise.

    Returns:
        ``texts``, or a larger copy of them.
    """
    bounds[0] = 0
    start, first = 0, 0
    for query in range(len(plans)):
        plan = plans[query]
        room, size = plan[ROOM_AT], plan[COUNT]
        end, last = start + size, first + 2 * size * plan[TERMS]
        texts = gather(
            texts, bounds[start : end + 1], values[first:last].reshape((size, plan[TERMS], 2)), versions[start:end],
            tables[plan[PARTS_AT] : plan[PARTS_AT] + plan[PARTS]], _terms_of(plan, tables, rows, terms[COLUMNS]),
            owners[room : room + size], best[room : room + size],
        )  # fmt: skip
        start, first = end, last
    return texts
