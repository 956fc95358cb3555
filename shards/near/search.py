"""Near terms of one search: for the words that no authorized record of a shard holds, what they may have meant here.

Only terms that an authorized record holds count, and each stands or falls by itself: the best of all shards are those
of one index of the same records.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from shards.candidates import View
from shards.deadline import Expired, stop_if
from shards.messages import NearTerm
from shards.near import dictionary_kernel as kernel
from shards.near.known_words import Known, is_known, known_near
from shards.near.terms import NearTerms
from shards.near.words import looks_like_a_word
from shards.utf8 import encoded

MOST_WORDS: Final = 32
"""Words of a query that are looked at, the first ones, known or not: which they are must not depend on the shard."""

NEAREST: Final = 4
"""Terms of a word that is spelt like it, and as many that say it in another script."""

REMEMBERED: Final = 2_048
"""Searches of each dictionary that are remembered; then all are forgotten."""

_Search = Callable[[NearTerms, str], list[tuple[int, int]]]

_FOUND: Final[WeakKeyDictionary[NearTerms, dict[tuple[_Search, str], list[tuple[int, int]]]]] = WeakKeyDictionary()


def near_terms(
    terms: Sequence[str], frequencies: npt.NDArray[np.int64], views: Sequence[View], expired: Expired
) -> tuple[NearTerm, ...]:
    """For each word among a query's terms that no authorized record here holds, its nearest authorized terms.

    ``frequencies`` is int64[n_terms], authorized records here that hold each.

    Raises:
        OutOfTimeError: if the time runs out.
    """
    # Most queries have no such word, and to look at each one takes longer than to see that.
    if frequencies.all():
        return ()
    found: list[NearTerm] = []
    words = (position for position, term in enumerate(terms) if looks_like_a_word(term))
    for position in islice(words, MOST_WORDS):
        word = terms[position]
        if frequencies[position] == 0 and not is_known(word):
            stop_if(expired)
            written, spoken = known_near(word)
            found += _near(position, word, written, views, NearTerms.written)
            found += _near(position, word, spoken, views, NearTerms.spoken)
    return tuple(found)


def _near(position: int, word: str, known: Known, views: Sequence[View], search: _Search) -> Iterator[NearTerm]:
    """The nearest terms by one search, then the marks that some record here bears."""
    found: dict[str, tuple[int, int]] = {}
    for view in views:
        for term, likeness, count in _nearest(word, known.silent, view, search):
            found[term] = (likeness, count + found.get(term, (0, 0))[1])
    best = sorted(found, key=lambda term: (-found[term][0], term))[:NEAREST]
    likeness_of = {term: found[term][0] for term in best} | dict(known.marks)
    counts = {term: found[term][1] for term in best} | _counted([mark for mark, _ in known.marks], views)
    for term, likeness in likeness_of.items():
        if counts[term]:
            yield NearTerm(
                position=position,
                term=term,
                likeness=likeness,
                frequency=counts[term],
                spoken=search is NearTerms.spoken,
            )


def _nearest(word: str, silent: int, view: View, search: _Search) -> Iterator[tuple[str, int, int]]:
    """The nearest terms of a part that its authorized rows hold: text, likeness above ``silent``, and how many do."""
    segment = view.part.segment
    near = [(row, likeness) for row, likeness in _remembered(search, segment.near, word) if likeness > silent]
    if not near:
        return
    rows = np.array([row for row, _ in near], np.int64)
    postings = segment.postings
    dense, allowed = postings.dense, view.authorized.bits
    found = kernel.held(rows, postings.offsets, postings.ordinals, dense.rows, dense.bits, allowed, NEAREST)
    for place, count in found.tolist():
        row, likeness = near[place]
        yield postings.terms[row], likeness, count


def _remembered(search: _Search, dictionary: NearTerms, word: str) -> list[tuple[int, int]]:
    """What ``search`` finds: the words of queries repeat, and who may see a term is not asked here yet."""
    known = _FOUND.setdefault(dictionary, {})
    found = known.get((search, word))
    if found is None:
        if len(known) >= REMEMBERED:
            known.clear()
        found = known[search, word] = search(dictionary, word)
    return found


def _counted(marks: Sequence[str], views: Sequence[View]) -> dict[str, int]:
    """Authorized records that bear each mark."""
    if not marks:
        return {}
    texts = [encoded(mark) for mark in marks]
    counts = np.zeros(len(marks), np.int64)
    for view in views:
        postings = view.part.segment.postings
        counts += view.authorized.frequencies(postings, postings.terms.find_all(texts))
    return dict(zip(marks, counts.tolist(), strict=True))
