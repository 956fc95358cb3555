"""Light stemming of Arabic words: the article with its conjunctions, and the commonest endings.

After "Light Stemming for Arabic Information Retrieval" (Larkey, Ballesteros & Connell 2007, table 2, light10), without the
endings that Persian words carry as part of their stem.
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
