"""Blocks: what a document of any format is read into, one after another. They know neither sections nor limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """How a block may be parted where it is too long: a paragraph at its sentences, the others at their lines."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LINES = "lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A heading, a paragraph, or lines that belong together: a list, a table, a listing.

    Attributes:
        text: not empty, without white space at its ends.
        level: of a heading, 1 to 6; else 0.
        anchor: the id that its author gave a heading; empty where there is none.
        opening: lines that stand before ``text`` and are repeated where it is parted: a table's head, a code fence.
        closing: the same after it.
    """

    shape: Shape
    text: str
    level: int = 0
    anchor: str = ""
    opening: str = ""
    closing: str = ""

    @property
    def whole(self) -> str:
        """The block as it stands in a passage."""
        return "\n".join(part for part in (self.opening, self.text, self.closing) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as its format has it.

    Attributes:
        facts: what the file says of itself, values not yet checked.
        title: what it is called outside its text (``<title>``); empty where there is none.
    """

    blocks: tuple[Block, ...]
    facts: Mapping[str, object]
    title: str = ""
