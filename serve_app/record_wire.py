"""A record on the wire: what callers and import files may write, checked field by field.

It decides shape and bounds only: who may write is decided elsewhere, versions by the registry, how a record is shown
by ``serve_app.record_view``. Unknown fields are errors. Single-line fields refuse control characters; in long texts
(description, text, examples) they become spaces, because one stray byte in a foreign description is no reason to lose
a tool.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from shards.errors import InvalidRecord
from shards.record import Access, Kind, Record, SideEffect, Status

MAX_NAME_CHARS: Final = 512
MAX_LABEL_CHARS: Final = 256
MAX_TEXT_CHARS: Final = 65_536
MAX_ITEMS: Final = 128
MAX_PARAMETERS_BYTES: Final = 262_144
MAX_PARAMETERS_DEPTH: Final = 32
MAX_FIELDS: Final = 64
"""Keys of a record, and of its access, that are looked at one by one; no record has as many."""

# One line: no C0 or C1 controls, no Unicode line breaks; the second pattern also wants something visible.
_LINE: Final = r"^[^\x00-\x1f\x7f-\x9f\u{2028}\u{2029}]*$"
_NAME: Final = r"^[^\x00-\x1f\x7f-\x9f\u{2028}\u{2029}]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f\u{2028}\u{2029}]*$"
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_SHOWN_CHARS: Final = 80
_SHOWN_FAULTS: Final = 5

# In our words where pydantic's would name a pattern, say too little or be no end of a sentence.
_ALLOWED: Final = {
    "string_pattern_mismatch": "one line of visible text without control characters",
    "string_unicode": "text without lone surrogates",
    "extra_forbidden": "no field of this name",
    "missing": "a value (required)",
    "literal_error": "{expected}",
    "too_long": "at most {max_length} items",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "model_type": "a JSON object",
    "dict_type": "a JSON object",
    "tuple_type": "a list",
}


def _without_controls(text: str) -> str:
    return _CONTROLS.sub(" ", text)


Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS, pattern=_NAME)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS, pattern=_NAME)]
OptionalLabel = Annotated[str, StringConstraints(max_length=MAX_LABEL_CHARS, pattern=_LINE)]
Url = Annotated[str, StringConstraints(max_length=2_048, pattern=_LINE)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS), AfterValidator(_without_controls)]
Example = Annotated[str, StringConstraints(min_length=1, max_length=2_048), AfterValidator(_without_controls)]
# JSON has lists only; strict is off for the container so that they become tuples, their items stay strict. The first
# bad item ends a list: describing a million of them would hold the whole process up for seconds.
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_ITEMS, strict=False), FailFast()]
Labels = Annotated[tuple[Label, ...], Field(max_length=MAX_ITEMS, strict=False), FailFast()]
Examples = Annotated[tuple[Example, ...], Field(max_length=MAX_ITEMS, strict=False), FailFast()]


class WireModel(BaseModel):
    """Base of the models here: nothing unknown, nothing coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AccessIn(WireModel):
    """Who may see the record. The tenant is never guessed."""

    tenant: Label
    permissions: Labels = ()
    modes: Labels = ()
    side_effect: Literal["read", "write", "destructive"] | None = Field(
        default=None, description="What calling it does; a tool that does not say so counts as write."
    )


class _RecordIn(WireModel):
    """What tools and passages share."""

    id: Name
    namespace: Label
    access: AccessIn
    aliases: Names = ()
    keywords: Names = ()
    examples: Examples = ()
    tags: Names = ()
    capability: OptionalLabel = ""
    domain: OptionalLabel = ""
    product: OptionalLabel = ""
    locale: OptionalLabel = ""
    release: OptionalLabel = Field(default="", description="Version of the product that the record belongs to.")
    status: Literal["enabled", "disabled", "deprecated"] = "enabled"
    version: int = Field(
        default=0, ge=0, le=2**31 - 1, description="Must be newer than the stored one; 0 leaves it to the registry."
    )


class ToolIn(_RecordIn):
    """A tool that a model may call."""

    kind: Literal["tool"] = "tool"
    name: Name
    description: Text = ""
    parameters: dict[str, object] = Field(default={}, description="JSON schema of the input.")


class PassageIn(_RecordIn):
    """A passage of knowledge that a model may read."""

    kind: Literal["passage"]
    title: Name
    text: Text = ""
    source_url: Url = ""
    section: OptionalLabel = ""


RecordIn = ToolIn | PassageIn
"""Told apart by ``kind``; a record without one is a tool."""


class UnusableRecord(InvalidRecord):
    """One or more fields of a record are at fault: ``field`` is the first, ``allowed`` and the text tell of all."""

    def __init__(self, field: str, value: str, allowed: str, text: str) -> None:
        super().__init__(field, value, allowed)
        self.args = (field, value, allowed, text)
        self.text = text

    def __str__(self) -> str:
        return self.text


def parse_record(values: Mapping[str, object]) -> Record:
    """A record from untrusted values.

    Raises:
        InvalidRecord: naming the fields at fault, their values (shortened) and what is allowed.
    """
    kind = values.get("kind", "tool")
    if kind not in ("tool", "passage"):
        raise InvalidRecord("kind", _shown(kind), "tool or passage")
    for name, fields in (("record", values), ("access", values.get("access"))):
        if isinstance(fields, Mapping) and len(fields) > MAX_FIELDS:
            raise InvalidRecord(name, f"{len(fields)} fields", f"at most {MAX_FIELDS} fields")
    try:
        if kind == "tool":
            return _tool(ToolIn.model_validate(values))
        return _passage(PassageIn.model_validate(values))
    except ValidationError as exc:
        raise _unusable(exc.errors(include_url=False)) from exc


def _tool(wire: ToolIn) -> Record:
    return _record(wire, kind=Kind.TOOL, name=wire.name, text=wire.description, parameters=_canonical(wire.parameters))


def _passage(wire: PassageIn) -> Record:
    if wire.access.side_effect not in (None, "read"):
        raise InvalidRecord("access.side_effect", wire.access.side_effect, "read, because a passage is only read")
    return _record(
        wire, kind=Kind.PASSAGE, name=wire.title, text=wire.text, source_url=wire.source_url, section=wire.section
    )


def _record(
    wire: RecordIn, *, kind: Kind, name: str, text: str, parameters: str = "{}", source_url: str = "", section: str = ""
) -> Record:
    undeclared = SideEffect.WRITE if kind is Kind.TOOL else SideEffect.READ
    access = wire.access
    return Record(
        id=wire.id,
        kind=kind,
        name=name,
        namespace=wire.namespace,
        description=text,
        access=Access(
            tenant=access.tenant,
            permissions=tuple(sorted(set(access.permissions))),
            modes=tuple(sorted(set(access.modes))),
            side_effect=SideEffect(access.side_effect) if access.side_effect else undeclared,
        ),
        parameters=parameters,
        aliases=wire.aliases,
        keywords=wire.keywords,
        examples=wire.examples,
        tags=wire.tags,
        capability=wire.capability,
        domain=wire.domain,
        product=wire.product,
        locale=wire.locale,
        release=wire.release,
        source_url=source_url,
        section=section,
        status=Status(wire.status),
        version=wire.version,
    )


def _canonical(parameters: dict[str, object]) -> str:
    """Canonical JSON text of a schema. References in it are kept as text and never followed."""
    try:
        text = orjson.dumps(parameters, option=orjson.OPT_SORT_KEYS)
    except TypeError as exc:
        raise InvalidRecord("parameters", "a JSON object", f"JSON that can be written ({exc})") from exc
    if len(text) > MAX_PARAMETERS_BYTES:
        raise InvalidRecord("parameters", f"{len(text)} bytes", f"at most {MAX_PARAMETERS_BYTES} bytes of JSON")
    # Fewer brackets than levels cannot be too deep, and what is no number was written as null.
    if text.count(b"{") + text.count(b"[") > MAX_PARAMETERS_DEPTH or b"null" in text:
        _check_nesting(parameters)
    return text.decode()


def _check_nesting(root: dict[str, object]) -> None:
    """Refuse what is too deep or is no JSON number; breadth first, so hostile depth costs no stack."""
    level: list[object] = [root]
    for _ in range(MAX_PARAMETERS_DEPTH):
        inner = [value for outer in level for value in _values(outer)]
        for value in inner:
            if isinstance(value, float) and not math.isfinite(value):
                raise InvalidRecord("parameters", str(value), "finite numbers")
        level = [value for value in inner if isinstance(value, dict | list)]
        if not level:
            return
    raise InvalidRecord("parameters", "deeper nesting", f"at most {MAX_PARAMETERS_DEPTH} levels")


def _values(container: object) -> Iterable[object]:
    return container.values() if isinstance(container, dict) else container if isinstance(container, list) else ()


def _unusable(errors: Sequence[ErrorDetails]) -> UnusableRecord:
    # The name of an unknown field is the caller's text too.
    fields = [_shown(".".join(str(part) for part in error["loc"])) or "''" for error in errors[:_SHOWN_FAULTS]]
    allowed = [_allowed(error) for error in errors[:_SHOWN_FAULTS]]
    texts = [_sentence(field, error) for field, error in zip(fields, errors, strict=False)]
    others = [f"{field}: expected {takes}" for field, takes in zip(fields[1:], allowed[1:], strict=True)]
    if (more := len(errors) - _SHOWN_FAULTS) > 0:
        others.append(f"{more:,} more faults")
        texts.append(others[-1])
    return UnusableRecord(fields[0], _shown(errors[0]["input"]), "; ".join([allowed[0], *others]), "; ".join(texts))


def _sentence(field: str, error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return f"{field}: required"
        case "extra_forbidden":
            return f"{field}: no field has this name"
        case _:
            return f"{field}: {_shown(error['input'])!r} is not allowed; expected {_allowed(error)}"


def _allowed(error: ErrorDetails) -> str:
    """What the field takes, as the end of a sentence that says "expected"."""
    if (words := _ALLOWED.get(error["type"])) is None:
        return error["msg"].removeprefix("Input should be ").removeprefix("String should have ")
    return words.format_map(error.get("ctx", {})).replace("'", "")


def _shown(value: object) -> str:
    """A value for an error message: short, and safe to print."""
    if not isinstance(value, str | int | float | bool | None):
        return f"a {type(value).__name__}"
    text = str(value).encode(errors="backslashreplace").decode()
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text)} characters)"
