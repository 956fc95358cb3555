"""Light stemming of Arabic words: the article with its conjunctions.

After light10 (Larkey, Ballesteros & Connell, "Light Stemming for Arabic Information Retrieval", 2007), without its
endings: those of ``shards.analysis.persian`` serve both languages, since a script does not tell them apart.
"""

from typing import Final

_ARTICLES: Final = ("وال", "بال", "کال", "فال", "ال", "لل")
_SHORTEST: Final = 3


def without_article(word: str) -> str:
    """A normalised word without a leading article; at least three letters stay."""
    for article in _ARTICLES:
        if word.startswith(article) and len(word) >= len(article) + _SHORTEST:
            return word[len(article) :]
    return word
