"""Text cut to a number of tokens where it may be cut: after a paragraph, else a sentence, else a word.

It never changes what it keeps, and knows no records.
"""

import re
from collections.abc import Callable
from typing import Final

_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
_SENTENCE: Final = re.compile(r"([.!?؟۔।]++[\"'”’»)\]]*+(?=\s)|[。！？]+[”’」』）]*|\n)|[.!?؟۔।]++[\"'”’»)\]]*+")
"""Ends of sentences, in group 1: a full stop inside of ``example.com`` or ``3.14`` is none.

A run of stops that ends no sentence is matched as a whole, too: looked at once from each of its stops, a text of
nothing else would take minutes.
"""

_FIRST_LOOK: Final = 8
"""Characters for each token from which on the length that fits is searched."""


def cut_text(text: str, limit_tokens: int, count: Callable[[str], int]) -> str:
    """The longest start of ``text`` of at most ``limit_tokens`` that ends at a boundary, if one is near.

    A paragraph's end is taken first, then a sentence's, then a blank; near means in the second half of what fits. A
    script without blanks is cut between two characters. ``count`` gives the tokens of a text, which are hardly ever
    more for the start of a text than for the whole.
    """
    if limit_tokens <= 0:
        return ""
    # Doubled rather than halved: what is counted stays near what fits, however long the text is.
    fits, too_long = 0, min(len(text), _FIRST_LOOK * limit_tokens)
    while count(text[:too_long]) <= limit_tokens:
        if too_long == len(text):
            return text
        fits, too_long = too_long, min(len(text), 2 * too_long)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if count(text[:middle]) <= limit_tokens else (fits, middle)
    end = next((end for end in _ends(text, fits) if end > fits // 2), fits)
    while end and count(text[:end].rstrip()) > limit_tokens:
        end -= 1
    return text[:end].rstrip()


def _ends(text: str, fits: int) -> tuple[int, int, int]:
    """The last boundary of each kind that lies within the first ``fits`` characters, 0 where there is none."""
    paragraph = sentence = 0
    for found in _PARAGRAPH.finditer(text, 0, fits + 1):
        paragraph = found.start()
    # One character more shows whether a stop at the end is followed by a blank.
    for found in _SENTENCE.finditer(text, fits // 2, fits + 1):
        if found[1] is not None and found.end() <= fits:
            sentence = found.end()
    return paragraph, sentence, max(text.rfind(" ", 0, fits), 0)
