"""Expansion: what the words of a query that no authorized record holds may have meant, added to the query.

Pure functions of the first round's replies: a typo, Persian or Russian in Latin letters, or an inflection that no
stemmer knows is joined by its nearest terms. A word that is known anywhere is left alone. Asking again is the task of
``cluster.retrieval``.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.language import language_of
from cluster.language_words import LATIN
from cluster.merge import summed_frequencies
from cluster.query import AnalyzedRequest, Meant
from shards.analysis.lexicons import ENGLISH
from shards.analysis.marks import ACTION, CONCEPT
from shards.messages import MAX_TERMS, NearTerm, ShardHits
from shards.near.known_words import MARGIN
from shards.near.search import NEAREST
from shards.near.terms import SAME_WORD
from shards.statistics import frequency_weights

MOST_TERMS: Final = 3
"""Terms that are added for one word; marks come besides."""

MARK_SHARE: Final = 64
"""Weight of a mark, of ``SAME_WORD``: less than where the word itself is known to say it."""

READABLE_SHARE: Final = 0.4
"""Share of a query's Latin words that are small words of a language written so, or English words of the lexicons, from
which on its other words are names and mistakes, not Persian or Russian in Latin letters."""

_PERSIAN: Final = "fa"
_LATIN_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expanded:
    """The question with the added terms behind its own, and the summed weights of all of them (int64[n_terms])."""

    question: AnalyzedRequest
    weights: npt.NDArray[np.int64]


def expanded(text: str, question: AnalyzedRequest, replies: Collection[ShardHits]) -> Expanded | None:
    """``question`` with what its unknown words may have meant; None where nothing is to be added.

    ``text`` is the query as it was asked, ``replies`` are those of all shards that answered ``question``.
    """
    if not any(hits.near for hits in replies):
        return None
    frequencies = summed_frequencies(replies, len(question.terms))
    unknown = [term for hits in replies for term in hits.near if frequencies[term.position] == 0]
    near = _summed(_plausible(text, question, unknown))
    added: dict[str, _Addition] = {}
    for position in sorted({term.position for term in near}):
        for addition in _additions(question, [term for term in near if term.position == position]):
            held = added.get(addition.meant.term)
            if held is None or held.weight < addition.weight:
                added[addition.meant.term] = addition
    room = MAX_TERMS - len(question.terms)
    return _joined(question, frequencies, list(added.values())[:room], replies) if added and room else None


def reads_as_latin(text: str) -> bool:
    """Whether the Latin words of a text are of a language that is written so."""
    words = _LATIN_WORD.findall(text.casefold())
    if not words or language_of(text) == _PERSIAN:
        return False
    readable = sum(word in ENGLISH or any(language != _PERSIAN for language in LATIN.get(word, ())) for word in words)
    return readable >= READABLE_SHARE * len(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Addition:
    meant: Meant
    weight: int
    frequency: int


def _plausible(text: str, question: AnalyzedRequest, near: Sequence[NearTerm]) -> list[NearTerm]:
    """Without what sounds like a word of a query that is not written as it sounds."""
    as_written = [term for term in near if not (term.spoken and question.terms[term.position][0] <= "z")]
    # Which language the text is in is looked at only where it matters: it costs more than all the rest here.
    return as_written if len(as_written) < len(near) and reads_as_latin(text) else list(near)


def _summed(near: Iterable[NearTerm]) -> list[NearTerm]:
    """Each term once per word and way of being near, with its frequency over all shards; likest first, then by text."""
    summed: dict[tuple[int, str, bool], NearTerm] = {}
    for term in near:
        key = (term.position, term.term, term.spoken)
        held = summed.get(key)
        summed[key] = replace(term, frequency=term.frequency + (held.frequency if held else 0))
    return sorted(summed.values(), key=lambda term: (-term.likeness, term.term, term.spoken))


def _additions(question: AnalyzedRequest, near: Sequence[NearTerm]) -> Iterator[_Addition]:
    """What is added for one word: its likest terms and marks, none of them much less like it than the likest."""
    marks = [term for term in near if _is_mark(term.term)]
    # Beyond the nearest of each way, not every shard has told what it holds.
    written, spoken = (
        [term for term in near if term.spoken is way and not _is_mark(term.term)][:NEAREST] for way in (False, True)
    )
    terms = sorted((*written, *spoken), key=lambda term: (-term.likeness, term.term))[:MOST_TERMS]
    least = max(term.likeness for term in near) - MARGIN
    for term in (*terms, *marks):
        if term.likeness >= least and term.term not in question.terms:
            share = MARK_SHARE if _is_mark(term.term) else SAME_WORD
            weight = question.term_weights[term.position] * term.likeness * share // SAME_WORD**2
            yield _Addition(
                meant=Meant(word=question.terms[term.position], term=term.term, likeness=term.likeness),
                weight=max(1, weight),
                frequency=term.frequency,
            )


def _is_mark(term: str) -> bool:
    return term[0] in (ACTION, CONCEPT)


def _joined(
    question: AnalyzedRequest,
    frequencies: Sequence[int],
    added: Sequence[_Addition],
    replies: Collection[ShardHits],
) -> Expanded:
    term_weights = (*question.term_weights, *(addition.weight for addition in added))
    counts = np.array([*frequencies, *(addition.frequency for addition in added)], np.int64)
    return Expanded(
        question=replace(
            question,
            terms=(*question.terms, *(addition.meant.term for addition in added)),
            term_weights=term_weights,
            meant=tuple(addition.meant for addition in added),
        ),
        weights=frequency_weights(sum(hits.authorized for hits in replies), counts, term_weights),
    )
