"""Plain text to blocks: paragraphs between empty lines. It looks for no headings and no facts."""

import re
from typing import Final

from cluster.importers.passages.blocks import Block, Document, Shape

_EMPTY_LINES: Final = re.compile(r"\n[^\S\n]*\n")


def read_plain(text: str) -> Document:
    """The paragraphs of a text; their line breaks stay."""
    paragraphs = (part.strip() for part in _EMPTY_LINES.split(text))
    return Document(blocks=tuple(Block(shape=Shape.PARAGRAPH, text=part) for part in paragraphs if part), facts={})
