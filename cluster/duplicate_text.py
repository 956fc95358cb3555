"""What two texts are compared by: their words in normal form, and the facts that no rewording changes.

It compares nothing and knows no thresholds; ``cluster.duplicates`` decides.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from shards.analysis.scripts import normalise
from shards.analyzer import spoken_in
from shards.record import Record

RESOLUTION: Final = "resolution:"
"""A tag that begins so says how a fault stands, as in ``resolution:fixed``."""

NEGATIONS: Final = frozenset({
    "no", "not", "never", "none", "nor", "neither", "nothing", "without", "cannot",
    "не", "нет", "ни", "без", "нельзя", "никогда", "ничего",
    "نه", "نیست", "نیستند", "نشد", "بدون", "هیچ", "هرگز", "نباید",
})  # fmt: skip

_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:/]\d+)*(?!\w)")
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])\w+(?:-\w+)*")
_ACRONYM: Final = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*(?![\w-])")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019]t)?")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SEPARATORS: Final = str.maketrans({"\u066b": ".", "\u066c": ",", "\u2011": "-"})
_PERSIAN_NO: Final = ("نمی", "نخواه")
"""How negated Persian verbs begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """A record made ready for comparison.

    Attributes:
        words: stems of its text, without words that say nothing.
        pairs: of neighbouring words.
        codes: words that hold letters and digits, as error codes do.
        capitals: words all in capitals: products, formats, protocols.
        numbers: those that are no part of a code, in one notation; not its own release, which is compared by itself.
        negations: how often it says no.
        resolution: how the fault that it tells of stands, empty where it does not say.
    """

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    codes: frozenset[str]
    capitals: frozenset[str]
    numbers: frozenset[str]
    negations: int
    resolution: str


def gist_of(record: Record) -> Gist:
    """The gist of a record: its title counts for facts, its text for words; of both where the text is empty."""
    title, text = _plain(record.name), _plain(record.description)
    words = spoken_in(record.description or record.name).words
    whole = f"{_without_label(title, text, record.id)} . {text}"
    codes = frozenset(one.casefold() for one in _CODE.findall(whole))
    # Where everything is in capitals they tell nothing.
    capitals = () if text.isupper() else _ACRONYM.findall(whole)
    numbers = frozenset(_NUMBER.findall(_THOUSANDS.sub("", _CODE.sub(" ", whole)))) - {record.release}
    said = [word.casefold() for word in _WORD.findall(whole)]
    return Gist(
        words=frozenset(words),
        pairs=frozenset(pairwise(words)),
        codes=codes,
        capitals=frozenset(one for one in capitals if len(one) > 1 and one.isalpha()),
        numbers=numbers,
        negations=sum(_denies(word) for word in said),
        resolution=next((tag[len(RESOLUTION) :] for tag in record.tags if tag.startswith(RESOLUTION)), ""),
    )


def _plain(text: str) -> str:
    """The normal form, with one notation of digits and their separators; case stays, because it tells codes."""
    return normalise(text.translate(_SEPARATORS))


def _without_label(title: str, text: str, record_id: str) -> str:
    """The title without the record's own number, which every ticket has another one of.

    A code that heads the title and stands in the record's id is its number, unless the text speaks of it too: that of
    an error is what the text is about.
    """
    head = _CODE.match(title)
    if head is None or head[0].casefold() not in record_id.casefold() or head[0].casefold() in text.casefold():
        return title
    return title[head.end() :]


def _denies(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n\u2019t")) or word.startswith(_PERSIAN_NO)
