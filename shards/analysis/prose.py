"""Prose: where the first sentence of a description ends.

What a tool does stands in its first sentence; the rest is conditions, and counts less.
"""

import re
from typing import Final

SHORTEST_SUMMARY: Final = 25
"""Characters before which no sentence ends: "e.g. ", "Deprecated. " and the like open a summary, they are none."""

_END: Final = re.compile(r"[.!?؟]\s+(?=[^a-z])|[。！？\n]")


def split_summary(text: str) -> tuple[str, str]:
    """The first sentence and the rest; their concatenation is the text."""
    for end in _END.finditer(text):
        if end.end() >= SHORTEST_SUMMARY:
            return text[: end.end()], text[end.end() :]
    return text, ""
