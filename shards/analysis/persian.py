"""Persian words: light stems by their endings and the prefix of the present tense, and all forms of a verb.

Light means that a wrong cut is worse than none: it looks no word up, and always leaves at least three letters.
"""

from collections.abc import Iterator
from typing import Final

_SHORTEST: Final = 3

_PLURALS: Final = (
    "هایمان", "هایتان", "هایشان", "هایی", "هایم", "هایت", "هایش", "های", "ها",
)  # fmt: skip
_ENDINGS: Final = ("مان", "تان", "شان", "ترین", "یان", "ان", "ات", "ین", "تر")
_VERB_PREFIXES: Final = ("نمی", "می")

AFFIXES: Final = frozenset(
    {*_PLURALS, *_VERB_PREFIXES, "ترین", "تر", "ام", "ات", "اش", "ای", "ایم", "اید", "اند", "ی", "مان", "تان", "شان"}
    | {"هامون", "هاتون", "هاشون", "هام", "هات", "هاش", "مون", "تون", "شون"}
)
"""Parts that are no words of their own when a zero-width non-joiner or a space sets them apart."""

_PERSONS: Final = ("م", "د", "یم", "ید", "ند")
_SPOKEN_PERSONS: Final = ("ی", "ه", "ین", "ن")
_PAST_PERSONS: Final = ("", "م", "ی", "یم", "ید", "ین", "ند", "ن", "ه")


def stem(word: str) -> str:
    """The light stem of a normalised word in Arabic script."""
    word = _without_prefix(word)
    shorter = _without_ending(word, _PLURALS)
    if shorter == word:
        shorter = _without_ending(word, _ENDINGS)
    return _without_ending(shorter, ("ی",))


def conjugated(past: str, present: str) -> Iterator[str]:
    """The forms of a verb that requests use, written and spoken: ساخت/ساز gives ساختن, بساز, می‌سازم, ساخته and so on.

    A bare present stem is left out, since most are other words too (خر, بین, ده), a short one also with no more than an
    ending; and so are negations.
    """
    yield from (past + person for person in _PAST_PERSONS)
    if len(present) >= _SHORTEST:
        yield from (present + person for person in _PERSONS)
    wish = "بی" if present.startswith("ا") else "ب"
    for person in ("", *_PERSONS, *_SPOKEN_PERSONS):
        yield wish + present + person
    for person in (*_PERSONS, *_SPOKEN_PERSONS):
        yield "می" + present + person


def _without_prefix(word: str) -> str:
    for prefix in _VERB_PREFIXES:
        if word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST:
            return word[len(prefix) :]
    return word


def _without_ending(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) >= len(ending) + _SHORTEST:
            return word[: -len(ending)]
    return word
