"""The steps of the pruned retrieval kernel (``shards.pruned`` says how they follow each other).

They know integers only. All are compiled when this module is imported.
"""

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from shards.bits import LIFTS, WORD, Bits, above, lifted_above, lowest, ones
from shards.dense_terms import holds, place_of, rank_of
from shards.heap_kernel import offered
from shards.lists import I64, LISTS, U8, U16, U16_2, U64, U64_2, Lists

SCORES = types.int32[::1]


@numba.njit(types.void(SCORES, U16, U8, types.int64, types.int64), nogil=True, cache=True)
def add_list(
    scores: npt.NDArray[np.int32],
    ordinals: npt.NDArray[np.uint16],
    values: npt.NDArray[np.uint8],
    factor: int,
    constant: int,
) -> None:
    """Add ``factor * value + constant`` of each posting of one list to the score of its row."""
    times, plus = np.int32(factor), np.int32(constant)
    for position in range(len(ordinals)):
        scores[ordinals[position]] += times * np.int32(values[position]) + plus


@numba.njit(types.void(SCORES, U64, U64, U8, types.int64, types.int64), nogil=True, cache=True)
def add_shared(  # noqa: PLR0917 -- Numba wants positions
    scores: npt.NDArray[np.int32],
    holders: Bits,
    allowed: Bits,
    values: npt.NDArray[np.uint8],
    factor: int,
    constant: int,
) -> None:
    """As ``add_list``, for the authorized rows of a dense term; others keep their score, nobody asks for it."""
    times, plus = np.int32(factor), np.int32(constant)
    before = np.int64(0)
    for word in range(min(len(holders), len(allowed))):
        held = holders[word]
        shared = held & allowed[word]
        if shared == held:
            # Every value of the word is taken, so that none needs to be counted up to.
            while shared:
                scores[WORD * word + lowest(shared)] += times * np.int32(values[before]) + plus
                shared &= shared - np.uint64(1)
                before += 1
            continue
        while shared:
            bit = shared & (~shared + np.uint64(1))
            value = values[before + ones(held & (bit - np.uint64(1)))]
            scores[WORD * word + lowest(shared)] += times * np.int32(value) + plus
            shared ^= bit
        before += ones(held)


@numba.njit(types.int64(SCORES, U64, types.int64[::1], types.int64), nogil=True, cache=True)
def reached(scores: npt.NDArray[np.int32], allowed: Bits, heap: npt.NDArray[np.int64], floor: int) -> int:
    """The ``len(heap)``-th best of the authorized scores from ``floor`` on; ``floor`` where there are fewer."""
    size, limit = 0, floor - 1
    for word in range(len(allowed)):
        if allowed[word] == 0:
            continue
        better = above(scores, word, np.int32(limit)) & allowed[word]
        while better:
            score = scores[WORD * word + lowest(better)]
            better &= better - np.uint64(1)
            if score > limit:
                size = offered(heap, size, score)
                if size == len(heap):
                    limit = heap[0]
    return max(limit, floor)


@numba.njit(
    types.int64(types.int64[::1], types.int64[::1], I64, I64, types.int64, types.int64, U8), nogil=True, cache=True
)
def ordered(  # noqa: PLR0917 -- Numba wants positions
    order: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    impact: int,
    presence: int,
    most: npt.NDArray[np.uint8],
) -> int:
    """Put the dense terms that count in front of ``order`` by the most each adds, kept in ``bounds``; how many."""
    found = 0
    for position in range(len(places)):
        if places[position] < 0 or weights[position] == 0 or impact | presence == 0:
            continue
        bound = weights[position] * (impact * np.int64(most[places[position]]) + presence)
        at = found
        while at > 0 and bounds[at - 1] < bound:
            bounds[at], order[at] = bounds[at - 1], order[at - 1]
            at -= 1
        bounds[at], order[at] = bound, position
        found += 1
    return found


@numba.njit(types.uint64[::1](U64, U64_2, I64), nogil=True, cache=True)
def holders_of(allowed: Bits, bits: npt.NDArray[np.uint64], places: npt.NDArray[np.int64]) -> Bits:
    """The authorized rows that hold one of these dense terms."""
    held = np.zeros(len(allowed), np.uint64)
    for place in places:
        for word in range(bits.shape[1]):
            held[word] |= bits[place, word]
    for word in range(len(allowed)):
        held[word] &= allowed[word]
    return held


@numba.njit(
    types.UniTuple(types.int64, 2)(types.uint16[::1], SCORES, U64, U64, U64_2, I64, I64, types.int64),
    nogil=True,
    cache=True,
)
def contenders(  # noqa: PLR0917 -- Numba wants positions
    rows: npt.NDArray[np.uint16],
    scores: npt.NDArray[np.int32],
    allowed: Bits,
    holders: Bits,
    bits: npt.NDArray[np.uint64],
    places: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.int64],
    limit: int,
) -> tuple[int, int]:
    """Put in front of ``rows`` the authorized rows that reach ``limit`` with the bounds of what they hold.

    Returns:
        how many they are, and how many authorized rows have a score or are ``holders`` of a dense term.
    """
    kept, matched = 0, 0
    held, lifts = np.zeros(LIFTS, np.uint64), np.zeros(LIFTS, np.int32)
    first = min(LIFTS, len(places))
    for at in range(first):
        lifts[at] = bounds[at]
    rest = bounds[first:].sum()
    alone, least = np.int32(limit - bounds.sum() - 1), np.int32(limit - rest - 1)
    for word in range(len(allowed)):
        admitted = allowed[word]
        # The rows of a caller's namespaces stand together, so that most words of most callers are empty.
        if admitted == 0:
            continue
        matched += ones(above(scores, word, np.int32(0)) & admitted | holders[word])
        found = above(scores, word, alone) & admitted
        if found == 0:
            continue
        for at in range(first):
            held[at] = bits[places[at], word] if word < bits.shape[1] else np.uint64(0)
        found &= lifted_above(scores, word, held, lifts, least)
        while found:
            rows[kept] = WORD * word + lowest(found)
            kept += 1
            found &= found - np.uint64(1)
    return kept, matched


@numba.njit(types.int64[::1](I64, LISTS), nogil=True, cache=True)
def places_of(terms: npt.NDArray[np.int64], lists: Lists) -> npt.NDArray[np.int64]:
    """Where each term stands among the dense ones, -1 for another."""
    places = np.full(len(terms), -1)
    for position in range(len(terms)):
        term = terms[position]
        if term >= 0 and lists.offsets[term] == lists.offsets[term + 1]:
            places[position] = place_of(lists.dense, term)
    return places


@numba.njit(types.int64(I64, I64, LISTS), nogil=True, cache=True)
def walked(terms: npt.NDArray[np.int64], weights: npt.NDArray[np.int64], lists: Lists) -> int:
    """How many postings step 1 walks."""
    walked = 0
    for position in range(len(terms)):
        term = terms[position]
        if term >= 0 and weights[position] > 0:
            walked += int(lists.name_offsets[term + 1] - lists.name_offsets[term])
            walked += int(lists.offsets[term + 1] - lists.offsets[term])
    return walked


@numba.njit(types.void(SCORES, I64, I64, types.int64, types.int64, types.int64, LISTS), nogil=True, cache=True)
def add_partial(  # noqa: PLR0917 -- Numba wants positions
    scores: npt.NDArray[np.int32],
    terms: npt.NDArray[np.int64],
    weights: npt.NDArray[np.int64],
    impact: int,
    name: int,
    presence: int,
    lists: Lists,
) -> None:
    """Step 1: the names of all terms, and the impacts of those that are not dense; others have an empty list."""
    for position in range(len(terms)):
        term, weight = terms[position], weights[position]
        if term < 0 or weight == 0:
            continue
        if impact | presence != 0:
            start, end = lists.offsets[term], lists.offsets[term + 1]
            impacts = lists.impacts[start:end]
            add_list(scores, lists.ordinals[start:end], impacts, weight * impact, weight * presence)
        if name != 0:
            start, end = lists.name_offsets[term], lists.name_offsets[term + 1]
            add_list(scores, lists.name_ordinals[start:end], lists.names[start:end], weight * name, 0)


@numba.njit(
    types.void(SCORES, U16, U8, types.int64, types.int64, types.int64, U64_2, U16_2, types.int64),
    nogil=True,
    cache=True,
)
def complete(  # noqa: PLR0917 -- Numba wants positions
    scores: npt.NDArray[np.int32],
    rows: npt.NDArray[np.uint16],
    impacts: npt.NDArray[np.uint8],
    start: int,
    factor: int,
    constant: int,
    bits: npt.NDArray[np.uint64],
    ranks: npt.NDArray[np.uint16],
    place: int,
) -> None:
    """Add what the dense term at ``place``, whose impacts begin at ``start``, adds to each of ``rows``."""
    times, plus = np.int32(factor), np.int32(constant)
    for row in rows:
        if holds(bits, place, row):
            scores[row] += times * np.int32(impacts[start + rank_of(bits, ranks, place, row)]) + plus
