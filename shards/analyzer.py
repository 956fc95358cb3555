"""Text to index terms: the one analyzer for records and queries.

It composes what ``shards.analysis`` knows of scripts and languages; it knows nothing of fields or of field weights.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final

from shards.analysis import cjk, persian
from shards.analysis.compounds import pieces_of
from shards.analysis.identifiers import parts_of, without_clitic
from shards.analysis.lexicons import ACTIONS, CONCEPTS, LEXICONS, TOOL_WORDS
from shards.analysis.marks import ACTION, CONCEPT, Marks
from shards.analysis.scripts import ASCII_RUN, RUN, is_unsegmented, normalise
from shards.analysis.stemming import stem
from shards.analysis.stopwords import FILLERS, STOPWORDS
from shards.messages import MAX_TERMS

CACHED_RUNS: Final = 1 << 17
"""Distinct words whose terms are remembered; a catalogue of 150,000 tools has about this many, 40 MB."""

LONGEST_TERM: Final = 64
"""Characters of a term that count; what is longer is data, not words."""

FULL: Final = 256
"""Weight of a term in a query, for a word that says what is wanted."""

FILLER: Final = 24
"""Weight of the words of asking itself."""

JOINED: Final = 128
"""Weight of ``getuser`` beside ``get`` and ``user``: the parts already count."""

NUMBER: Final = 128
"""Weight of a bare number, which is mostly an argument."""

UNREPEATED: Final = 180
"""Weight, of ``FULL``, of a word said once; what a query says twice it is about."""

ACTION_WEIGHTS: Final = ((6, 192), (12, 96), (MAX_TERMS, 24))
"""Weight of an action by the number of other terms: in a short query the verb is the wish, in a long one it is talk."""

CONCEPT_SHARE: Final = 32
"""Weight, of ``FULL``, of a concept beside the word that says it: the same word counts for more than another."""

BRIDGE_SHARE: Final = 128
"""As ``CONCEPT_SHARE``, for words of other scripts than Latin: most tools have English names that they cannot meet."""

LONG_QUERY: Final = 12
"""Terms above which a query tells a story; its verbs are then those of talk, as in "can you find out"."""

TALK: Final = 200
"""Weight, of ``FULL``, of a verb's own word in a long query: it would draw all tools named after that verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedQuery:
    """A query as the index sees it.

    Attributes:
        terms: distinct terms in order of first appearance, at most ``shards.messages.MAX_TERMS``.
        weights: 1..256 per term, 256 = full weight.
        length: how many of the terms are words or actions; concepts only repeat what the words say.
    """

    terms: tuple[str, ...]
    weights: tuple[int, ...]
    length: int


@dataclass(frozen=True, slots=True)
class Token:
    """A term with its weight in a query; 0 for a stop word."""

    term: str
    weight: int


def tokens_of(text: str) -> list[Token]:
    """Tokens of a text in order, stop words and repeats kept."""
    ascii_only = text.isascii()
    runs = ASCII_RUN.findall(text) if ascii_only else RUN.findall(normalise(text))
    tokens: list[Token] = []
    for run in runs:
        if not ascii_only and is_unsegmented(run):
            tokens.extend(_token(pair) for clause in cjk.clauses(run) for pair in cjk.pairs(clause))
        else:
            tokens.extend(_tokens_of_run(run))
    return tokens


def terms_of(text: str) -> tuple[str, ...]:
    """Index terms of a text in order, repeats kept; empty for text without letters or digits."""
    return tuple(token.term for token in tokens_of(text))


def analyze_query(text: str) -> AnalyzedQuery:
    """Terms and relative weights of a query, then its actions; stop words only where there is nothing else."""
    tokens = tokens_of(text)
    counts = Counter(token.term for token in tokens)
    weights: dict[str, int] = {}
    for token in tokens:
        weights[token.term] = max(token.weight, weights.get(token.term, 0))
    chosen = {term: weight for term, weight in weights.items() if weight} or dict.fromkeys(weights, FULL)
    is_long = len(chosen) > LONG_QUERY
    for term, weight in chosen.items():
        said = weight * UNREPEATED // FULL if counts[term] == 1 else weight
        chosen[term] = said * TALK // FULL if is_long and _is_verb(term) else said
    action_weight = next((weight for most, weight in ACTION_WEIGHTS if len(chosen) <= most), ACTION_WEIGHTS[-1][1])
    chosen |= dict.fromkeys(actions_of([token.term for token in tokens]), action_weight)
    chosen |= _concept_weights(tokens)
    kept = set(sorted(chosen, key=chosen.__getitem__, reverse=True)[:MAX_TERMS])
    terms = tuple(term for term in chosen if term in kept)
    length = sum(not term.startswith(CONCEPT) for term in terms)
    return AnalyzedQuery(terms=terms, weights=tuple(chosen[term] for term in terms), length=length)


def name_key(text: str) -> str:
    """The normal form under which exact names meet: ``find_symbol``, ``findSymbol`` and ``Find symbol`` share one.

    All that is not a letter, mark or digit falls away; a name of nothing else (an emoji) is its own key.
    """
    normal = normalise(text).casefold()
    return "".join(RUN.findall(normal)).translate(_SEPARATORS) or normal.strip()


@lru_cache(maxsize=CACHED_RUNS)
def _tokens_of_run(run: str) -> tuple[Token, ...]:
    """Parts of a word, the pieces of each, then the joined form where there is more than one part."""
    parts = [part.casefold() for part in parts_of(without_clitic(run))]
    if len(parts) == 1:
        return (_word(parts[0]), *_pieces(parts[0]))
    words = [part for part in parts if part not in persian.AFFIXES and not _is_stray(part)]
    tokens = [token for part in words for token in (_word(part), *_pieces(part))]
    joined = "".join(parts)
    if joined and not joined.isdigit() and len(joined) <= LONGEST_TERM:
        whole = _word(joined)
        if whole.term not in {token.term for token in tokens}:
            tokens.append(Token(whole.term, min(whole.weight, JOINED) if words else whole.weight))
    return tuple(tokens)


def _pieces(part: str) -> Iterator[Token]:
    """The words inside a part that joins several; beside the part itself they count less."""
    return (Token(token.term, min(token.weight, JOINED)) for token in map(_word, pieces_of(part)))


def _is_stray(part: str) -> bool:
    """A single Latin letter cut from a longer word (the "s" of "user's", the "i" of "iPhone") says nothing alone."""
    return len(part) == 1 and "a" <= part <= "z"


@lru_cache(maxsize=CACHED_RUNS)
def _word(word: str) -> Token:
    if word in STOPWORDS:
        return Token(word, 0)
    weight = FILLER if word in FILLERS else NUMBER if word.isdigit() else FULL
    return Token(stem(word)[:LONGEST_TERM], weight)


@lru_cache(maxsize=CACHED_RUNS)
def _token(pair: str) -> Token:
    return Token(pair, 0 if pair in STOPWORDS else FILLER if pair in FILLERS else FULL)


def actions_of(terms: Sequence[str]) -> tuple[str, ...]:
    """Action marks that the terms of a text say, distinct, in order; they never equal a term of a text."""
    return tuple(dict.fromkeys(mark for mark, _ in _ACTIONS.said_in(terms)))


def concepts_of(terms: Sequence[str]) -> tuple[str, ...]:
    """Concept marks that the terms of a text say, distinct, in order; they never equal a term of a text."""
    return tuple(dict.fromkeys(mark for mark, _ in _CONCEPTS.said_in(terms)))


def _concept_weights(tokens: Sequence[Token]) -> dict[str, int]:
    """Concepts of a query and their weights, each by the weightiest word that says it; a stop word says none."""
    weights: dict[str, int] = {}
    for mark, position in _CONCEPTS.said_in([token.term for token in tokens]):
        token = tokens[position]
        weight = token.weight * (CONCEPT_SHARE if token.term.isascii() else BRIDGE_SHARE) // FULL
        if weight > weights.get(mark, 0):
            weights[mark] = weight
    return weights


def _is_verb(term: str) -> bool:
    """Whether a term is a word of some action; a pair of characters is only a part of what is meant, verb or not."""
    return term in _ACTIONS and not is_unsegmented(term)


def asks_for_a_tool(terms: Iterable[str]) -> bool:
    """Whether analysed query terms hold an action or a word for a tool; a question about a fact holds neither."""
    return any(term.startswith(ACTION) or term in _TOOLS for term in terms)


_SEPARATORS: Final = dict.fromkeys(map(ord, "-_.:'\u200c"))


def _derived_id() -> str:
    """A digest of all that decides which terms a text gives, so that no change can forget to raise it."""
    sources = sorted(
        (
            entry
            for folder in ("shards", "shards.analysis")
            for entry in files(folder).iterdir()
            if _is_analysis(folder, entry.name)
        ),
        key=lambda entry: entry.name,
    )
    digest = hashlib.blake2b(digest_size=6)
    for entry in sources:
        digest.update(entry.read_bytes())
    for lexicon in LEXICONS:
        digest.update(lexicon.read_bytes())
    digest.update(f"{unicodedata.unidata_version} {version('snowballstemmer')}".encode())
    return f"text-{digest.hexdigest()}"


def _is_analysis(folder: str, name: str) -> bool:
    return name.endswith(".py") and (folder == "shards.analysis" or name in {"analyzer.py", "impacts.py"})


ANALYZER_ID: Final = _derived_id()
"""Changes whenever any text could give other terms or other static values; part of every snapshot."""

_ACTIONS: Final = Marks(ACTION, ACTIONS, terms_of)
_CONCEPTS: Final = Marks(CONCEPT, CONCEPTS, terms_of)
_TOOLS: Final = Marks(ACTION, TOOL_WORDS, terms_of)
