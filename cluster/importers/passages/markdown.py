"""Markdown (CommonMark and tables) to blocks, its YAML front matter to facts. It decides nothing about either."""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from cluster.errors import UnreadableSource
from cluster.importers.passages.blocks import Block, Document, Shape
from cluster.importers.passages.html_page import fragment_blocks
from cluster.importers.yaml_document import parse_yaml

MAX_FRONT_MATTER_CHARS: Final = 65_536

_NESTING: Final = 40
"""Levels of quotes and lists (two a list) that the parser reads. It leaves deeper ones out in silence, so they are
refused here; the time that a hostile text takes grows with this number."""

_ANCHOR: Final = re.compile(r"\s*\{#([\w:.-]+)\}\s*$")
_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_LINE_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)

_PARSER: Final = MarkdownIt("commonmark", {"maxNesting": _NESTING}).enable(["table", "strikethrough"])


def read_markdown(text: str, source: str) -> Document:
    """The blocks and the facts of a file.

    Raises:
        UnreadableSource: if its front matter is no YAML object, or of another kind than YAML.
        OversizedSource: as ``parse_yaml``.
    """
    front, body = _parted(text, source)
    facts = parse_yaml(front.encode(), source) if front.strip() else {}
    if not isinstance(facts, dict):
        raise UnreadableSource(source, "its front matter must be a YAML object")
    return Document(blocks=tuple(markdown_blocks(body, source)), facts=facts)


def markdown_blocks(text: str, source: str) -> list[Block]:
    """The blocks of Markdown without front matter.

    Raises:
        UnreadableSource: if lists or quotes are nested deeper than they are read.
    """
    tokens = _PARSER.parse(text)
    if any(token.level >= _NESTING - 1 for token in tokens):
        raise UnreadableSource(
            source, f"lists and quotes are nested deeper than {_NESTING} levels, of which a list takes two"
        )
    return _Walk(tokens, source).blocks()


def _parted(text: str, source: str) -> tuple[str, str]:
    """Front matter and the rest."""
    if text.startswith("+++"):
        raise UnreadableSource(source, "front matter in TOML is not read; write it in YAML")
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        return "", text
    end = _FENCE.search(rest, 0, MAX_FRONT_MATTER_CHARS)
    if end is None:
        raise UnreadableSource(source, f"its front matter does not end within {MAX_FRONT_MATTER_CHARS} characters")
    return rest[: end.start()], rest[end.end() :]


class _Walk:
    """One pass over the tokens of a document; lists are gathered until the outermost one ends."""

    def __init__(self, tokens: Sequence[Token], source: str) -> None:
        self._tokens = tokens
        self._source = source
        self._blocks: list[Block] = []
        self._lists: list[int] = []
        """The number of the next item of each open list, 0 for bullets."""
        self._marker = ""
        self._lines: list[str] = []
        self._rows: list[list[str]] | None = None

    def blocks(self) -> list[Block]:  # noqa: C901 -- a table of tokens
        for number, token in enumerate(self._tokens):
            match token.type:
                case "heading_open":
                    self._heading(self._tokens[number + 1], int(token.tag[1:]))
                case "inline":
                    if self._rows is not None:
                        self._rows[-1].append(_inline(token).replace("\n", " ").replace("|", "\\|"))
                    elif self._tokens[number - 1].type != "heading_open":
                        self._put(Shape.PARAGRAPH, _inline(token))
                case "fence" | "code_block":
                    self._code(token)
                case "html_block":
                    for block in fragment_blocks(token.content, self._source):
                        self._put(block.shape, block.whole, block)
                case "table_open":
                    self._rows = []
                case "tr_open" if self._rows is not None:
                    self._rows.append([])
                case "table_close":
                    self._table()
                case _:
                    self._list(token)
        return self._blocks

    def _heading(self, inline: Token, level: int) -> None:
        text = " ".join(_inline(inline).split())
        anchor = _ANCHOR.search(text)
        text = text[: anchor.start()] if anchor else text
        if text and self._lists:
            self._put(Shape.PARAGRAPH, text)
        elif text:
            self._blocks.append(Block(shape=Shape.HEADING, text=text, level=level, anchor=anchor[1] if anchor else ""))

    def _code(self, token: Token) -> None:
        if code := token.content.strip("\n").rstrip():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            info = " ".join(token.info.split())
            self._put(
                Shape.LINES,
                f"{fence}{info}\n{code}\n{fence}",
                Block(shape=Shape.LINES, text=code, opening=f"{fence}{info}", closing=fence),
            )

    def _table(self) -> None:
        rows = [f"| {' | '.join(row)} |" for row in self._rows or ()]
        width = len(self._rows[0]) if self._rows else 0
        self._rows = None
        if rows:
            head = f"{rows[0]}\n|{'---|' * width}"
            block = (
                Block(shape=Shape.LINES, text="\n".join(rows[1:]), opening=head)
                if rows[1:]
                else Block(shape=Shape.LINES, text=head)
            )
            self._put(Shape.LINES, block.whole, block)

    def _list(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(0)
            case "ordered_list_open":
                self._lists.append(int(token.attrs.get("start", 1)))
            case "list_item_open":
                number = self._lists[-1]
                self._marker = f"{number}. " if self._lists[-1] else "- "
                self._lists[-1] += 1 if number else 0
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                if not self._lists and self._lines:
                    self._blocks.append(Block(shape=Shape.LINES, text="\n".join(self._lines).strip()))
                    self._lines = []

    def _put(self, shape: Shape, text: str, block: Block | None = None) -> None:
        """A block by itself, or lines of the list that is open."""
        if not text.strip():
            return
        if not self._lists:
            self._blocks.append(block or Block(shape=shape, text=text.strip()))
            return
        indent = "  " * (len(self._lists) - 1)
        for line in text.strip("\n").split("\n"):
            self._lines.append(f"{indent}{self._marker or '  '}{line}".rstrip())
            self._marker = ""


def _inline(token: Token) -> str:
    """The words of a line of Markdown: links and images become theirs, emphasis goes, code keeps its quotes."""
    parts = []
    for child in token.children or ():
        match child.type:
            case "text":
                parts.append(child.content)
            case "code_inline":
                quote = "``" if "`" in child.content else "`"
                parts.append(f"{quote}{child.content}{quote}")
            case "softbreak":
                parts.append(" ")
            case "hardbreak":
                parts.append("\n")
            case "image":
                parts.append(_inline(child))
            case "html_inline" if _LINE_BREAK.fullmatch(child.content):
                parts.append("\n")
    return "".join(parts).strip()
