"""Reads a YAML document of strangers into plain JSON values, within bounds. It knows no format and opens no file.

Scalars mean what they would in JSON: ``no``, ``2024-01-01`` and ``01234`` are text. Keys are text as they are written
(``200`` is ``"200"``). Aliases are shared, never copied, but counted as if they were: a small file that stands for a
huge value is refused. Nothing is constructed from tags. Events are read one by one, so depth costs no stack.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import yaml

from cluster.errors import OversizedSource, UnreadableSource

MAX_DEPTH: Final = 500
MAX_ALIASES: Final = 10_000
MAX_VALUES: Final = 10_000_000
"""Values of a document after every alias has been replaced by what it stands for."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAGS: Final = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, bool | None]] = {
    word: value
    for value, words in ((None, ("", "~", "null", "Null", "NULL")), (True, ("true", "True", "TRUE")),
                         (False, ("false", "False", "FALSE")))
    for word in words
}  # fmt: skip
_INTEGERS: Final = range(-(2**63), 2**64)
"""Integers that JSON is read with here; beyond them a number is an approximate one."""

_INTEGER_CHARS: Final = 20

_MERGE: Final = "<<"


@dataclass(slots=True, kw_only=True)
class _Frame:
    """A list or an object that is being read.

    Attributes:
        key: of the value that comes next; None where a key comes next, and in lists.
        merged: what ``<<`` brings in, nearest first.
        before: values counted before this one.
        height: levels of nesting below this one so far.
    """

    value: dict[str, object] | list[object]
    anchor: str | None
    before: int
    key: str | None = None
    merged: list[object] = field(default_factory=list)
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchored:
    value: object
    values: int
    height: int


def parse_yaml(raw: bytes, source: str) -> object:
    """The one document of a YAML text; an empty text is None.

    Raises:
        UnreadableSource: if it is no YAML, holds several documents, gives a key twice, or a value refers to itself.
        OversizedSource: if it exceeds ``MAX_DEPTH``, ``MAX_ALIASES`` or ``MAX_VALUES``.
    """
    reader = _Reader(source)
    try:
        for event in _events(raw.decode("utf-8-sig")):
            reader.take(event)
    except yaml.MarkedYAMLError as exc:
        raise _unreadable(
            source, exc.problem or "no YAML", exc.problem_mark.line + 1 if exc.problem_mark else 0
        ) from exc
    except (yaml.YAMLError, UnicodeDecodeError) as exc:
        raise UnreadableSource(source, f"not YAML: {str(exc).splitlines()[0]}") from exc
    return reader.document


def _events(text: str) -> Iterator[yaml.Event]:
    return iter(yaml.parse(text, Loader=_LOADER))


class _Reader:
    """Builds values from events.

    Attributes:
        document: what was read.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._frames: list[_Frame] = []
        self._anchors: dict[str, _Anchored] = {}
        self._aliases = 0
        self._values = 0
        self._documents = 0
        self.document: object = None

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._open(event, {})
            case yaml.SequenceStartEvent():
                self._open(event, [])
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _unreadable(self._source, "a second document begins", _line(event))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        top = self._frames[-1] if self._frames else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            self._key(top, event)
            return
        value = _scalar_value(self._source, event)
        self._count(1)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value=value, values=1, height=0)
        self._put(value, 0)

    def _key(self, top: _Frame, event: yaml.ScalarEvent) -> None:
        key: str = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value=key, values=1, height=0)
        if key in top.value and not _is_merge(event):
            raise _unreadable(self._source, f"key {key[:80]!r} is given twice", _line(event))
        top.key = key

    def _open(self, event: yaml.CollectionStartEvent, value: dict[str, object] | list[object]) -> None:
        if event.tag not in (None, f"{_TAGS}map", f"{_TAGS}seq"):
            raise _unreadable(self._source, f"tag {event.tag!r} is not known", _line(event))
        self._expect_value(event)
        if len(self._frames) >= MAX_DEPTH:
            raise OversizedSource(self._source, "depth", MAX_DEPTH, "levels")
        self._count(1)
        if event.anchor is not None:
            # A second anchor of the same name hides the first one from here on.
            self._anchors.pop(event.anchor, None)
        self._frames.append(_Frame(value=value, anchor=event.anchor, before=self._values - 1))

    def _close(self, event: yaml.Event) -> None:
        frame = self._frames.pop()
        if isinstance(frame.value, dict) and frame.merged:
            own = dict(frame.value)
            frame.value.clear()
            for brought in reversed(frame.merged):
                frame.value.update(self._mapping(brought, event))
            frame.value.update(own)
        if frame.anchor is not None:
            values = self._values - frame.before
            self._anchors[frame.anchor] = _Anchored(value=frame.value, values=values, height=frame.height + 1)
        self._put(frame.value, frame.height + 1)

    def _mapping(self, value: object, event: yaml.Event) -> dict[str, object]:
        if not isinstance(value, dict):
            raise _unreadable(self._source, "'<<' takes objects only", _line(event))
        return value

    def _alias(self, event: yaml.AliasEvent) -> None:
        self._expect_value(event)
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise OversizedSource(self._source, "aliases", MAX_ALIASES, "of them")
        if (anchored := self._anchors.get(event.anchor or "")) is None:
            raise _unreadable(self._source, f"*{event.anchor} refers to itself, or to nothing", _line(event))
        if len(self._frames) + anchored.height > MAX_DEPTH:
            raise OversizedSource(self._source, "depth", MAX_DEPTH, "levels")
        self._count(anchored.values)
        self._put(anchored.value, anchored.height)

    def _expect_value(self, event: yaml.Event) -> None:
        top = self._frames[-1] if self._frames else None
        if top is not None and isinstance(top.value, dict) and top.key is None:
            raise _unreadable(self._source, "a key must be text", _line(event))

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise OversizedSource(self._source, "values", MAX_VALUES, "of them, aliases replaced")

    def _put(self, value: object, height: int) -> None:
        """Hand a finished value of ``height`` levels to what it stands in."""
        if not self._frames:
            self.document = value
            return
        top = self._frames[-1]
        top.height = max(top.height, height)
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key == _MERGE:
            top.merged.extend(value if isinstance(value, list) else [value])
        elif top.key is not None:
            top.value[top.key] = value
        top.key = None


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return bool(event.value == _MERGE)


def _scalar_value(source: str, event: yaml.ScalarEvent) -> object:
    text: str = event.value
    tag = event.tag
    if tag in (f"{_TAGS}str", "!") or (tag is None and not event.implicit[0]):
        if event.style == '"' and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise _unreadable(source, "a lone surrogate is no text", _line(event))
        return text
    if tag not in (None, *(f"{_TAGS}{name}" for name in ("int", "float", "bool", "null"))):
        raise _unreadable(source, f"tag {tag!r} is not known", _line(event))
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _INTEGER_CHARS and _INTEGER.fullmatch(text) and (integer := int(text)) in _INTEGERS:
        return integer
    if _NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


def _unreadable(source: str, problem: str, line: int) -> UnreadableSource:
    return UnreadableSource(source, f"not YAML: line {line}: {problem}")
