"""How many tokens a text will cost a language model: the seam of counters, and the estimate that needs no vocabulary.

It is no tokenizer; ``cluster.tokenizer`` reads one. The estimate counts UTF-8 bytes by class, so that scripts without
spaces are neither free nor ruinous.
"""

import string
from typing import Final, Protocol

_PUNCTUATION: Final = string.punctuation.encode()
_ASCII: Final = bytes(range(128))

FIELD_TOKENS: Final = 2
"""Name and punctuation around each field of a record that is not empty."""


class TokenCounter(Protocol):
    """Counts tokens, always the same for the same text. Hashable, because counts are remembered by their counter.

    Attributes:
        name: stands in every answer beside the counts.
    """

    def __hash__(self) -> int:
        """See the class."""

    @property
    def name(self) -> str:
        """See the class."""

    def count(self, text: str) -> int:
        """Tokens of ``text``, 0 for an empty one."""


class Estimate:
    """The counter where no tokenizer is named."""

    name: Final = "estimate"

    def count(self, text: str) -> int:
        """See ``estimate_tokens``."""
        return estimate_tokens(text)


ESTIMATE: Final = Estimate()


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, 0 for an empty one; never smaller for a longer text that starts with this one.

    One token per 4 ASCII letters, digits or blanks (English words), per 2 ASCII punctuation marks (JSON, code), and
    per 3 bytes of all else: 1 per Chinese character, 2 per 3 Persian, Arabic or Cyrillic letters. Byte-pair
    vocabularies of current models lie below that for prose, so that a budget is kept rather than overrun.
    """
    raw = text.encode("utf-8", "surrogatepass")
    foreign = 0 if text.isascii() else len(raw.translate(None, _ASCII))
    words = len(raw.translate(None, _PUNCTUATION)) - foreign
    marks = len(raw) - foreign - words
    return -(-(3 * words + 6 * marks + 4 * foreign) // 12)
