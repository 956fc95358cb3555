"""HTML to blocks, its ``<meta>`` to facts; what frames a page is left out. It follows no link and opens no file.

lxml reads it, because Python's own ``html.parser`` takes minutes for 800 KB of ``<!--``.
"""

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

from cluster.errors import UnreadableSource
from cluster.importers.passages.blocks import Block, Document, Shape

_DROPPED: Final = frozenset(
    ("script", "style", "nav", "footer", "template", "noscript", "svg", "iframe", "object", "select", "button", "head")
)
"""Elements that are no text of the page, with all that is in them."""

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}

_INLINE: Final = frozenset(
    ("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "ins", "label",
     "mark", "q", "ruby", "rb", "rt", "rp", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
     "wbr", "code", "kbd", "samp", "var", "img", "input", "output", "meter", "progress", "picture", "source")
)  # fmt: skip
"""Every other element begins and ends a block of text."""

_BLANKS: Final = re.compile(r"[^\S\xa0]+")

_BLANK_RUNS: Final = re.compile(r" {2,}")


def read_html(raw: bytes, source: str) -> Document:
    """The blocks and the facts of a page; only what stands in ``<main>``, where there is one.

    Raises:
        UnreadableSource: if it is no HTML, or elements are nested deeper than the parser reads.
    """
    root = _parsed(raw, source)
    if root is None:
        return Document(blocks=(), facts={})
    main = root.find(".//main")
    title = " ".join("".join(root.findtext(".//title") or "").split())
    return Document(blocks=tuple(_Page().read(root if main is None else main)), facts=_facts(root), title=title)


def fragment_blocks(markup: str, source: str) -> list[Block]:
    """The blocks of a piece of HTML inside another document.

    Raises:
        UnreadableSource: as ``read_html``.
    """
    root = _parsed(markup.encode(), source)
    return [] if root is None else _Page().read(root)


def _parsed(raw: bytes, source: str) -> etree._Element | None:
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False, recover=True
    )
    try:
        root = etree.fromstring(raw, parser) if raw.strip() else None
    except etree.ParserError:
        return None
    except etree.LxmlError as exc:
        raise UnreadableSource(source, f"no HTML: {exc}") from exc
    for error in parser.error_log:
        if error.level == etree.ErrorLevels.FATAL:
            raise UnreadableSource(source, f"no HTML: line {error.line}: {error.message}")
    return root


def _facts(root: etree._Element) -> dict[str, object]:
    """``<meta name content>``, ``<html lang>`` as the locale and ``<link rel=canonical>`` as the source URL."""
    facts: dict[str, object] = {}
    if lang := root.get("lang"):
        facts["locale"] = lang
    for link in root.iterfind(".//head/link[@rel='canonical']"):
        facts["source_url"] = link.get("href") or ""
    said: set[str] = set()
    for meta in root.iterfind(".//head/meta"):
        name, content = meta.get("name"), meta.get("content")
        if not name or content is None:
            continue
        name = name.strip().lower()
        if name in said:
            facts[name] = [facts[name], content]  # what is given twice is no text, which whoever checks it refuses
        else:
            facts[name] = content
        said.add(name)
    return facts


class _Page:
    """One pass over a tree, in document order and without recursion."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._words: list[str] = []
        self._lists: list[int] = []
        self._marker = ""
        self._lines: list[str] = []

    def read(self, root: etree._Element) -> list[Block]:
        dropped: etree._Element | None = None
        for event, element in etree.iterwalk(root, events=("start", "end")):
            if dropped is not None:
                if event == "end" and element is dropped:
                    dropped = None
                    self._text(element.tail)
                continue
            tag = element.tag if isinstance(element.tag, str) else ""
            if event == "start" and (tag in _DROPPED or "hidden" in element.attrib or not tag):
                dropped = element
                if tag not in _INLINE:
                    self._flush()
            elif event == "start" and tag in ("pre", "table", *_HEADINGS) and not self._lists:
                self._flush()
                self._whole(element, tag)
                dropped = element
            elif event == "start":
                self._start(element, tag)
            else:
                self._end(element, tag, element is root)
        self._flush()
        self._close_list()
        return self._blocks

    def _start(self, element: etree._Element, tag: str) -> None:
        if tag == "br":
            self._words.append("\n")
        elif tag == "code":
            self._words.append("`")
        elif tag == "img":
            self._text(element.get("alt"))
        elif tag not in _INLINE:
            self._flush()
        if tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else 0)
        elif tag == "li" and self._lists:
            number = self._lists[-1]
            self._marker = f"{number}. " if number else "- "
            self._lists[-1] += 1 if number else 0
        self._text(element.text)

    def _end(self, element: etree._Element, tag: str, is_root: bool) -> None:  # noqa: FBT001 -- one caller
        if tag == "code":
            if self._words and self._words[-1] == "`":
                self._words.pop()
            else:
                self._words.append("`")
        elif tag not in _INLINE and tag != "br":
            self._flush()
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            self._close_list()
        if not is_root:
            self._text(element.tail)

    def _whole(self, element: etree._Element, tag: str) -> None:
        """An element that is one block, whatever is in it."""
        if tag == "pre":
            if code := "".join(_texts(element)).strip("\n").rstrip():
                self._blocks.append(Block(shape=Shape.LINES, text=code, opening="```", closing="```"))
        elif tag == "table":
            self._table(element)
        elif text := _line(element):
            level = _HEADINGS[tag]
            self._blocks.append(Block(shape=Shape.HEADING, text=text, level=level, anchor=_anchor(element)))

    def _table(self, table: etree._Element) -> None:
        for caption in table.iterfind("caption"):
            if text := _line(caption):
                self._blocks.append(Block(shape=Shape.PARAGRAPH, text=text))
        rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
        lines = [f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows if row]
        headed = bool(rows) and bool(rows[0]) and all(cell.tag == "th" for cell in rows[0]) and len(lines) > 1
        if headed:
            head = f"{lines[0]}\n|{'---|' * len(rows[0])}"
            self._blocks.append(Block(shape=Shape.LINES, text="\n".join(lines[1:]), opening=head))
        elif lines:
            self._blocks.append(Block(shape=Shape.LINES, text="\n".join(lines)))

    def _text(self, text: str | None) -> None:
        if text:
            self._words.append(_BLANKS.sub(" ", text))

    def _flush(self) -> None:
        text = "\n".join(line.strip() for line in _BLANK_RUNS.sub(" ", "".join(self._words)).split("\n")).strip()
        self._words = []
        if not text:
            return
        if not self._lists:
            self._blocks.append(Block(shape=Shape.PARAGRAPH, text=text))
            return
        indent = "  " * (len(self._lists) - 1)
        for line in text.split("\n"):
            self._lines.append(f"{indent}{self._marker or '  '}{line}".rstrip())
            self._marker = ""

    def _close_list(self) -> None:
        if not self._lists and self._lines:
            self._blocks.append(Block(shape=Shape.LINES, text="\n".join(self._lines).strip()))
            self._lines = []


def _texts(element: etree._Element) -> Iterator[str]:
    """The text in an element in order, without what is dropped; a ``<br>`` is a line break."""
    dropped: etree._Element | None = None
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if dropped is None and event == "start":
            if inner.tag in _DROPPED or "hidden" in inner.attrib:
                dropped = inner
            elif inner.tag == "br":
                yield "\n"
            elif inner.tag == "img":
                yield inner.get("alt") or ""
            if dropped is None and inner.text:
                yield inner.text
        elif event == "end":
            if inner is dropped:
                dropped = None
            if dropped is None and inner is not element and inner.tail:
                yield inner.tail


def _line(element: etree._Element) -> str:
    return " ".join("".join(_texts(element)).split())


def _anchor(heading: etree._Element) -> str:
    """The id of a heading, or of the section that it begins."""
    parent = heading.getparent()
    begins = parent is not None and parent.tag == "section" and heading.getprevious() is None
    return heading.get("id") or (parent.get("id") if begins and parent is not None else None) or ""
