"""One analysis per query: its terms, and the spans that may name a tool, a capability or a domain exactly.

It knows nothing of what the index holds; a mention that no authorized record answers to costs and reveals nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, compress, islice
from operator import and_
from typing import Final

from cluster.embedder import EmbeddedQuery
from shards.analysis.scripts import is_unsegmented, normalise
from shards.analysis.stopwords import STOPWORDS
from shards.analyzer import analyze_query, asks_for_a_tool, name_key, name_part
from shards.mentions import MentionField, Mentions

NAMED: Final = 400_000_000
"""Bonus of a tool that the query surely names: above every term score of the built-in ranker, so it comes first."""

PERHAPS_NAMED: Final = 600_000
"""Bonus of a tool whose name stands in the query as plain words: about what one or two more terms give."""

CAPABILITY: Final = 200_000
DOMAIN: Final = 100_000

MOST_PER_FIELD: Final = 32
"""Look-ups per query and field, the surest first; what a longer text holds beyond them is left to its terms."""

LONGEST: Final = 8192
"""Characters of a query's normal form that are read: one ligature can stand for 18 letters, so 4,096 for 73,728."""

NAME_WORDS: Final = (5, 4, 3)
"""Lengths of the plain runs of words looked up as names; of two words and fewer, too many are no names (measured)."""

LABEL_WORDS: Final = (1, 2, 3)
"""Lengths of the runs looked up as capabilities and domains, stop words left out: "send an email" is send_email."""

UNSEGMENTED_LENGTHS: Final = (2, 3, 4)
"""Characters of a piece of a Chinese, Japanese or Thai run looked up as a capability or domain."""

REMEMBERED_WORDS: Final = 1 << 15
"""Distinct words of queries that a process remembers; about 20 MB."""

LONGEST_REMEMBERED: Final = 40
"""Characters of such a word."""

PLANS: Final = 1024
"""Analysed queries that a process remembers, because agents ask the same again; about 5 MB."""

LONGEST_PLAN: Final = 512
"""Characters of such a query."""

_WORD: Final = re.compile(r"[^\W_]\w*(?:[-.:/'\u200c]\w+)*")
_CODE: Final = re.compile(r"`([^`\n]{1,120})`")
_QUOTED: Final = re.compile(r"(?<!\w)[\"'«“‘「『]([^\"'»”’」』\n]{2,120})[\"'»”’」』](?!\w)")
_QUOTES: Final = "\"'«“‘「『"
_IDENTIFIER: Final = re.compile(
    r"\w_\w"  # find_symbol
    r"|[^\W\d]\.[^\W\d]"  # weather.get
    r"|[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}"  # findSymbol, FINDSymbol
    r"|^[^\W_]{3,}(?:-[^\W_]{3,})+$"  # list-issues, but not e-mail, sign-up or wi-fi
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """A term that stands in for a word of the query that no authorized record holds; likeness 1..256."""

    word: str
    term: str
    likeness: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedRequest:
    """A query as the cluster sees it.

    Attributes:
        terms: distinct index terms in order of first appearance.
        term_weights: 1..256 per term, 256 = full.
        mentions: look-ups beside the terms, surest first, at most ``MOST_PER_FIELD`` per field.
        length: how many of the terms are words or actions, not concepts; picks the ranker's mix.
        embedded: the query's vector and the models behind it, None for a search by words alone.
        meant: the last of the terms, where they were added for unknown words (``cluster.expansion``).
        crowd: authorized records that were searched; before the shards have said so, what is expected.
    """

    terms: tuple[str, ...]
    term_weights: tuple[int, ...]
    mentions: Mentions
    length: int
    embedded: EmbeddedQuery | None = None
    meant: tuple[Meant, ...] = ()
    crowd: int = 0


def plan_query(text: str) -> AnalyzedRequest:
    """Analyse the words of a query. Text without letters or digits has no terms, and at most itself as a mention."""
    return (_planned_before if len(text) <= LONGEST_PLAN else _planned)(text)


def _planned(text: str) -> AnalyzedRequest:
    text = _bounded(text)
    analyzed = analyze_query(text)
    return AnalyzedRequest(
        terms=analyzed.terms,
        term_weights=analyzed.weights,
        mentions=Mentions.grouped(spans(text, analyzed.terms)),
        length=analyzed.length,
    )


_planned_before: Final = lru_cache(maxsize=PLANS)(_planned)


def spans(text: str, terms: Collection[str]) -> dict[MentionField, Sequence[tuple[tuple[str, ...], int]]]:
    """The keys that a query of these terms may name, the surest first, as groups of one bonus."""
    words = [word for chunk in text.split() for word in _words_of(chunk)]
    sure = _distinct(_sure_names(text, words))
    possible = tuple([key for key in _distinct(_possible_names(text, words)) if key not in sure])
    labels = _distinct(_labels([word for word in words if word.is_plain]))
    fields: dict[MentionField, Sequence[tuple[tuple[str, ...], int]]] = {
        MentionField.NAME: ((sure, NAMED), (possible[: MOST_PER_FIELD - len(sure)], PERHAPS_NAMED)),
        MentionField.CAPABILITY: ((labels, CAPABILITY),),
    }
    if asks_for_a_tool(terms):
        fields[MentionField.DOMAIN] = ((labels, DOMAIN),)
    return fields


def _bounded(text: str) -> str:
    if text.isascii() or len(normal := normalise(text)) <= LONGEST:
        return text
    return normal[:LONGEST]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word of queries, looked at once.

    Attributes:
        part: its ``name_part``.
        is_plain: it is no stop word.
        is_identifier: it is shaped like no word of prose: ``find_symbol``, ``FindSymbol``.
        is_compound: it holds more than letters and digits.
        labels: keys of its pieces that may be labels, where its script does not part words.
    """

    text: str
    part: str
    is_plain: bool
    is_identifier: bool
    is_compound: bool
    labels: tuple[str, ...]


def _words_of(chunk: str) -> tuple[_Word, ...]:
    """The words of a text without blanks. A long one is data, or a clause without blanks: rarely said twice."""
    return _remembered(chunk) if len(chunk) <= LONGEST_REMEMBERED else _looked_at(chunk)


def _looked_at(chunk: str) -> tuple[_Word, ...]:
    return tuple(
        _Word(
            text=word,
            part=name_part(word),
            is_plain=word.casefold() not in STOPWORDS,
            is_identifier=_IDENTIFIER.search(word) is not None,
            is_compound=not word.isalnum(),
            labels=_distinct(_pieces(word)) if is_unsegmented(word) else (),
        )
        for word in _WORD.findall(chunk)
    )


_remembered: Final = lru_cache(maxsize=REMEMBERED_WORDS)(_looked_at)


def _sure_names(text: str, words: Iterable[_Word]) -> Iterator[str]:
    """Keys of the whole query, of code in backticks, and of words shaped like no word of prose."""
    yield name_key(text)
    if "`" in text:
        yield from map(name_key, _CODE.findall(text))
    yield from (_key([word]) for word in words if word.is_identifier)


def _possible_names(text: str, words: Sequence[_Word]) -> Iterator[str]:
    """Keys of what stands in quotes, of compounds, and of runs of words."""
    quoted = map(name_key, _QUOTED.findall(text)) if any(map(text.__contains__, _QUOTES)) else ()
    return chain(quoted, [_key([word]) for word in words if word.is_compound], _runs(words, NAME_WORDS))


def _labels(words: Sequence[_Word]) -> Iterator[str]:
    """Keys of pieces that may be a capability or a domain."""
    return chain(chain.from_iterable([word.labels for word in words]), _runs(words, LABEL_WORDS))


def _pieces(word: str) -> Iterator[str]:
    return (
        name_key(word[start : start + length])
        for length in UNSEGMENTED_LENGTHS
        for start in range(len(word) - length + 1)
    )


def _runs(words: Sequence[_Word], lengths: Iterable[int]) -> Iterator[str]:
    """Keys of runs of adjacent words that neither begin nor end with a stop word."""
    plain = [word.is_plain for word in words]
    parts = [word.part for word in words]
    whole = all(parts)

    def of_length(length: int) -> Iterator[str]:
        keys: Iterable[str] = map("".join, zip(*[parts[place:] for place in range(length)], strict=False))
        if not whole:
            keys = (key or _key(words[start : start + length]) for start, key in enumerate(keys))
        return compress(keys, map(and_, plain, plain[length - 1 :]))

    return chain.from_iterable(map(of_length, lengths))


def _key(words: Sequence[_Word]) -> str:
    """The ``name_key`` of words with blanks between them."""
    return "".join([word.part for word in words]) or name_key(" ".join([word.text for word in words]))


def _distinct(keys: Iterable[str]) -> tuple[str, ...]:
    """Distinct keys in order, no more than are ever looked up: a long text has thousands."""
    rest = iter(keys)
    found = dict.fromkeys(filter(None, islice(rest, MOST_PER_FIELD)))
    while len(found) < MOST_PER_FIELD and (key := next(rest, None)) is not None:
        if key:
            found[key] = None
    return tuple(found)
