"""The texts that models read: one of a record, one of a query; without markup, in one normal form, bounded.

It embeds nothing. ``RECIPE`` is part of every embedder's id, so that vectors of another recipe are never compared.
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from cluster.language import language_of
from shards.analysis.identifiers import parts_of
from shards.record import Record

RECIPE: Final = 1
"""Raise it with every change of what ``embedding_text`` gives for any record; ``cluster.language`` can be the cause."""

MOST_CHARACTERS: Final = 320
"""Of a record's text. Beyond them vectors only got vaguer, and models slower."""

MOST_QUERY_CHARACTERS: Final = 480
"""Of a query's: nine in ten tasks of several steps are shorter than 350."""

_MOST_ADDED: Final = 160
"""Characters of aliases, keywords and examples together, so that a part of the description always fits."""

_MOST_EXAMPLES: Final = 3

_READ: Final = 2_000
"""Characters of a field that are read at all: enough to fill the text when most of them are markup."""

_TAG: Final = re.compile(r"</?[A-Za-z!][^<>]{0,300}>")
_LINK: Final = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_ADDRESS: Final = re.compile(r"https?://\S+")
_MARKDOWN: Final = re.compile(r"[`*|~]+|_{2,}|^[ \t]*(?:#+|[-=+>]+)(?!\S)", re.MULTILINE)
_CONNECTORS: Final = re.compile(r"[\s_\-./:]+")

_PERSIAN: Final = str.maketrans("يكى۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩", "یکی01234567890123456789")


def embedding_text(record: Record) -> str:
    """At most ``MOST_CHARACTERS`` characters: name in words, section, what owners added, description.

    Nothing in it depends on a field that ``search_text_hash`` leaves out. It is empty where all of these are markup.
    """
    examples = record.examples[:_MOST_EXAMPLES]
    added = _joined(", ", (*record.aliases, *record.keywords, *examples), _MOST_ADDED)
    parts = (_words_of(record.name) or record.name, record.section, added, record.description)
    return _joined(". ", parts, MOST_CHARACTERS)


def query_text(text: str) -> str:
    """At most ``MOST_QUERY_CHARACTERS`` characters, in the same form; empty for a text of nothing but blanks."""
    return _normal(text[:_READ])[:MOST_QUERY_CHARACTERS].rstrip()


def _joined(separator: str, parts: Iterable[str], most: int) -> str:
    plain = (_plain(part) for part in parts)
    return separator.join(part.removesuffix(".") for part in plain if part)[:most].rstrip()


def _plain(text: str) -> str:
    """A text without HTML, Markdown and addresses."""
    text = html.unescape(_TAG.sub(" ", text[:_READ]))
    text = _ADDRESS.sub(" ", _LINK.sub(r"\1", text))
    return _normal(_MARKDOWN.sub(" ", text))


def _normal(text: str) -> str:
    """NFKC, single blanks, and no code point that is no character: control codes, lone surrogates.

    Persian gets its own letters and ASCII digits, however it was typed.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.encode("utf-8", "ignore").decode("utf-8"))
        if language_of(text) == "fa":
            text = text.translate(_PERSIAN)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else _unprinted(sign) for sign in text)
    return " ".join(text.split())


def _unprinted(sign: str) -> str:
    """Joiners stay, which Persian and emoji need; other marks of formatting vanish, and all the rest parts words."""
    if sign in "\u200c\u200d":
        return sign
    return "" if unicodedata.category(sign) == "Cf" else " "


def _words_of(name: str) -> str:
    """``S3_putObject`` -> ``S3 put Object``; letters outside ASCII keep their accents."""
    runs = filter(None, _CONNECTORS.split(name))
    return " ".join(part for run in runs for part in (parts_of(run) if run.isascii() else [run]))
