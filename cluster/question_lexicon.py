"""QuestionLexicon: the cues and rules of ``configs/lexicons/questions.yaml``, checked and compiled.

It reads no question: which cues a text has is ``cluster.question``'s business. How a rule is written, the file says.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import as_file, files
from itertools import product
from pathlib import Path
from typing import Final, Self

from cluster.errors import InvalidConfiguration
from cluster.strict_yaml import Json, integer_in, read_yaml
from shards.analysis.scripts import ZWNJ, normalise

SILENT: Final = "silent"
MARK: Final = "mark"
COMMA: Final = "comma"
DIGITS: Final = "digits"
_FOUND: Final = (MARK, COMMA, DIGITS)
"""Cues that are found by what they are, not by a word."""

PLAIN: Final = "w"
"""Stands for a word without a cue."""

_FIRST_CUE: Final = 0xE000
"""Cues are private characters from here on, so that a sentence is a short text and a rule a regular expression."""

_KEYS: Final = frozenset({"version", "cues", "endings", "beginnings", "groups", "rules", "several"})
_NONE: Final = "none"
"""Key of the endings that keep a word from having a cue by its ending."""

_HEADS: Final = "heads"
"""The group that the few words of ``.3`` are outside of."""

_MOST_VERSIONS: Final = 1_000_000
_FORMS: Final = re.compile(r"\(([^()]*)\)")


Phrases = Mapping[str, Mapping[str, Sequence[tuple[tuple[str, ...], str]]]]


class AnswerShape(StrEnum):
    """What an answer has to be.

    ``amount``: a number with what it counts. ``date``: a point in time. ``boolean``: yes or no. ``name``: what tells
    who, where or which one. ``text``: an explanation, or an action done. ``list``: several of a kind. ``comparison``:
    two or more set against each other.
    """

    AMOUNT = "amount"
    DATE = "date"
    BOOLEAN = "boolean"
    NAME = "name"
    TEXT = "text"
    LIST = "list"
    COMPARISON = "comparison"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLexicon:
    """Cues by word, and rules over the cues of a sentence.

    Attributes:
        version: the file's own number and a digest of what it says.
        cues: the character of each cue, by its name.
        words: normalised word -> character; ``""`` for a silent one.
        phrases: first word -> second word -> the words after these of each phrase, longest first, and its character.
        endings: (ending, character) of words that are no cue themselves; ``""`` for an ending that gives none. The
            first one counts.
        beginnings: as ``endings``, where no ending counts.
        rules: one expression; the number of the group that matched, less one, is the place in ``shapes``.
        several: its only group that matched is empty and stands before the second thing that is asked for.
        joints: the cues that stand before that place: a sentence without any of them asks for one thing.
    """

    version: str
    cues: Mapping[str, str]
    words: Mapping[str, str] = field(repr=False)
    phrases: Phrases = field(repr=False)
    endings: tuple[tuple[str, str], ...]
    beginnings: tuple[tuple[str, str], ...]
    rules: re.Pattern[str] = field(repr=False)
    shapes: tuple[AnswerShape, ...]
    several: re.Pattern[str] = field(repr=False)
    joints: re.Pattern[str] = field(repr=False)

    @classmethod
    def from_config(cls, path: Path | None = None) -> Self:
        """The lexicon at ``path``, or the shipped one.

        Raises:
            InvalidConfiguration: naming the place, if it cannot be read, a word gives two cues, or a rule is none.
        """
        if path is not None:
            return cls.of(read_yaml(path), str(path))
        with as_file(files("configs") / "lexicons" / "questions.yaml") as shipped:
            return cls.of(read_yaml(shipped), str(shipped))

    @classmethod
    def of(cls, config: Json, place: str) -> Self:
        """The lexicon that a file at ``place`` says. Raises as ``from_config``."""
        if not isinstance(config, dict) or set(config) != _KEYS:
            raise InvalidConfiguration(place, str(config)[:80], f"the keys {', '.join(sorted(_KEYS))}")
        said = _mapping(f"{place}: cues", config["cues"])
        cues = {name: chr(_FIRST_CUE + n) for n, name in enumerate((*_FOUND, *(one for one in said if one != SILENT)))}
        words, phrases = _vocabulary(f"{place}: cues", said, cues)
        grammar = _Grammar(cues, _mapping(f"{place}: groups", config["groups"]), place)
        rules = [_rule(f"{place}: rules", one) for one in _sequence(f"{place}: rules", config["rules"])]
        several = [_text(f"{place}: several", one) for one in _sequence(f"{place}: several", config["several"])]
        number = integer_in(f"{place}: version", config["version"], 1, _MOST_VERSIONS)
        return cls(
            version=f"questions-{number}-{hashlib.blake2b(repr(config).encode(), digest_size=4).hexdigest()}",
            cues=cues,
            words=words,
            phrases=phrases,
            endings=tuple(_parts(f"{place}: endings", config["endings"], cues)),
            beginnings=tuple(_parts(f"{place}: beginnings", config["beginnings"], cues)),
            rules=re.compile("|".join(f"({grammar.expression(pattern)})" for _, pattern in rules)),
            shapes=tuple(shape for shape, _ in rules),
            several=re.compile("|".join(grammar.expression(one, splits=True) for one in several)),
            joints=re.compile("|".join(map(grammar.joint, several))),
        )


def normal_form(text: str) -> str:
    """How words are compared: the analyzer's normal form in lower case, written together where it has a half space."""
    return normalise(text).replace(ZWNJ, "").lower()


class _Grammar:
    """Turns rules into regular expressions over cues."""

    def __init__(self, cues: Mapping[str, str], groups: Mapping[str, Json], place: str) -> None:
        self._place = f"{place}: rules"
        self._named = dict(cues)
        for name, raw in groups.items():
            members = _text(f"{place}: groups: {name}", raw).split()
            self._named[name] = "".join(self._characters(member) for member in members)
        self._few = self._characters(_HEADS)
        self._fixed: Final = {"..": ".*?", "/": "()", "$": rf"{cues[MARK]}?\Z"}

    def expression(self, rule: str, *, splits: bool = False) -> str:
        """The expression of one rule, to be matched from a sentence's start.

        Raises:
            InvalidConfiguration: if it names no cue, or where it ``splits`` lacks its one "/".
        """
        elements = rule.split()
        if elements.count("/") != splits or not elements:
            raise InvalidConfiguration(self._place, rule, "one / in each of several, none in a rule")
        start = "" if elements[0] == "^" else ".*?"
        return start + "".join(self._element(one) for one in elements if one != "^")

    def joint(self, rule: str) -> str:
        """The expression of what stands before the "/" of a rule that splits."""
        before = rule.partition("/")[0].split()
        if not before or before[-1][0] in ".-!^" or "?" in before[-1]:
            raise InvalidConfiguration(self._place, rule, "cues before the /")
        return self._element(before[-1])

    def _element(self, element: str) -> str:
        if element in self._fixed:
            return self._fixed[element]
        kind, names = element[0], element[1:]
        if kind == ".":
            if not (names.isascii() and names.isdecimal()):
                raise InvalidConfiguration(self._place, element, "a number of words after the point")
            return f"[^{self._few}]{{0,{int(names)}}}?"
        if kind == "-":
            return f"[^{self._characters(names)}]*?"
        if kind == "!":
            return f"(?![{self._characters(names)}])"
        either, optional, _ = element.partition("?")
        return f"[{''.join(map(self._characters, either.split('|')))}]{optional}"

    def _characters(self, name: str) -> str:
        if name not in self._named:
            raise InvalidConfiguration(self._place, name, "the name of a cue or of a group above")
        return self._named[name]


def _vocabulary(place: str, said: Mapping[str, Json], cues: Mapping[str, str]) -> tuple[dict[str, str], Phrases]:
    meant: dict[tuple[str, ...], str] = {}
    for name, languages in said.items():
        for form in _forms(f"{place}: {name}", languages):
            spoken = tuple(filter(None, form.split("_")))
            if not spoken or meant.setdefault(spoken, name) != name:
                raise InvalidConfiguration(f"{place}: {name}", form, f"a word that is not in {meant.get(spoken)} too")
    words = {spoken[0]: cues.get(name, "") for spoken, name in meant.items() if len(spoken) == 1}
    phrases: dict[str, dict[str, list[tuple[tuple[str, ...], str]]]] = {}
    for spoken in sorted((one for one in meant if len(one) > 1), key=len, reverse=True):
        first, second, *rest = spoken
        phrases.setdefault(first, {}).setdefault(second, []).append((tuple(rest), cues.get(meant[spoken], "")))
    return words, phrases


def _parts(place: str, raw: Json, cues: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each ending or beginning with the character of its cue."""
    for name, languages in _mapping(place, raw).items():
        if name != _NONE and name not in cues:
            raise InvalidConfiguration(place, name, f"the name of a cue, or {_NONE}")
        yield from ((form, cues.get(name, "")) for form in _forms(f"{place}: {name}", languages))


def _forms(place: str, languages: Json) -> Iterator[str]:
    """Every form that is written, in normal form, with ``_`` between the words of a phrase."""
    for language, text in _mapping(place, languages).items():
        for written in _text(f"{place}: {language}", text).split():
            yield from map(normal_form, _unfolded(written))


def _unfolded(written: str) -> Iterable[str]:
    """Of ``(cheap|fast)er``, cheaper and faster."""
    parts = _FORMS.split(written)
    choices = [part.split("|") if n % 2 else [part] for n, part in enumerate(parts)]
    return map("".join, product(*choices))


def _rule(place: str, raw: Json) -> tuple[AnswerShape, str]:
    if not isinstance(raw, dict) or len(raw) != 1:
        raise InvalidConfiguration(place, str(raw)[:80], "a shape with its rule")
    ((shape, pattern),) = raw.items()
    if shape not in set(AnswerShape):
        raise InvalidConfiguration(place, shape, f"one of {', '.join(AnswerShape)}")
    return AnswerShape(shape), _text(place, pattern)


def _mapping(place: str, raw: Json) -> dict[str, Json]:
    if not isinstance(raw, dict) or not raw:
        raise InvalidConfiguration(place, str(raw)[:80], "names with what they hold")
    return raw


def _sequence(place: str, raw: Json) -> list[Json]:
    if not isinstance(raw, list) or not raw:
        raise InvalidConfiguration(place, str(raw)[:80], "a list")
    return raw


def _text(place: str, raw: Json) -> str:
    if not isinstance(raw, str):
        raise InvalidConfiguration(place, str(raw)[:80], "a text")
    return raw
