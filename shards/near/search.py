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

from shards.authorization import AuthorizedRows
from shards.deadline import Expired, stop_if
from shards.messages import NearTerm
from shards.near import dictionary_kernel as kernel
from shards.near.known_words import Known, is_known, known_near
from shards.near.terms import NearTerms
from shards.near.words import looks_like_a_word
from shards.part import Part
from shards.text_table import TextTable
from shards.utf8 import encoded

MOST_WORDS: Final = 32
"""Words of a query that are looked at, the first ones, known or not: which they are must not depend on the shard."""

NEAREST: Final = 4
"""Terms of a word that is spelt like it, and as many that say it in another script."""

REMEMBERED: Final = 2_048
"""Searches of each dictionary that are remembered; then all are forgotten."""

_Search = Callable[[NearTerms, str], list[tuple[int, int]]]
_Seen = tuple[Part, AuthorizedRows]


class _Likest:
    """The terms of one dictionary near a word, likest first: rows (int64[n]), likenesses, and texts once asked for."""

    __slots__ = ("_texts", "likenesses", "rows")

    def __init__(self, found: Sequence[tuple[int, int]], silent: int) -> None:
        louder = [(row, likeness) for row, likeness in found if likeness > silent]
        self.rows = np.array([row for row, _ in louder], np.int64)
        self.likenesses = [likeness for _, likeness in louder]
        self._texts: dict[int, str] = {}

    def text(self, place: int, terms: TextTable) -> str:
        """The text of one of them."""
        text = self._texts.get(place)
        if text is None:
            text = self._texts[place] = terms[int(self.rows[place])]
        return text


_FOUND: Final[WeakKeyDictionary[NearTerms, dict[tuple[_Search, str], _Likest]]] = WeakKeyDictionary()


def near_terms(
    terms: Sequence[str], frequencies: npt.NDArray[np.int64], parts: Sequence[_Seen], expired: Expired
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
    for position in _unknown(terms, frequencies):
        word = terms[position]
        if not is_known(word):
            stop_if(expired)
            written, spoken = known_near(word)
            found += _near(position, word, written, parts, NearTerms.written)
            found += _near(position, word, spoken, parts, NearTerms.spoken)
    return tuple(found)


def _unknown(terms: Sequence[str], frequencies: npt.NDArray[np.int64]) -> Iterator[int]:
    """Positions of the words that nobody here holds, among the first ``MOST_WORDS`` that look like one."""
    places = np.flatnonzero(frequencies == 0).tolist()
    if len(terms) <= MOST_WORDS:
        return (position for position in places if looks_like_a_word(terms[position]))
    words = frozenset(islice((place for place, term in enumerate(terms) if looks_like_a_word(term)), MOST_WORDS))
    return (position for position in places if position in words)


def _near(position: int, word: str, known: Known, parts: Sequence[_Seen], search: _Search) -> Iterator[NearTerm]:
    """The nearest terms by one search, then the marks that some record here bears."""
    found: dict[str, tuple[int, int]] = {}
    for part, rows in parts:
        for term, likeness, count in _nearest(word, known.silent, part, rows, search):
            found[term] = (likeness, count + found.get(term, (0, 0))[1])
    best = sorted(found, key=lambda term: (-found[term][0], term))[:NEAREST]
    if not best and not known.marks:
        return
    likeness_of = {term: found[term][0] for term in best} | dict(known.marks)
    counts = {term: found[term][1] for term in best} | _counted([mark for mark, _ in known.marks], parts)
    for term, likeness in likeness_of.items():
        if counts[term]:
            yield NearTerm(
                position=position,
                term=term,
                likeness=likeness,
                frequency=counts[term],
                spoken=search is NearTerms.spoken,
            )


def _nearest(
    word: str, silent: int, part: Part, authorized: AuthorizedRows, search: _Search
) -> Iterator[tuple[str, int, int]]:
    """The nearest terms of a part that its authorized rows hold: text, likeness above ``silent``, and how many do."""
    segment = part.segment
    near = _remembered(search, segment.near, word, silent)
    if not near.likenesses:
        return
    postings = segment.postings
    dense, allowed = postings.dense, authorized.bits
    found = kernel.held(near.rows, postings.offsets, postings.ordinals, dense.rows, dense.bits, allowed, NEAREST)
    for place, count in found.tolist():
        yield near.text(place, postings.terms), near.likenesses[place], count


def _remembered(search: _Search, dictionary: NearTerms, word: str, silent: int) -> _Likest:
    """What ``search`` finds: the words of queries repeat, and who may see a term is not asked here yet.

    ``silent`` depends on search and word alone.
    """
    known = _FOUND.setdefault(dictionary, {})
    found = known.get((search, word))
    if found is None:
        if len(known) >= REMEMBERED:
            known.clear()
        found = known[search, word] = _Likest(search(dictionary, word), silent)
    return found


def _counted(marks: Sequence[str], parts: Sequence[_Seen]) -> dict[str, int]:
    """Authorized records that bear each mark."""
    if not marks:
        return {}
    texts = [encoded(mark) for mark in marks]
    counts = np.zeros(len(marks), np.int64)
    for part, rows in parts:
        postings = part.segment.postings
        counts += rows.frequencies(postings, postings.terms.find_all(texts))
    return dict(zip(marks, counts.tolist(), strict=True))
