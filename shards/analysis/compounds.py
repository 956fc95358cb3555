"""Compounds: identifiers that join English words without a sign, as ``containerapp`` and ``apigateway`` do.

A word parts only into words that the lexicons know, so that no carpet becomes a car and a pet of some other list.
"""

from itertools import chain
from typing import Final

from shards.analysis.lexicons import ENGLISH

_SHORTEST: Final = 7
"""Letters of a word that is looked into; shorter ones are words of their own."""

_LONGEST: Final = 40
_SHORTEST_PIECE: Final = 3
_LINKS: Final = frozenset({"or", "by", "to", "of", "in", "and", "for", "from", "with"})
"""Words that may stand between two others."""


def pieces_of(word: str) -> tuple[str, ...]:
    """The two or three words that a casefolded word is joined of; empty if it is a known word or no such compound."""
    if not _SHORTEST <= len(word) <= _LONGEST or word in _WORDS or not (word.isascii() and word.isalpha()):
        return ()
    ends = range(_SHORTEST_PIECE, len(word) - _SHORTEST_PIECE + 1)
    starts = [end for end in ends if word[:end] in _WORDS]
    two = ((word[:end], word[end:]) for end in starts if word[end:] in _WORDS)
    three = (
        (word[:end], word[end:last], word[last:])
        for end in starts
        for last in range(end + 2, len(word) - _SHORTEST_PIECE + 1)
        if word[last:] in _WORDS and (word[end:last] in _WORDS or word[end:last] in _LINKS)
    )
    return next(chain(two, three), ())


_WORDS: Final = frozenset(
    form for word in ENGLISH if len(word) >= _SHORTEST_PIECE and word.isalpha() for form in (word, f"{word}s")
)
