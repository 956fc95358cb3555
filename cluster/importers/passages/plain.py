"""Plain text to blocks: paragraphs between empty lines, and lines underlined with ``=`` or ``-`` as headings.

It guesses at no other headings (capitals, numbers), and looks for no facts.
"""

import re
from collections.abc import Iterator
from typing import Final

from cluster.importers.passages.blocks import Block, Document, Shape

_EMPTY_LINES: Final = re.compile(r"\n[^\S\n]*\n")

_UNDERLINE: Final = re.compile(r"(={3,}|-{3,})[^\S\n]*", re.ASCII)
_LEVELS: Final = {"=": 1, "-": 2}

_SHORTER: Final = 2
"""Characters that an underline may be shorter than its heading: a longer line over three hyphens is a paragraph."""


def read_plain(text: str) -> Document:
    """The headings and paragraphs of a text; line breaks of paragraphs stay."""
    paragraphs = (part.strip() for part in _EMPTY_LINES.split(text))
    return Document(blocks=tuple(block for part in paragraphs for block in _blocks(part)), facts={})


def _blocks(paragraph: str) -> Iterator[Block]:
    """A paragraph, parted where one of its lines is underlined."""
    told: list[str] = []
    lines = paragraph.split("\n")
    place = 0
    while place < len(lines):
        level = _level(lines[place], lines[place + 1]) if place + 1 < len(lines) else 0
        if level:
            # A line over the heading that is like the one under it is a part of its frame.
            over = told and told[-1].strip() == lines[place + 1].strip()
            yield from _paragraph(told[:-1] if over else told)
            told = []
            yield Block(shape=Shape.HEADING, text=lines[place].strip(), level=level)
            place += 1
        else:
            told.append(lines[place])
        place += 1
    yield from _paragraph(told)


def _level(line: str, below: str) -> int:
    """Of the heading that ``line`` is by the line ``below`` it, 0 where it is none."""
    heading = line.strip()
    if not any(map(str.isalnum, heading)) or _UNDERLINE.fullmatch(below.lstrip()) is None:
        return 0
    underline = below.strip()
    return _LEVELS[underline[0]] if len(underline) >= len(heading) - _SHORTER else 0


def _paragraph(lines: list[str]) -> Iterator[Block]:
    if text := "\n".join(lines).strip():
        yield Block(shape=Shape.PARAGRAPH, text=text)
