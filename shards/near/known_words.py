"""Known words: those of the lexicons and the words that say nothing, whatever a catalogue holds.

A query word among them is spelt right, so nothing is looked for in its place. A word near one may be a misspelt stop
word, or mean what the known word says: its marks then count, even where no record holds the word itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from shards.analysis.lexicons import ACTIONS, CONCEPTS, TOOL_WORDS
from shards.analysis.stopwords import FILLERS, STOPWORDS
from shards.analyzer import actions_of, concepts_of, terms_of
from shards.near.terms import NearTerms
from shards.text_table import TextTable
from shards.utf8 import encoded

MARGIN: Final = 20
"""Likeness below the best one within which a term may be meant, too."""

_KEPT: Final = 1 << 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The known words near an unknown one, spelt like it or saying it in another script.

    Attributes:
        silent: likeness of the nearest word that says nothing, 0 for none.
        marks: what the nearest others say, each mark with its best likeness, which is above ``silent``.
    """

    silent: int
    marks: tuple[tuple[str, int], ...]


class _Vocabulary:
    """All known words, as terms."""

    def __init__(self) -> None:
        words = {word for entries in (ACTIONS, CONCEPTS, TOOL_WORDS) for said in entries.values() for word in said}
        self._silent = frozenset(STOPWORDS) | {term for word in FILLERS for term in terms_of(word)}
        self.terms = self._silent.union(_single_terms(words))
        # In the order of a text table's rows.
        self._words = sorted(self.terms, key=encoded)
        self._near = NearTerms(TextTable.of(list(map(encoded, self._words))))
        self._marks: dict[str, tuple[str, ...]] = {}

    def near(self, term: str) -> tuple[Known, Known]:
        written, spoken = self._near.both(term)
        as_written = self._known(written, 0)
        # The lexicons hold Persian in Latin letters, too: sounding like such a word says nothing of a Persian one.
        return as_written, self._known(spoken if term[0] <= "z" else (), as_written.silent)

    def _known(self, rows: Sequence[tuple[int, int]], silent: int) -> Known:
        if not rows:
            return Known(silent=silent, marks=())
        found = [(self._words[row], likeness) for row, likeness in rows]
        silent = max((likeness for word, likeness in found if word in self._silent), default=silent)
        marks: dict[str, int] = {}
        for word, likeness in found:
            if likeness > silent and likeness >= found[0][1] - MARGIN:
                for mark in self._marks_of(word):
                    marks.setdefault(mark, likeness)
        return Known(silent=silent, marks=tuple(marks.items()))

    def _marks_of(self, word: str) -> tuple[str, ...]:
        marks = self._marks.get(word)
        if marks is None:
            marks = self._marks[word] = (*actions_of((word,)), *concepts_of((word,)))
        return marks


def is_known(term: str) -> bool:
    """Whether a term is a known word."""
    return term in _vocabulary().terms


@lru_cache(maxsize=_KEPT)
def known_near(term: str) -> tuple[Known, Known]:
    """The known words spelt like a term that ``looks_like_a_word`` and is not known, and those of other scripts."""
    return _vocabulary().near(term)


def prepare() -> None:
    """Read and analyse the known words now, a fifth of a second, so that no search waits for it."""
    _vocabulary()


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    return _Vocabulary()


def _single_terms(words: set[str]) -> Iterator[str]:
    """The terms of those words that are one; phrases are left to their parts."""
    for word in words:
        terms = terms_of(word)
        if len(terms) == 1:
            yield terms[0]
