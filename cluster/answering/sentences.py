"""A text as sentences: of prose, list items, headings and rows. It understands no language."""

import re
from typing import Final

LONGEST: Final = 600
"""Characters of a sentence; what never ends is cut."""

_BLOCK: Final = re.compile(r"\n[ \t]*\n+|\n(?=[ \t]*(?:[-*+•·]|\d{1,3}[.)]|#{1,6}|\||```|>)[ \t`|]?)")
"""Where a line break ends a sentence: before an empty line, an item, a heading or a row. Others only wrap a line."""

_END: Final = re.compile(r"(?<=[.!?؟…。！？])[\"'»”)\]*_`]{0,3}\s+(?=\S)")

_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+•·]|[0-9۰-۹٠-٩]{1,3}[.)])[ \t]+")
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t]+")
_MARKS: Final = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")


class Sentence:
    """One sentence of a text.

    Attributes:
        text: without the marks of Markdown.
        item: whether it is an item of a list, or a part of one.
        block: number of the paragraph or item that it stands in.
    """

    __slots__ = ("block", "item", "text")

    def __init__(self, text: str, block: int, *, item: bool) -> None:
        self.text = text
        self.block = block
        self.item = item


def blocks_of(text: str) -> list[str]:
    """A text at the borders that end every sentence; ``Sentence.block`` counts these."""
    return _BLOCK.split(text)


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a cleaned text, in order; none of an empty one."""
    found = []
    for number, block in enumerate(blocks_of(text)):
        item = _ITEM.match(block)
        bare = _MARKS.sub("", block[item.end() :] if item else _HEADING.sub("", block))
        parts = (part for part in _END.split(" ".join(bare.split())) if any(map(str.isalnum, part)))
        found += [Sentence(part[:LONGEST].strip(), number, item=item is not None) for part in parts]
    return found
