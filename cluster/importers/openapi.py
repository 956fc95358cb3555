"""OpenAPI documents (2.0, 3.0 and 3.1, JSON or YAML): every operation is a tool. It calls no service.

References are followed inside the document only; an operation that cannot be read is refused, the others are taken.
What an operation does to the world is told by its method, or by ``x-shortlist-side-effect`` at the operation, its path
or the document.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cluster.errors import OversizedSource, UnreadableSource
from cluster.importers.documents import read_json_or_yaml
from cluster.importers.markup import cut, plain_markdown
from cluster.importers.openapi_input import Input, InputWriter
from cluster.importers.openapi_refs import References, UnusableOperation, list_at, object_at, shown
from cluster.importers.source import Defaults, Item, Noted, RawRecord, Refusal
from shards.record import SideEffect

MAX_OPERATIONS: Final = 50_000
MAX_DESCRIPTION_CHARS: Final = 2_000

SIDE_EFFECT_FIELD: Final = "x-shortlist-side-effect"

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_SIDE_EFFECTS: Final = {
    "get": SideEffect.READ,
    "head": SideEffect.READ,
    "options": SideEffect.READ,
    "delete": SideEffect.DESTRUCTIVE,
}
"""What a method says for sure. Of the others the operator's default is taken, which is to write."""

_VERSION = re.compile(r"2\.0(?:\.0)?|3\.[01](?:\.\d+)?(?:-\w+)?")
_MAX_LABEL_CHARS: Final = 128
_MAX_TAGS: Final = 32
_READ_TAGS: Final = 256
_MAX_NAME_CHARS: Final = 512

_LOOPED: Final = "schema cut where it contains itself"
_CUT: Final = "schema cut where it was too large or too deep"
_RENAMED: Final = "parameters of one name in several places told apart"
_REPEATED: Final = "named by method and path, because several operations have one operationId"
_DEPRECATED: Final = "deprecated, and so not offered"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """One operation where it stands; ``number`` counts from 1."""

    number: int
    method: str
    path: str
    item: Mapping[str, object]
    value: object

    @property
    def label(self) -> str:
        """How it is named to a person, and in its id where it has no name of its own."""
        return f"{self.method.upper()} {self.path}"


def read_openapi(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per operation, ids ``namespace:operationId``, or ``namespace:METHOD path`` where it has none of its own.

    The namespace is the operator's word, else the document's title, else its server's name.

    Raises:
        UnreadableSource: if the document is none of a version that is read.
        OversizedSource: naming the limit that it exceeds.
    """
    document = _document(path)
    yield from _Reader(path, document, defaults).items()


def is_openapi(document: object) -> bool:
    """Whether a JSON value says that it is an OpenAPI document, of any version."""
    return isinstance(document, dict) and ("openapi" in document or "swagger" in document)


def _document(path: Path) -> dict[str, object]:
    document = read_json_or_yaml(path)
    if not isinstance(document, dict) or not is_openapi(document):
        raise UnreadableSource(str(path), "is no OpenAPI document: it has neither 'openapi' nor 'swagger'")
    if not _VERSION.fullmatch(_version(document)):
        field = "openapi" if "openapi" in document else "swagger"
        raise UnreadableSource(str(path), f"{field}: {shown(_version(document))} is not read; expected 2.0, 3.0 or 3.1")
    if not isinstance(document.get("paths", {}), dict):
        raise UnreadableSource(str(path), "paths: must be a JSON object")
    return document


def _version(document: Mapping[str, object]) -> str:
    """The version as text; YAML has it as a number where it is not quoted."""
    return str(document.get("openapi", document.get("swagger")))


class _Reader:
    """The operations of one document, one after another."""

    def __init__(self, path: Path, document: Mapping[str, object], defaults: Defaults) -> None:
        self._path = path
        self._document = document
        self._references = References(document)
        self._inputs = InputWriter(self._references, siblings=_version(document).startswith("3.1"))
        info = document.get("info")
        self._info: Mapping[str, object] = info if isinstance(info, dict) else {}
        self._namespace = defaults.namespace or _namespace(self._info, document) or defaults.namespace_of(path)
        self._notes: Counter[str] = Counter()

    def items(self) -> Iterator[Item]:
        found = list(self._operations())
        operations = [one for one in found if isinstance(one, _Operation)]
        names = Counter(_operation_id(one.value) for one in operations)
        for one in found:
            if isinstance(one, Refusal):
                yield one
                continue
            try:
                yield self._record(one, repeated=names[_operation_id(one.value)] > 1, total=len(operations))
            except UnusableOperation as exc:
                yield Refusal(name=one.label, reason=str(exc))
        for note, records in sorted(self._notes.items()):
            yield Noted(note=note, records=records)

    def _operations(self) -> Iterator[_Operation | Refusal]:
        number = 0
        paths = self._document.get("paths", {})
        for path, value in paths.items() if isinstance(paths, dict) else ():
            if path.startswith("x-") or value is None:
                continue
            try:
                item = object_at("path", self._references.follow(value).value)
            except UnusableOperation as exc:
                yield Refusal(name=path, reason=str(exc))
                continue
            # Beside a reference some documents have operations of their own.
            item = item | value if "$ref" in value else item
            for method in item:
                if method in _METHODS:
                    number += 1
                    if number > MAX_OPERATIONS:
                        raise OversizedSource(str(self._path), "paths", MAX_OPERATIONS, "operations")
                    yield _Operation(number=number, method=method, path=path, item=item, value=item[method])

    def _record(self, one: _Operation, *, repeated: bool, total: int) -> RawRecord:
        operation = object_at("operation", one.value)
        taken = self._inputs.input_of(one.path, one.item, operation)
        operation_id = _operation_id(operation)
        own_name = operation_id if operation_id and not repeated else ""
        values: dict[str, object] = {
            "id": f"{self._namespace}:{own_name or one.label}",
            "name": own_name or _name_of(one),
            "namespace": self._namespace,
            "description": self._description(one, operation),
            "parameters": taken.schema,
            "aliases": _aliases(one.path, operation_id if repeated else ""),
            "tags": _tags(operation),
            "product": _label(self._info.get("title")),
            "release": _label(self._info.get("version")),
        }
        if operation.get("deprecated") is True:
            values["status"] = "deprecated"
        if (effect := self._side_effect(one, operation)) is not None:
            values["access"] = {"side_effect": effect.value}
        self._note(taken, repeated=repeated and bool(operation_id), deprecated="status" in values)
        return RawRecord(label=one.label, values=values, share=one.number / total)

    def _note(self, taken: Input, *, repeated: bool, deprecated: bool) -> None:
        for note, holds in (
            (_LOOPED, taken.looped),
            (_CUT, taken.cut),
            (_RENAMED, taken.renamed),
            (_REPEATED, repeated),
            (_DEPRECATED, deprecated),
        ):
            if holds:
                self._notes[note] += 1

    def _description(self, one: _Operation, operation: Mapping[str, object]) -> str:
        """Summary and description; where there is neither, what is called."""
        for holder in (operation, one.item):
            summary, text = (
                plain_markdown(value, MAX_DESCRIPTION_CHARS) if isinstance(value, str) else ""
                for value in (holder.get("summary"), holder.get("description"))
            )
            if summary and not text.startswith(summary.rstrip(".")):
                text = f"{summary if summary[-1] in '.!?。؟' else summary + '.'} {text}".rstrip()
            if text:
                return cut(text, MAX_DESCRIPTION_CHARS)
        return f"{one.label} of {_label(self._info.get('title')) or self._namespace}"

    def _side_effect(self, one: _Operation, operation: Mapping[str, object]) -> SideEffect | None:
        """What the operation says, else its path, else the document, else the method; None where none of them does."""
        for holder in (operation, one.item, self._document):
            if SIDE_EFFECT_FIELD in holder:
                value = holder[SIDE_EFFECT_FIELD]
                if not isinstance(value, str) or value not in tuple(SideEffect):
                    allowed = ", ".join(SideEffect)
                    raise UnusableOperation(
                        f"{SIDE_EFFECT_FIELD}: {shown(str(value))} is not allowed; expected {allowed}"
                    )
                return SideEffect(value)
        return _SIDE_EFFECTS.get(one.method)


def _namespace(info: Mapping[str, object], document: Mapping[str, object]) -> str:
    """A name from the document's title, else from the host of its first server; empty where it has neither."""
    title = info.get("title")
    if isinstance(title, str) and (name := _slug(title)):
        return name
    servers, host = document.get("servers"), document.get("host")
    first = servers[0] if isinstance(servers, list) and servers else None
    url = first.get("url") if isinstance(first, dict) else f"//{host}" if isinstance(host, str) else ""
    try:
        return _slug(urlsplit(url).hostname or "") if isinstance(url, str) else ""
    except ValueError:
        return ""


def _slug(text: str) -> str:
    return re.sub(r"[^\w.]+", "-", text.casefold()).strip("-.")[:_MAX_LABEL_CHARS]


def _operation_id(value: object) -> str:
    """The name that an operation has; empty for one without."""
    name = value.get("operationId") if isinstance(value, dict) else None
    return " ".join(name.split()) if isinstance(name, str) else ""


def _name_of(one: _Operation) -> str:
    """A name from method and path: ``get_pets_id`` of ``GET /pets/{id}``."""
    words = re.findall(r"\w+", one.path)
    return "_".join((one.method, *words))[:_MAX_NAME_CHARS]


def _aliases(path: str, operation_id: str) -> list[str]:
    return [name for name in (operation_id, path) if 0 < len(name) <= _MAX_NAME_CHARS and any(map(str.isalnum, name))]


def _tags(operation: Mapping[str, object]) -> list[str]:
    tags = [_label(tag) for tag in list_at("tags", operation.get("tags"))[:_READ_TAGS] if isinstance(tag, str)]
    return [tag for tag in dict.fromkeys(tags) if tag][:_MAX_TAGS]


def _label(value: object) -> str:
    """A short text of one line; empty for what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return cut(
        "".join(sign if sign.isprintable() else " " for sign in str(value)[: 8 * _MAX_LABEL_CHARS]), _MAX_LABEL_CHARS
    )
