"""Words of Arabic script that the lexicons know, without what Persian and Arabic write onto them.

«فاکتورهاشونو», «فاکتورا» and «الفاتورة» / «فاتورتي» are cut only because a known word remains: no rule of endings alone
tells «گزارش» (report) from «کتابش» (his book). Words that no lexicon knows are left to the light stemmers.
"""

import re
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from typing import Final

from shards.analysis.arabic import without_article
from shards.analysis.lexicons import ACTIONS, CONCEPTS

_ENDING: Final = re.compile(
    "(?:ها|ا|ان|یان|ات|ین|ون)?(?:ی|یی)?"  # plurals, then ezafe or "a certain"
    "(?:م|ت|ش|ام|اش|مان|تان|شان|مون|تون|شون|ه|هم|نا|ک|کم)?"  # whose, Persian written and spoken, Arabic
    "(?:و|رو|را)?|تر|ترین"  # the object as it is spoken; comparatives
)
_PLURAL: Final = re.compile("ها(?:ی|یی)?(?:م|ت|ش|مان|تان|شان|مون|تون|شون)?(?:و|رو|را)?|ا[متش](?:و|رو|ون)")
_LONGEST_ENDING: Final = 8
_SHORT: Final = 2
"""Letters of a word, such as «چک», that takes only plain plurals: more endings would make other words of it."""

_PREFIXES: Final = "وفبلک"
_SHORTEST_AFTER_PREFIX: Final = 4


def base_of(word: str) -> str | None:
    """The known word inside a normalised word, the word itself if it is known; None if there is none."""
    return next(filter(None, map(_without_ending, _without_beginning(word))), None)


def _without_beginning(word: str) -> Iterator[str]:
    yield word
    yield without_article(word)
    if word[0] in _PREFIXES and len(word) > _SHORTEST_AFTER_PREFIX:
        yield word[1:]


def _without_ending(word: str) -> str | None:
    if word in _KNOWN:
        return _KNOWN[word]
    for size in range(1, min(_LONGEST_ENDING, len(word) - _SHORT) + 1):
        stem, ending = word[:-size], word[-size:]
        if stem in _KNOWN and _ends(stem, ending):
            return _KNOWN[stem]
        if stem + "ه" in _KNOWN and ending.startswith(("ات", "ت")):  # جلسات of جلسه, فاتورتي of فاتورة
            return _KNOWN[stem + "ه"]
    return None


def _ends(stem: str, ending: str) -> bool:
    if stem.endswith("ه") and ending.startswith("ا") and stem[:-1] in _KNOWN:
        return False  # کتابها is کتاب with ها, not کتابة with ا
    if stem.endswith("ا") and ending.startswith("ت"):
        return False  # شركات is شركة with ات, not شركاء with ت
    return bool((_ENDING if len(stem) > _SHORT else _PLURAL).fullmatch(ending))


def _known(lines: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Known word -> itself, or the shorter word of the same line that it is a form of («نقدی» of «نقد»)."""
    known: dict[str, str] = {}
    parts: set[str] = set()
    for line in lines:
        arabic = [word for word in line if "\u0600" <= word[0] <= "\u06ff"]
        words = {word.replace("_", "") for word in arabic}
        known.update((word, _shortest_form(word, words)) for word in words if known.get(word) != word)
        parts.update(part for word in arabic for part in word.split("_") if len(part) > _SHORT)
    bases = {part: _shortest_form(part, known) for part in parts}
    return bases | known


def _shortest_form(word: str, words: Container[str]) -> str:
    forms = (word[:end] for end in range(_SHORT + 1, len(word)))
    return next((form for form in forms if form in words and _ENDING.fullmatch(word[len(form) :])), word)


_KNOWN: Final = _known(chain(ACTIONS.values(), CONCEPTS.values()))
