"""The judge of answers: whether a text says what the gold says. A rule, so that it costs nothing and never wavers.

It knows words, not meaning: it is strict on values (all of a value's terms must be there) and counts shares of longer
texts. Answers of a model in other words would be judged too low by it.
"""

from typing import Final

from shards.analysis.stopwords import STOPWORDS
from shards.analyzer import terms_of

ENOUGH: Final = 0.6
"""Share of the gold's terms that a text, list or comparison has to say."""

LONGEST_TIMES: Final = 6
"""A text that says this many times as much as the gold says it no more: it would hold nearly anything."""

_TYPED: Final = frozenset({"date", "name"})
_SHORT: Final = 40
"""Terms that an answer may have whatever the gold says."""

_LITTLE: Final = frozenset({"within", "from", "after", "for", "in", "at", "ago"})
_NUMBER_WORDS: Final = {
    "1": "one один одна один одного یک", "2": "two twice два две двух دو", "3": "three три трёх سه",
    "4": "four четыре چهار", "5": "five пять پنج", "6": "six шесть شش", "7": "seven семь هفت",
    "8": "eight восемь هشت", "9": "nine девять نه", "10": "ten десять ده", "12": "twelve двенадцать دوازده",
    "15": "fifteen پانزده", "20": "twenty двадцать بیست", "30": "thirty тридцать سی", "60": "sixty шестьдесят شصت",
}  # fmt: skip
_NUMBERS: Final = {
    term: digits for digits, written in _NUMBER_WORDS.items() for word in written.split() for term in terms_of(word)
}

_YES: Final = frozenset({"yes", "بله", "да"})
_NO: Final = frozenset({"no", "خیر", "нет"})


def is_right(answer: str, gold: str, shape: str) -> bool:
    """Whether ``answer`` says ``gold``, as an answer of this shape has to."""
    if shape == "boolean":
        return _word(answer) != "" and _word(answer) == _word(gold)
    said, wanted = _terms(answer), _terms(gold)
    if not wanted or len(said) > max(_SHORT, LONGEST_TIMES * len(wanted)):
        return False
    if shape == "amount":
        return _same_amount(said, wanted)
    share = len(wanted & said) / len(wanted)
    return share == 1.0 if shape in _TYPED else share >= ENOUGH


def holds(text: str, gold: str, shape: str) -> bool:
    """Whether a text of any length has in it what ``gold`` says; not for yes and no."""
    there, wanted = _terms(text), _terms(gold)
    if shape == "amount":
        return _same_amount(there, wanted)
    share = len(wanted & there) / len(wanted) if wanted else 0.0
    return share == 1.0 if shape in _TYPED else share >= ENOUGH


def _same_amount(said: set[str], wanted: set[str]) -> bool:
    """Every number of the gold, and a word beside it where there is one: its unit, or what is counted."""
    numbers = {term for term in wanted if term.isdigit()}
    others = wanted - numbers
    return numbers <= said and (not others or bool(others & said) or not (said - numbers))


def _word(text: str) -> str:
    """Yes, no, or neither: the first word decides, in any language."""
    first = next(iter(text.casefold().replace(".", " ").replace(",", " ").split()), "")
    return "yes" if first in _YES else "no" if first in _NO else ""


def _terms(text: str) -> set[str]:
    """What a text says, numbers as digits."""
    terms = (_NUMBERS.get(term, term) for term in terms_of(text))
    return {term for term in terms if term not in STOPWORDS and term not in _LITTLE}
