"""Text to index terms: the one analyzer for records and queries.

It composes what ``shards.analysis`` knows of scripts and languages; it knows nothing of fields or of field weights.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Final, NamedTuple

from shards.analysis import cjk, persian
from shards.analysis.compounds import pieces_of
from shards.analysis.identifiers import parts_of, without_clitic
from shards.analysis.lexicons import ACTIONS, CONCEPTS, LEXICONS, TOOL_WORDS
from shards.analysis.marks import ACTION, CONCEPT, Marks
from shards.analysis.scripts import CONNECTORS, chunks_of, is_unsegmented, letters_of, normalise, runs_of
from shards.analysis.stemming import stem
from shards.analysis.stopwords import FILLERS, STOPWORDS
from shards.messages import MAX_TERMS

CACHED_WORDS: Final = 1 << 17
"""Distinct words whose terms are remembered; a catalogue of 150,000 tools has about this many, 40 MB."""

LONGEST_CACHED: Final = 40
"""Characters of a word that is remembered: longer ones are data, or clauses of a script without spaces, and rarely come
twice. It bounds the memory, too."""

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


class Token(NamedTuple):
    """A term with its weight in a query; 0 for a stop word."""

    term: str
    weight: int


class Spoken(NamedTuple):
    """The terms of a text in order, repeats kept, and those of them that are no stop words."""

    terms: list[str]
    words: list[str]


_Terms = tuple[tuple[str, ...], tuple[str, ...]]


def tokens_of(text: str) -> list[Token]:
    """Tokens of a text in order, stop words and repeats kept."""
    tokens: list[Token] = []
    for chunk in chunks_of(text):
        tokens += (_analysed_before if len(chunk) <= LONGEST_CACHED else _analysed)(chunk)
    return tokens


def spoken_in(text: str) -> Spoken:
    """As ``tokens_of``, for records, to which the weights in a query mean nothing."""
    terms: list[str] = []
    words: list[str] = []
    for chunk in chunks_of(text):
        its_terms, its_words = _told(chunk)
        terms += its_terms
        words += its_words
    return Spoken(terms, words)


def terms_of(text: str) -> tuple[str, ...]:
    """Index terms of a text in order, repeats kept; empty for text without letters or digits."""
    return tuple(spoken_in(text).terms)


def analyze_query(text: str) -> AnalyzedQuery:
    """Terms and relative weights of a query, then its actions; stop words only where there is nothing else."""
    tokens = tokens_of(text)
    weights: dict[str, int] = {}
    repeated: set[str] = set()
    for term, weight in tokens:
        if term in weights:
            repeated.add(term)
        if weight > weights.get(term, -1):
            weights[term] = weight
    chosen = {term: weight for term, weight in weights.items() if weight} or dict.fromkeys(weights, FULL)
    is_long = len(chosen) > LONG_QUERY
    for term, weight in chosen.items():
        said = weight if term in repeated else weight * UNREPEATED // FULL
        chosen[term] = said * TALK // FULL if is_long and _is_verb(term) else said
    action_weight = next((weight for most, weight in ACTION_WEIGHTS if len(chosen) <= most), ACTION_WEIGHTS[-1][1])
    chosen |= dict.fromkeys(actions_of([term for term, _ in tokens]), action_weight)
    chosen |= _concept_weights(tokens)
    if len(chosen) > MAX_TERMS:
        kept = set(sorted(chosen, key=chosen.__getitem__, reverse=True)[:MAX_TERMS])
        chosen = {term: weight for term, weight in chosen.items() if term in kept}
    length = sum(term[0] != CONCEPT for term in chosen)
    return AnalyzedQuery(terms=tuple(chosen), weights=tuple(chosen.values()), length=length)


def name_key(text: str) -> str:
    """The normal form under which exact names meet: ``find_symbol``, ``findSymbol`` and ``Find symbol`` share one.

    All that is not a letter, mark or digit falls away; a name of nothing else (an emoji) is its own key.
    """
    return name_part(text) or normalise(text).casefold().strip()


def name_part(text: str) -> str:
    """What a span adds to the ``name_key`` of a text around it: letters, marks and digits; empty where it has none.

    The part of several words, with blanks between them, is their parts one after the other: no step of a normal form
    reaches across a blank.
    """
    return letters_of(normalise(text).casefold())


def _analysed(chunk: str) -> tuple[Token, ...]:
    """The tokens of a part of a text, no longer than one word mostly."""
    if chunk.isascii() and chunk.isalnum():
        return _tokens_of_word(chunk)
    return tuple([token for run in runs_of(chunk) for token in _tokens_of_run(run)])


def _told(chunk: str) -> _Terms:
    return _told_before(chunk) if len(chunk) <= LONGEST_CACHED else _told_now(chunk)


def _told_now(chunk: str) -> _Terms:
    """As in ``Spoken``; where there is nothing to leave out, which is mostly, both are one."""
    if (bare := chunk.strip(CONNECTORS)) != chunk:
        # The end of a sentence, mostly: no run begins or ends with a connector.
        return _told(bare)
    tokens = _analysed(chunk)
    terms = tuple([term for term, _ in tokens])
    words = tuple([term for term, weight in tokens if weight])
    return (terms, terms) if len(words) == len(terms) else (terms, words)


_analysed_before: Final = lru_cache(maxsize=CACHED_WORDS)(_analysed)
_told_before: Final = lru_cache(maxsize=CACHED_WORDS)(_told_now)


def _tokens_of_run(run: str) -> tuple[Token, ...]:
    if is_unsegmented(run):
        return tuple(_token(pair) for clause in cjk.clauses(run) for pair in cjk.pairs(clause))
    return _tokens_of_word(run)


def _tokens_of_word(run: str) -> tuple[Token, ...]:
    """Parts of a word, the pieces of each, then the joined form where there is more than one part."""
    parts = [part.casefold() for part in parts_of(without_clitic(run))]
    if len(parts) == 1:
        pieces = pieces_of(parts[0])
        return (_word(parts[0]), *map(_piece, pieces)) if pieces else (_word(parts[0]),)
    words = [part for part in parts if part not in persian.AFFIXES and not _is_stray(part)]
    tokens = [token for part in words for token in (_word(part), *map(_piece, pieces_of(part)))]
    joined = "".join(parts)
    if joined and not joined.isdigit() and len(joined) <= LONGEST_TERM:
        whole = _word(joined)
        if whole.term not in {token.term for token in tokens}:
            tokens.append(Token(whole.term, min(whole.weight, JOINED) if words else whole.weight))
    return tuple(tokens)


def _piece(word: str) -> Token:
    """A word inside a part that joins several; beside the part itself it counts less."""
    term, weight = _word(word)
    return Token(term, min(weight, JOINED))


def _is_stray(part: str) -> bool:
    """A single Latin letter cut from a longer word (the "s" of "user's", the "i" of "iPhone") says nothing alone."""
    return len(part) == 1 and "a" <= part <= "z"


def _word(word: str) -> Token:
    return _stemmed(word) if len(word) <= LONGEST_CACHED else _stemmed.__wrapped__(word)


@lru_cache(maxsize=CACHED_WORDS)
def _stemmed(word: str) -> Token:
    if word in STOPWORDS:
        return Token(word, 0)
    weight = FILLER if word in FILLERS else NUMBER if word.isdigit() else FULL
    return Token(stem(word)[:LONGEST_TERM], weight)


@lru_cache(maxsize=CACHED_WORDS)
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
    for mark, position in _CONCEPTS.said_in([term for term, _ in tokens]):
        term, full = tokens[position]
        weight = full * (CONCEPT_SHARE if term.isascii() else BRIDGE_SHARE) // FULL
        if weight > weights.get(mark, 0):
            weights[mark] = weight
    return weights


@lru_cache(maxsize=CACHED_WORDS)
def _is_verb(term: str) -> bool:
    """Whether a term is a word of some action; a pair of characters is only a part of what is meant, verb or not."""
    return term in _ACTIONS and not is_unsegmented(term)


def asks_for_a_tool(terms: Iterable[str]) -> bool:
    """Whether analysed query terms hold an action or a word for a tool; a question about a fact holds neither."""
    return any(map(_says_tool, terms))


@lru_cache(maxsize=CACHED_WORDS)
def _says_tool(term: str) -> bool:
    return term.startswith(ACTION) or term in _TOOLS


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
