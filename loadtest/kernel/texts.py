"""Texts: every record's terms by our analyzer, so that peers index exactly what we do; kept in a file.

Fields, weights and marks of meaning are ours alone; a peer gets one flat text of name, namespace, description,
parameters and tags, as in ``evals.peers.flat_text``.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from loadtest.catalogue import Catalogue
from loadtest.kernel.contender import Line, Lines, Question
from loadtest.queries import non_repeating
from loadtest.tiers import tier_of
from shards.analyzer import ANALYZER_ID, terms_of, tokens_of
from shards.record import Record

_LONGEST: Final = 64
"""Terms of a question, as many as ours looks up."""


def analysed(catalogue: Catalogue, size: int, folder: Path) -> Lines:
    """``size`` records; the file is written where it is not there yet."""
    path = folder / f"texts-{catalogue.digest}-{ANALYZER_ID}-{size}"
    if not path.exists():
        waiting = path.with_suffix(".part")
        known: dict[tuple[str, ...], str] = {}
        with waiting.open("w", encoding="utf-8") as file:
            for record in catalogue.sized(size):
                file.write(f"{_text(record, known)}\n")
        waiting.replace(path)
    return partial(_lines, path, size)


def questions(queries: tuple[str, ...], count: int) -> tuple[Question, ...]:
    """``count`` different questions that have a term."""
    asked = (Question(text=text, terms=_terms(text)) for text in non_repeating(queries, 1))
    return tuple(islice((question for question in asked if question.terms), count))


def _text(record: Record, known: dict[tuple[str, ...], str]) -> str:
    """Terms of the name and the namespace, and of the rest, which copies share with their original."""
    shared = (record.description, record.parameters, *record.tags)
    if (rest := known.get(shared)) is None:
        rest = known[shared] = " ".join(terms_of("\n".join(shared)))
    return " ".join((*terms_of(record.name), *terms_of(record.namespace), rest))


def _lines(path: Path, size: int) -> Iterator[Line]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            yield Line(text=line.rstrip("\n"), tier=tier_of(number, size))


def _terms(text: str) -> tuple[str, ...]:
    tokens = tokens_of(text)
    said = [token.term for token in tokens if token.weight] or [token.term for token in tokens]
    return tuple(dict.fromkeys(said))[:_LONGEST]
