"""Marks: index terms for what a text says in any of several words and languages, an action or a concept.

They join what stems cannot: "bill" and «فاکتور» both say the concept invoice. The words stand in ``configs/lexicons``;
which texts of a record or query are asked, and what a mark is worth, is the caller's business.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from shards.analysis.lexicons import Entries

ACTION: Final = "→"
CONCEPT: Final = "≈"
"""First characters of marks. No analysed text gives a term with one, so a mark never meets a word by chance."""

Analyse = Callable[[str], Sequence[str]]
"""Text -> terms; handed in, so that the words of a lexicon meet those of any text."""

Run = tuple[tuple[str, ...], tuple[str, ...]]
"""The terms that must follow the first one of a word or phrase, and the marks that it then says."""

_BLOCK_BITS: Final = 10
"""A block of 1,024 code points holds the letters of Latin, another those of Cyrillic and Arabic; Han has thirty."""


class Marks:
    """The marks that runs of terms say. Words are analysed when a term of their script is first met, not at import."""

    def __init__(self, sign: str, entries: Entries, analyse: Analyse) -> None:
        self._analyse = analyse
        self._runs: dict[str, tuple[Run, ...]] = {}
        self._waiting: dict[int, list[tuple[str, str]]] = {}
        for name, words in entries.items():
            for word in words:
                self._waiting.setdefault(ord(word[0]) >> _BLOCK_BITS, []).append((word, sign + name))
        self._first_waiting = _first_of(self._waiting)

    def said_in(self, terms: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Each mark that a text says, with the position of the first term that says it; in order, with repeats.

        The longest phrase wins: "exchange rate" is no rate, and 数据库, two overlapping pairs, is database, not data.
        """
        runs = self._runs
        covered = 0
        for index, term in enumerate(terms):
            # One comparison for the terms of a script that was met before, which nearly all are.
            if term[0] >= self._first_waiting:
                self._load(term)
            if term not in runs or index < covered:
                continue
            for rest, marks in runs[term]:
                if not rest or rest == tuple(terms[index + 1 : index + 1 + len(rest)]):
                    covered = index + 1 + len(rest)
                    for mark in marks:
                        yield mark, index
                    break

    def __contains__(self, term: str) -> bool:
        """Whether a term alone says a mark."""
        return any(True for _ in self.said_in((term,)))

    def _load(self, term: str) -> None:
        """Analyse the waiting words of a term's script."""
        block = ord(term[0]) >> _BLOCK_BITS
        if words := self._waiting.get(block):
            # They leave the waiting ones only afterwards: another thread must not pass by before they are known.
            self._runs.update(_compiled(words, self._analyse))
            self._waiting.pop(block, None)
            self._first_waiting = _first_of(tuple(self._waiting))


def _first_of(blocks: Iterable[int]) -> str:
    """The first character of the first block; no term begins with the one that stands for none."""
    return chr(min(blocks, default=sys.maxunicode >> _BLOCK_BITS) << _BLOCK_BITS)


def _compiled(words: Iterable[tuple[str, str]], analyse: Analyse) -> dict[str, tuple[Run, ...]]:
    found: dict[str, dict[tuple[str, ...], set[str]]] = {}
    for word, mark in words:
        for first, *rest in _ways_to_write(word, analyse):
            found.setdefault(first, {}).setdefault(tuple(rest), set()).add(mark)
    return {
        first: tuple((rest, tuple(sorted(rests[rest]))) for rest in sorted(rests, key=len, reverse=True))
        for first, rests in found.items()
    }


def _ways_to_write(word: str, analyse: Analyse) -> Iterator[Sequence[str]]:
    """The terms of a phrase one after the other, and its joined form: "to do", "todo"."""
    yield analyse(word.replace("_", " "))
    if "_" in word:
        yield analyse(word.replace("_", ""))
