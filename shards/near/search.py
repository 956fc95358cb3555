"""Near terms of one search: for the words that no authorized record of a shard holds, what they may have meant here.

Only terms that an authorized record holds count, and each stands or falls by itself: the best of all shards are those
of one index of the same records.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import sight_kernel
from shards.deadline import Expired, stop_if
from shards.messages import NearTerm
from shards.near import search_kernel
from shards.near.known_words import Known, is_known, known_near
from shards.near.remembered import RememberedWords
from shards.near.words import looks_like_a_word
from shards.sight import Sight
from shards.term_rows import rows_of
from shards.text_table import parted

MOST_WORDS: Final = 32
"""Words of a query that are looked at, the first ones, known or not: which they are must not depend on the shard."""

NEAREST: Final = 4
"""Terms of a word that is spelt like it, and as many that say it in another script."""

_REMEMBERED: Final = RememberedWords()
_WAYS: Final = (False, True)
_NUMBER_BYTES: Final = 8
_Found = tuple[int, int]
"""Likeness, and how many authorized records hold the term."""


def near_terms(
    terms: Sequence[str], frequencies: npt.NDArray[np.int64], sight: Sight, expired: Expired
) -> tuple[NearTerm, ...]:
    """For each word among a query's terms that no authorized record here holds, its nearest authorized terms.

    ``frequencies`` is int64[n_terms], authorized records here that hold each.

    Raises:
        OutOfTimeError: if the time runs out.
    """
    # Most queries have no such word, and to look at each one takes longer than to see that.
    counts = frequencies.tolist()
    if 0 not in counts:
        return ()
    unknown = [position for position in _unknown(terms, counts) if not is_known(terms[position])]
    if not unknown:
        return ()
    known = []
    numbers: list[bytes] = []
    dictionaries = [part.segment.near for part, _ in sight.parts]
    for position in unknown:
        stop_if(expired)
        word = terms[position]
        near = known_near(word)
        known.append(near)
        numbers += _REMEMBERED.nearest(dictionaries, word, near[0].silent, near[1].silent)
    held = _held(numbers, sight)
    marks = _counted(known, sight)
    found: list[NearTerm] = []
    for place, position in enumerate(unknown):
        for spoken in _WAYS:
            terms_held, marks_known = held.get((place, spoken)), known[place][spoken].marks
            if terms_held or marks_known:
                found += _nearest(position, terms_held or {}, marks_known, marks, spoken=spoken)
    return tuple(found)


def _unknown(terms: Sequence[str], counts: Sequence[int]) -> Iterator[int]:
    """Positions of the words that nobody here holds, among the first ``MOST_WORDS`` that look like one."""
    places = [position for position, count in enumerate(counts) if count == 0]
    if len(terms) <= MOST_WORDS:
        return (position for position in places if looks_like_a_word(terms[position]))
    words = frozenset(islice((place for place, term in enumerate(terms) if looks_like_a_word(term)), MOST_WORDS))
    return (position for position in places if position in words)


def _held(numbers: Sequence[bytes], sight: Sight) -> Mapping[tuple[int, bool], dict[str, _Found]]:
    """By word and way what authorized records hold, the nearest of each part at least.

    ``numbers`` are the near terms of each word, those of each part after the other.
    """
    packed = b"".join(numbers)
    if not packed:
        return {}
    bounds = accumulate([len(one) // _NUMBER_BYTES for one in numbers], initial=0)
    parts = len(sight.parts)
    found, texts, ends = search_kernel.authorized(
        sight.table,
        np.array([part.segment.near.numbers for part, _ in sight.parts]),
        np.frombuffer(packed, np.int64),
        np.array(list(bounds), np.int64),
        parts,
        NEAREST,
    )
    held: dict[tuple[int, bool], dict[str, _Found]] = {}
    for (place, spoken, likeness, count), term in zip(found.tolist(), parted(texts, ends), strict=True):
        terms = held.setdefault((place // parts, bool(spoken)), {})
        terms[term] = (likeness, count + terms.get(term, (0, 0))[1])
    return held


def _nearest(
    position: int,
    found: Mapping[str, _Found],
    known: Sequence[tuple[str, int]],
    marks: Mapping[str, int],
    *,
    spoken: bool,
) -> Iterator[NearTerm]:
    """The nearest terms that a word may have meant in one way, then the known marks that some record here bears."""
    best = sorted([(-likeness, term, count) for term, (likeness, count) in found.items()])[:NEAREST]
    for lack, term, count in best:
        yield NearTerm(position=position, term=term, likeness=-lack, frequency=count, spoken=spoken)
    for mark, likeness in known:
        if marks[mark]:
            yield NearTerm(position=position, term=mark, likeness=likeness, frequency=marks[mark], spoken=spoken)


def _counted(known: Iterable[tuple[Known, Known]], sight: Sight) -> Mapping[str, int]:
    """Authorized records that bear each mark of some words."""
    marks = tuple(dict.fromkeys(mark for ways in known for way in ways for mark, _ in way.marks))
    if not marks:
        return {}
    counts, weights = np.empty(len(marks), np.int64), np.ones(len(marks), np.int64)
    rows = rows_of([part.segment.postings.rows for part, _ in sight.parts], marks)
    sight_kernel.count_and_weigh(counts, np.empty_like(weights), sight.table, rows, sight.authorized, weights)
    return dict(zip(marks, counts.tolist(), strict=True))
