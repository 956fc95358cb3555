"""Blocks to sections: a tree by headings, each with a key that names it. It knows no limits and cuts no text.

Keys are what ids of passages are made of, so what they depend on is what makes ids change:

* A heading with an anchor of its author (``## Steps {#steps}``, ``<h2 id="steps">``) has the anchor as its key,
  wherever it stands and whatever it says. Its sub-sections go on from there.
* Any other section has the words of its heading under its parent's key (``install/requirements``). So its key changes
  when its own heading or one above it is reworded, and by nothing else: neither order nor text of other sections.
* Only where two sections would have the same key is there a number: the second and later ones, in the order of the
  document, are ``steps.2``, ``steps.3``. So a twin that is put in before a section renames that one.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cluster.importers.passages.blocks import Block, Document, Shape

MAX_HEADING_CHARS: Final = 200
"""A longer one is a paragraph that was marked up as a heading."""

_MAX_SLUG_CHARS: Final = 60
_DIGEST_CHARS: Final = 8
_NO_WORD: Final = re.compile(r"[^\w]+")


@dataclass(slots=True, kw_only=True)
class Section:
    """A heading and what stands under it up to the next heading, then its sub-sections.

    Attributes:
        key: empty for the text of the document that stands before every heading but its title.
        headings: from the outermost one to its own; without the document's title.
        anchor: what a URL may end in to show it; empty where its author gave none.
    """

    key: str
    headings: tuple[str, ...]
    level: int
    anchor: str = ""
    blocks: list[Block] = field(default_factory=list)
    sections: list["Section"] = field(default_factory=list)

    def all_blocks(self) -> list[Block]:
        """Every block of the section and its sub-sections, these ones' headings as paragraphs."""
        blocks = list(self.blocks)
        for section in self.sections:
            blocks.append(Block(shape=Shape.PARAGRAPH, text=section.headings[-1]))
            blocks.extend(section.all_blocks())
        return blocks


def title_and_root(document: Document, stated: str | None, fallback: str) -> tuple[str, Section]:
    """A document's title and its sections.

    The title is what the file states, else a first heading of level 1, else what the format has as a title, else
    ``fallback``. A first heading that is the title is not a section too.
    """
    blocks: Sequence[Block] = document.blocks
    first = blocks[0] if blocks and blocks[0].shape is Shape.HEADING and blocks[0].level == 1 else None
    if first is not None and len(first.text) <= MAX_HEADING_CHARS and stated in (None, first.text):
        return first.text, section_tree(blocks[1:])
    return stated or document.title or fallback, section_tree(blocks)


def section_tree(blocks: Iterable[Block]) -> Section:
    """The root of the sections of ``blocks``; a heading without text and sub-sections is a paragraph of its parent."""
    root = Section(key="", headings=(), level=0)
    open_sections = [root]
    taken: Counter[str] = Counter()
    for block in blocks:
        if block.shape is not Shape.HEADING:
            open_sections[-1].blocks.append(block)
            continue
        if len(block.text) > MAX_HEADING_CHARS:
            open_sections[-1].blocks.append(Block(shape=Shape.PARAGRAPH, text=block.text))
            continue
        while open_sections[-1].level >= block.level:
            open_sections.pop()
        parent = open_sections[-1]
        section = Section(
            key=_free_key(_key(parent, block), taken),
            headings=(*parent.headings, block.text),
            level=block.level,
            anchor=block.anchor,
        )
        parent.sections.append(section)
        open_sections.append(section)
    _fold_bare(root)
    return root


def _key(parent: Section, heading: Block) -> str:
    if heading.anchor:
        return slug(heading.anchor)
    return f"{parent.key}/{slug(heading.text)}" if parent.key else slug(heading.text)


def _free_key(key: str, taken: Counter[str]) -> str:
    taken[key] += 1
    while taken[key] > 1:
        numbered = f"{key}.{taken[key]}"
        if not taken[numbered]:
            taken[numbered] = 1
            return numbered
        taken[key] += 1
    return key


def _fold_bare(section: Section) -> None:
    """A heading that nothing stands under becomes text of its parent: no word of a document is lost."""
    for inner in section.sections:
        _fold_bare(inner)
    bare = [inner for inner in section.sections if not inner.blocks and not inner.sections]
    section.blocks.extend(Block(shape=Shape.PARAGRAPH, text=inner.headings[-1]) for inner in bare)
    section.sections = [inner for inner in section.sections if inner.blocks or inner.sections]


def slug(text: str) -> str:
    """Letters and digits of any script, all else as single hyphens; long ones are cut and marked with a digest."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    words = _NO_WORD.sub("-", normal).strip("-") or "section"
    if len(words) <= _MAX_SLUG_CHARS:
        return words
    digest = hashlib.blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_CHARS // 2).hexdigest()
    return f"{words[:_MAX_SLUG_CHARS].rstrip('-')}-{digest}"
