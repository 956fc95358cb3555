"""Typed values in a sentence: amounts, dates, names. Found by their shape, chosen by what the question asks for.

It judges no sentence. All patterns are linear on the sentences of ``cluster.answering.sentences``, which are bounded.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.answering import value_words as words
from shards.analyzer import terms_of

MOST_VALUES: Final = 32
"""Values of one sentence that are looked at: prose has a few, a table of numbers is not asked here."""

FAR: Final = 100
"""Distance from a word that is not there."""

_PLAIN: Final = str.maketrans("۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩٫٬يكى", "01234567890123456789.,یکی")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as it stands in its sentence: ``start`` and ``end`` in characters; ``kind`` is a closed word."""

    text: str
    start: int
    end: int
    kind: str


def plain(text: str) -> str:
    """``text`` with ASCII digits and Persian letters, each character in its place."""
    return text.translate(_PLAIN)


_NUMBER: Final = r"(?:\d{1,3}(?:[ ,.\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
_RANGE: Final = rf"{_NUMBER}(?:\s?(?:-|–|to|до|تا)\s?{_NUMBER})?"
_COUNT: Final = rf"(?:{_RANGE}|(?:{words.NUMBER_WORDS})\b)"
_OFTEN: Final = rf"(?:(?:once|twice)\s)?(?:every|{words.ARTICLES})"
_TIMED: Final = rf"(?:(?:{_OFTEN}\s)?{_COUNT}|\b{_OFTEN})"
_START: Final = r"(?<![\w.,:/#-])"
_SCALE: Final = rf"(?:\s?(?:{words.SCALES})\b)?"

_AMOUNTS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("money", rf"{words.CURRENCY_SIGNS}\s?{_RANGE}{_SCALE}"),
        ("money", rf"{_START}{_COUNT}{_SCALE}\s?(?:{words.CURRENCY_SIGNS}|(?:{words.CURRENCIES})\b)"),
        ("percent", rf"{_START}{_COUNT}\s?(?:%|٪|(?:{words.PERCENT})\b)"),
        (
            "time",
            rf"{_START}{_TIMED}\s(?:(?:{words.TIME_KINDS})\s)?(?:{words.TIMES})\b(?:\s(?:{words.AFTER_TIMES})\b)?",
        ),
        ("size", rf"{_START}{_COUNT}\s?(?:{words.SIZES})\b"),
        ("count", rf"{_START}{_RANGE}{_SCALE}(?:\s[^\W\d_]+)?"),
        ("count", rf"{_START}(?:{words.NUMBER_WORDS})\s[^\W\d_]+"),
    )
)

_DAYS: Final = (
    rf"(?:(?:from|с|از)\s)?\b\d{{1,2}}(?:st|nd|rd|th)?(?:\s?(?:and|-|–|to|и|по|до|و|تا)\s?\d{{1,2}})?"
    rf"\s(?:of\s)?(?:{words.MONTHS})\b(?:,?\s(?:سال\s)?\d{{4}}\b)?"
)

_DATES: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("date", r"(?<!\d)\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|(?<!\d)\d{1,2}[./]\d{1,2}[./]\d{2,4}(?!\d)"),
        ("date", _DAYS),
        ("date", rf"\b(?:{words.MONTHS})\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}}\b)?"),
        ("date", rf"\b(?:{words.MONTHS})\s\d{{4}}\b"),
        ("part", r"(?<![\w.])(?:13|14|19|20)\d{2}(?![\w.])"),
        ("part", rf"\b(?:{words.WEEKDAYS})\b|(?<!\d)\d{{1,2}}:\d{{2}}(?!\d)"),
    )
)

_NAMES: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("code", r"`([^`]{1,120})`"),
        ("quote", r"«([^»]{1,80})»|“([^”]{1,80})”|\"([^\"]{1,80})\""),
        ("address", r"https?://[^\s)>\]]+|[\w.+-]+@[\w-]+\.[\w.-]*\w"),
        ("code", r"(?<![\w/.])(?:[\w%~./\\-]*[\w%]\.[a-z]{2,5}|(?:/[\w.-]+){2,}|--[\w-]+|%[A-Z]+%[\\\w.-]*)(?!\w)"),
        ("code", r"\b[A-Z]{1,6}[-_]\d{2,6}\b|\b[A-Z]+_[A-Z_]+\b"),
        ("path", r"\b[A-Z][\w ]{1,30}(?: > [A-Z][\w ]{1,30})+"),
        (
            "proper",
            r"(?:[A-ZА-ЯЁ][\w’-]*|[A-Z]{2,}\d*)(?:\s(?:(?:of|and|de|von|by)\s)?(?:[A-ZА-ЯЁ][\w’-]*|\d+(?:\.\d+)*))*",
        ),
    )
)


def amounts_in(sentence: str) -> Iterator[Value]:
    """Amounts, each place once, the most telling pattern first."""
    return _found(_AMOUNTS, plain(sentence), sentence)


def dates_in(sentence: str) -> Iterator[Value]:
    """Dates, and parts of dates after them."""
    return _found(_DATES, plain(sentence), sentence)


def names_in(sentence: str) -> Iterator[Value]:
    """Code spans, quoted words, addresses, identifiers, menu paths, and words with capitals."""
    return _found(_NAMES, sentence, sentence)


def _found(patterns: Sequence[tuple[str, re.Pattern[str]]], text: str, original: str) -> Iterator[Value]:
    taken: list[tuple[int, int]] = []
    for kind, pattern in patterns:
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            start, end = match.span(group)
            if len(taken) < MOST_VALUES and all(end <= first or last <= start for first, last in taken):
                taken.append((start, end))
                yield Value(text=original[start:end], start=start, end=end, kind=kind)


_ASKS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("time", words.ASKS_TIME),
        ("money", words.ASKS_MONEY),
        ("size", words.ASKS_SIZE),
        ("percent", words.ASKS_PERCENT),
    )
)


def asked_kind(question: str) -> str:
    """The kind of amount that a question asks for: by a unit it names, else by its words; empty if it says none."""
    text = plain(question)
    for kind, unit in (("time", words.TIMES), ("money", words.CURRENCIES), ("size", words.SIZES)):
        # After "how many" or its like: "how many days", "چند روز", "сколько дней".
        if re.search(rf"(?:how many|what|сколько|چند)\s(?:\w+\s)?(?:{unit})\b", text, re.IGNORECASE):
            return kind
    if re.search(r"how many|number of|چند تا|چند نفر|تعداد", text, re.IGNORECASE):
        return "percent" if re.search(words.PERCENT, text, re.IGNORECASE) else "count"
    return next((kind for kind, asks in _ASKS if asks.search(text)), "")


def best_amount(question: str, sentence: str) -> Value | None:
    """The amount of a sentence that a question is after: of its kind, with its unit, near its words; not its own."""
    asked, wanted = frozenset(terms_of(question)), asked_kind(question)
    given = {value.text.casefold() for value in amounts_in(question)}
    places = _places(sentence, asked)
    best: tuple[float, Value] | None = None
    for value in amounts_in(sentence):
        if value.text.casefold() in given:
            continue
        unit = {term for term in terms_of(value.text) if not term.isdigit()}
        score = 3.0 * (value.kind == wanted) + 2.0 * bool(unit & asked) - 1.0 * (value.kind == "count" != wanted)
        score -= _distance(value, places) / 100
        if best is None or score > best[0]:
            best = (score, value)
    return None if best is None or (wanted not in {"", "count", best[1].kind} and best[0] < 1) else best[1]


def best_duration(question: str, sentence: str) -> Value | None:
    """The amount of time in a sentence that is nearest to the words of the question."""
    places = _places(sentence, frozenset(terms_of(question)))
    found = [value for value in amounts_in(sentence) if value.kind == "time"]
    return min(found, key=lambda one: _distance(one, places), default=None)


def best_date(question: str, sentence: str) -> Value | None:
    """The date of a sentence that is nearest to the words of the question; one that the question names is none."""
    places = _places(sentence, frozenset(terms_of(question)))
    given = {value.text.casefold() for value in dates_in(question)}
    found = [value for value in dates_in(sentence) if value.kind == "date" and value.text.casefold() not in given]
    return min(found, key=lambda one: _distance(one, places), default=None)


def hours_of(_question: str, sentence: str) -> Value | None:
    """A whole sentence that names years, weekdays or times of day: alone, one of them says too little."""
    if next(dates_in(sentence), None) is None:
        return None
    return Value(text=sentence, start=0, end=len(sentence), kind="part")


_NAME_RANK: Final = {"code": 0, "address": 0, "quote": 1, "path": 1, "proper": 2}


def best_name(question: str, sentence: str) -> Value | None:
    """The name of a sentence that the question does not say itself; one that only begins the sentence comes last."""
    asked = frozenset(terms_of(question))
    places = _places(sentence, asked)
    found = [value for value in names_in(sentence) if not set(terms_of(value.text)) <= asked]
    return min(
        found,
        key=lambda one: (
            one.kind == "proper" and one.start == 0,
            _NAME_RANK[one.kind],
            _distance(one, places),
        ),
        default=None,
    )


def _places(sentence: str, asked: frozenset[str]) -> list[tuple[int, int]]:
    """Where the words of a sentence stand that the question says too."""
    words_of = re.finditer(r"\w+", sentence)
    return [word.span() for word in words_of if not asked.isdisjoint(terms_of(word[0]))]


def _distance(value: Value, places: Sequence[tuple[int, int]]) -> int:
    """Characters between a value and the nearest of these places outside it."""
    apart = (
        max(start - value.end, value.start - end) for start, end in places if end <= value.start or start >= value.end
    )
    return min(apart, default=FAR)
