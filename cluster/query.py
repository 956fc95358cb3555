"""One analysis per query: its terms, and the spans that may name a tool, a capability or a domain exactly.

It knows nothing of what the index holds; a mention that no authorized record answers to costs and reveals nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from cluster.embedder import EmbeddedQuery
from shards.analysis.scripts import is_unsegmented, normalise
from shards.analysis.stopwords import STOPWORDS
from shards.analyzer import analyze_query, asks_for_a_tool, name_key
from shards.messages import Mention, MentionField

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

_WORD: Final = re.compile(r"[^\W_]\w*(?:[-.:/'\u200c]\w+)*")
_CODE: Final = re.compile(r"`([^`\n]{1,120})`")
_QUOTED: Final = re.compile(r"(?<!\w)[\"'«“‘「『]([^\"'»”’」』\n]{2,120})[\"'»”’」』](?!\w)")
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
    mentions: tuple[Mention, ...]
    length: int
    embedded: EmbeddedQuery | None = None
    meant: tuple[Meant, ...] = ()
    crowd: int = 0


def plan_query(text: str) -> AnalyzedRequest:
    """Analyse the words of a query. Text without letters or digits has no terms, and at most itself as a mention."""
    text = _bounded(text)
    analyzed = analyze_query(text)
    words = _WORD.findall(text)
    names = dict.fromkeys(_keys(_sure_names(text, words)), NAMED)
    for key in _keys(chain(_QUOTED.findall(text), _compounds(words), _runs(words, NAME_WORDS))):
        names.setdefault(key, PERHAPS_NAMED)
    mentions = _mentions(MentionField.NAME, names)
    labels = _keys(_labels(words))
    mentions += _mentions(MentionField.CAPABILITY, dict.fromkeys(labels, CAPABILITY))
    if asks_for_a_tool(analyzed.terms):
        mentions += _mentions(MentionField.DOMAIN, dict.fromkeys(labels, DOMAIN))
    return AnalyzedRequest(
        terms=analyzed.terms,
        term_weights=analyzed.weights,
        mentions=tuple(mentions),
        length=analyzed.length,
    )


def _bounded(text: str) -> str:
    if text.isascii() or len(normal := normalise(text)) <= LONGEST:
        return text
    return normal[:LONGEST]


def _sure_names(text: str, words: list[str]) -> list[str]:
    """The whole query, code in backticks, and words shaped like no word of prose: ``find_symbol``, ``FindSymbol``."""
    return [text, *_CODE.findall(text), *filter(_IDENTIFIER.search, words)]


def _compounds(words: list[str]) -> list[str]:
    return [word for word in words if not word.isalnum()]


def _labels(words: list[str]) -> Iterator[str]:
    """Pieces that may be a capability or a domain."""
    plain = [word for word in words if word.casefold() not in STOPWORDS]
    pieces = (
        word[start : start + length]
        for word in plain
        if is_unsegmented(word)
        for length in UNSEGMENTED_LENGTHS
        for start in range(len(word) - length + 1)
    )
    return chain(pieces, _runs(plain, LABEL_WORDS))


def _runs(words: list[str], lengths: Iterable[int]) -> Iterator[str]:
    """Runs of adjacent words that neither begin nor end with a stop word."""
    plain = [word.casefold() not in STOPWORDS for word in words]
    return (
        " ".join(words[start : start + length])
        for length in lengths
        for start in range(len(words) - length + 1)
        if plain[start] and plain[start + length - 1]
    )


def _keys(spans: Iterable[str]) -> list[str]:
    """Distinct normal forms in order, no more than are ever looked up: a long text has thousands."""
    keys: dict[str, None] = {}
    seen: set[str] = set()
    for span in spans:
        if span not in seen and (key := name_key(span)):
            keys[key] = None
        seen.add(span)
        if len(keys) == MOST_PER_FIELD:
            break
    return list(keys)


def _mentions(field: MentionField, bonuses: dict[str, int]) -> list[Mention]:
    chosen = list(bonuses.items())[:MOST_PER_FIELD]
    return [Mention(field=field, key=key, bonus=bonus) for key, bonus in chosen]
