"""Stems: one word of any script to the form under which its inflections meet.

The script picks the stemmer, never a guess at the language of a text, so records and queries cannot disagree.
"""

from typing import Final

import snowballstemmer

from shards.analysis import arabic, persian

_ENGLISH: Final = snowballstemmer.stemmer("english")
_RUSSIAN: Final = snowballstemmer.stemmer("russian")
_LONGEST: Final = 40
"""Longer strings are keys and hashes, not words; the Snowball stemmers would only cost time."""


def stem(word: str) -> str:
    """The stem of a normalised, case-folded word; a word of a script without a stemmer is its own stem."""
    first = word[0]
    if len(word) > _LONGEST:
        return word
    if "a" <= first <= "z":
        return str(_ENGLISH.stemWord(word))
    if "\u0400" <= first <= "\u04ff":
        return str(_RUSSIAN.stemWord(word))
    if "\u0600" <= first <= "\u06ff":
        return persian.stem(arabic.without_article(word))
    return word
