"""Sections to passages: texts under a limit of tokens, in the order of the document. It makes no ids.

A section is one passage, with two exceptions:

* A section that is short with all its sub-sections is one passage together with them; their headings stay in its
  text. It depends on nothing outside of that section, so an edit elsewhere never merges or parts it.
* A section whose text exceeds the limit is several parts, filled from its start: an edit moves text between the parts
  that follow it in the same section, and touches no other section.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cluster.cutting import SUMMARY_TOKENS
from cluster.importers.passages.blocks import Block, Shape
from cluster.importers.passages.sections import Section
from cluster.text_cut import cut_text
from cluster.tokens import estimate_tokens
from shards.record import Kind

MAX_TOKENS: Final = SUMMARY_TOKENS[Kind.PASSAGE]
"""Estimated tokens of a passage's text at most: what evidence quotes whole, even where the budget leaves no more."""

SHORT_TOKENS: Final = 120
"""A section that has no more, its sub-sections included, is not worth parting: each would lack the others' context."""

_FEWEST_TOKENS: Final = 16
"""A smaller limit could not hold one letter between the fences of a listing."""

_CHARS_PER_TOKEN: Final = 4
"""No text has more characters per estimated token, so a longer start need not be looked at."""

_GAP: Final = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage.

    Attributes:
        key: of its section.
        part: 1, or which part of a section that is too long for one passage.
        headings: as in ``Section``.
        anchor: as in ``Section``.
    """

    key: str
    part: int
    headings: tuple[str, ...]
    anchor: str
    text: str


def passages_of(section: Section, limit: int = MAX_TOKENS, short: int = SHORT_TOKENS) -> Iterator[Passage]:
    """The passages of a section and its sub-sections; none is empty or has more than ``limit`` estimated tokens.

    Raises:
        ValueError: if ``limit`` is below 16.
    """
    if limit < _FEWEST_TOKENS:
        raise ValueError(f"limit: {limit} is not allowed; expected at least {_FEWEST_TOKENS}")
    together = _short_text(section, min(short, limit)) if section.sections else None
    if together is not None:
        yield Passage(key=section.key, part=1, headings=section.headings, anchor=section.anchor, text=together)
        return
    for part, text in enumerate(packed(section.blocks, limit), start=1):
        yield Passage(key=section.key, part=part, headings=section.headings, anchor=section.anchor, text=text)
    for inner in section.sections:
        yield from passages_of(inner, limit, short)


def _short_text(section: Section, short: int) -> str | None:
    """The text of a section with its sub-sections, None if it is not short."""
    length = 0
    for block in section.all_blocks():
        length += len(block.whole)
        if length > short * _CHARS_PER_TOKEN:
            return None
    text = _GAP.join(block.whole for block in section.all_blocks())
    return text if estimate_tokens(text) <= short else None


def packed(blocks: Iterable[Block], limit: int) -> Iterator[str]:
    """Texts of at most ``limit`` tokens, each filled before the next is begun; what fits into one is not parted."""
    text = ""
    for unit in _units(blocks, limit):
        for piece in unit:
            joined = f"{text}{_GAP}{piece}" if text else piece
            if estimate_tokens(joined) <= limit:
                text = joined
                continue
            yield text
            text = piece
    if text:
        yield text


def _units(blocks: Iterable[Block], limit: int) -> Iterator[list[str]]:
    """What stays together: a block, with the line before it that ends in a colon; pieces of one that is too long."""
    before = ""
    for block in blocks:
        whole = block.whole
        if before and estimate_tokens(joined := f"{before}{_GAP}{whole}") <= limit:
            whole, before = joined, ""
        elif before:
            yield [before]
            before = ""
        if estimate_tokens(whole) > limit:
            yield list(_pieces(block, limit))
        elif block.shape is Shape.PARAGRAPH and whole.endswith((":", "：")):
            before = whole
        else:
            yield [whole]
    if before:
        yield [before]


def _pieces(block: Block, limit: int) -> Iterator[str]:
    """A block that is too long, in pieces of at most ``limit`` tokens."""
    if block.shape is not Shape.LINES:
        yield from _sentences(block.text, limit)
        return
    opening, closing, lines = block.opening, block.closing, block.text.split("\n")
    if estimate_tokens(f"{opening}\n{closing}") > limit // 2:
        opening, closing, lines = "", "", block.whole.split("\n")
    held: list[str] = []
    for line in _short_lines(lines, opening, closing, limit):
        if held and estimate_tokens(_framed([*held, line], opening, closing)) > limit:
            yield _framed(held, opening, closing)
            held = []
        if held or line.strip():
            held.append(line)
    if held:
        yield _framed(held, opening, closing)


def _short_lines(lines: Iterable[str], opening: str, closing: str, limit: int) -> Iterator[str]:
    """Lines that fit between ``opening`` and ``closing``, each by itself."""
    room = limit - estimate_tokens(_framed([""], opening, closing)) - 1 if opening or closing else limit
    for line in lines:
        if estimate_tokens(line) <= room:
            yield line
        else:
            yield from _sentences(line, room)


def _framed(lines: list[str], opening: str, closing: str) -> str:
    return "\n".join((*((opening,) if opening else ()), *lines, *((closing,) if closing else ())))


def _sentences(text: str, limit: int) -> Iterator[str]:
    """Text in pieces of at most ``limit`` tokens, cut after sentences where there are any."""
    left = text.strip()
    while left:
        piece = cut_text(left, limit, estimate_tokens)
        yield piece
        left = left[len(piece) :].lstrip()
