"""Unheld words: what a question says and no field of a record does. What a word is worth is left to the analyzer."""

from collections.abc import Collection, Iterator

from shards.analysis.cjk import pairs
from shards.analysis.scripts import is_unsegmented, normalise, runs_of
from shards.analyzer import FILLER, tokens_of
from shards.impacts import postings_of
from shards.record import Record


def unheld_words(question: str, record: Record) -> tuple[str, ...]:
    """The words of a question of which the record holds no form, each once, in order.

    Stop words, words of asking and bare numbers are left out. Of a script without spaces it is the longest pieces.
    """
    held = postings_of(record).keys()
    runs = runs_of(normalise(question))
    return tuple(dict.fromkeys(word for run in runs for word in _unheld(run, held)))


def _unheld(run: str, held: Collection[str]) -> Iterator[str]:
    if is_unsegmented(run):
        yield from _pieces(run, held)
        return
    terms = {token.term for token in tokens_of(run) if token.weight > FILLER and not token.term.isdigit()}
    if terms and terms.isdisjoint(held):
        yield run.casefold()


def _pieces(run: str, held: Collection[str]) -> Iterator[str]:
    """The longest pieces all of whose pairs of characters are unheld."""
    start = 0
    for place, pair in enumerate([*pairs(run), ""]):
        if pair and pair not in held and _says_something(pair):
            continue
        if place > start:
            yield run[start : place + 1]
        start = place + 1


def _says_something(pair: str) -> bool:
    return any(token.weight > FILLER for token in tokens_of(pair))
