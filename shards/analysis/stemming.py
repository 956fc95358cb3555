"""Stems: one word of any script to the form under which its inflections meet.

The script picks the stemmer, never a guess at the language of a text, so records and queries cannot disagree.
"""

from typing import Final

import snowballstemmer

from shards.analysis import arabic, attached, persian
from shards.analysis.lexicons import KEPT

_ENGLISH: Final = snowballstemmer.stemmer("english")
_RUSSIAN: Final = snowballstemmer.stemmer("russian")
_KEPT: Final = {form: word for word in KEPT for form in (word, f"{word}s", f"{word[:-1]}ies")}
_LONGEST: Final = 40
"""Longer strings are keys and hashes, not words; the Snowball stemmers would only cost time."""


def stem(word: str) -> str:
    """The stem of a normalised, case-folded word; a word of a script without a stemmer is its own stem.

    Snowball leaves the polite imperative «отправьте» as it is; without its ending it meets «отправь» and «отправить».
    """
    first = word[0]
    if len(word) > _LONGEST:
        return word
    if "a" <= first <= "z":
        return _KEPT.get(word) or str(_ENGLISH.stemWord(word))
    if "\u0400" <= first <= "\u04ff":
        return str(_RUSSIAN.stemWord(word.removesuffix("те") if word.endswith("ьте") else word))
    if "\u0600" <= first <= "\u06ff":
        return attached.base_of(word) or persian.stem(arabic.without_article(word))
    return word
