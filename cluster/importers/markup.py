"""Markup to plain text: HTML, and Markdown with HTML in it, on one line and cut at a word. It knows no catalogue."""

import html
import re
from typing import Final

_TAG = re.compile(r"<(/?)(\w+)[^>]*>")
_INLINE: Final = frozenset(("a", "b", "i", "em", "strong", "code", "span", "tt", "u"))

# Only tags of this list: in Markdown ``<bucket>`` is a placeholder. No ``<`` inside, so that the search stays linear.
_BLOCK: Final = "p|br|hr|div|h[1-6]|ul|ol|li|dl|dt|dd|pre|table|thead|tbody|tr|th|td|blockquote|img|details|summary"
_MARKDOWN_TAG = re.compile(rf"<(/?)({_BLOCK}|{'|'.join(sorted(_INLINE))}|small|sub|sup)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")

_MARKUP_PER_CHAR: Final = 8
"""Characters of markup that are read for each one of text."""


def plain_text(markup: str, limit: int) -> str:
    """Text of an HTML fragment, white space collapsed, cut at a word with ``…`` to at most ``limit`` characters."""
    return cut(html.unescape(_TAG.sub(_tag_text, markup)), limit)


def plain_markdown(markup: str, limit: int) -> str:
    """Text of a Markdown fragment: links become their words, HTML tags go; white space and length as ``plain_text``."""
    read = markup[: limit * _MARKUP_PER_CHAR]
    return cut(html.unescape(_MARKDOWN_TAG.sub(_tag_text, _LINK.sub(r"\1", read))), limit)


def cut(text: str, limit: int) -> str:
    """The text with its white space collapsed, cut at a word with ``…`` to at most ``limit`` characters."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return line[:limit].rsplit(" ", 1)[0][: limit - 1].rstrip() + "…"


def _tag_text(tag: re.Match[str]) -> str:
    return "" if tag[2].lower() in _INLINE else " "
