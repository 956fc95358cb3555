"""Light stemming of Persian words: plural, comparative and possessive endings, and the prefix of the present tense.

Light means that a wrong cut is worse than none: it looks no word up, and always leaves at least three letters.
"""

from typing import Final

_SHORTEST: Final = 3

_PLURALS: Final = (
    "هایمان", "هایتان", "هایشان", "هایی", "هایم", "هایت", "هایش", "های", "ها",
)  # fmt: skip
_ENDINGS: Final = ("مان", "تان", "شان", "ترین", "یان", "ان", "ات", "ین", "تر")
_VERB_PREFIXES: Final = ("نمی", "می")

AFFIXES: Final = frozenset(
    {*_PLURALS, *_VERB_PREFIXES, "ترین", "تر", "ام", "ات", "اش", "ای", "ایم", "اید", "اند", "ی", "مان", "تان", "شان"}
)
"""Parts that are no words of their own when a zero-width non-joiner or a space sets them apart."""


def stem(word: str) -> str:
    """The light stem of a normalised word in Arabic script."""
    word = _without_prefix(word)
    shorter = _without_ending(word, _PLURALS)
    if shorter == word:
        shorter = _without_ending(word, _ENDINGS)
    return _without_ending(shorter, ("ی",))


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
