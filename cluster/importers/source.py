"""What every importer gives: raw records with their place, refusals by name, notes. It validates no record."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import orjson

from cluster.errors import UnreadableSource
from cluster.importers.fields import RECORD_FIELDS, check_field, is_ignored
from shards.record import SHARED_TENANT, SideEffect

_LISTS: Final = ("aliases", "keywords", "examples", "tags")

_SCHEMA_FIELDS: Final = {"parameters": "openai", "inputSchema": "mcp", "input_schema": "anthropic"}
"""Where each format of function lists keeps a function's input schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRecord:
    """One record as its source has it, not yet validated.

    Attributes:
        label: how to name it to a person if its id cannot be used.
        values: in the words of the wire model; tenant, side effect and namespace may be missing.
        share: how much of the source is read after this one, 0..1.
        place: as in ``Refusal``.
    """

    label: str
    values: dict[str, object]
    share: float
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One record that was not imported, by name, with the reason.

    Attributes:
        source: its file, where there is one.
        place: where it stands in there (``line 3``), empty where nothing says so.
    """

    name: str
    reason: str
    source: str = ""
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """The source says that it is not the whole catalogue."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What comes next is of this file."""

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """A field that is none of a record's was left out of so many records."""

    field: str
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnlyClaims:
    """So many tools say of themselves that they only read, which is not believed."""

    tools: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """So many records were not taken over word for word; ``note`` says what was done to them."""

    note: str
    records: int


Item = RawRecord | Refusal | Incomplete | Opened | Ignored | ReadOnlyClaims | Noted


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One value of a row file, whatever it means.

    Attributes:
        place: names it to a person (``line 3``).
        value: plain JSON; an object, if the file is what it should be.
        share: as in ``RawRecord``.
    """

    place: str
    value: object
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the operator says of records that do not say it themselves.

    Attributes:
        tenant: owner of the records; a record that names another one is refused. None takes the record's own word,
            and shares the record with every tenant if it has none.
        namespace: of records without one, instead of the name of their file; importers of formats without namespaces
            put it into the ids too.
        side_effect: of tools that do not declare theirs. A tool's own hints are claims of a stranger.
    """

    tenant: str | None = None
    namespace: str | None = None
    side_effect: SideEffect = SideEffect.WRITE

    def namespace_of(self, path: Path) -> str:
        """The namespace of records without one: the operator's word, else the file's name without its endings."""
        return self.namespace or (path.with_suffix("") if path.suffix == ".gz" else path).stem

    @property
    def writable(self) -> frozenset[str] | None:
        """Tenants whose records the import may write; None is every one."""
        return None if self.tenant is None else frozenset((self.tenant,))

    def fill(self, values: Mapping[str, object]) -> dict[str, object]:
        """The values with the missing ones filled in.

        Raises:
            ValueError: if the record names another tenant than the operator.
        """
        access = values.get("access", {})
        if not isinstance(access, dict):
            return dict(values)
        owner = access.get("tenant")
        if self.tenant is not None and owner not in (None, self.tenant):
            raise ValueError(f"access.tenant: {owner!r} is not the tenant of this import, {self.tenant!r}")
        filled = {"tenant": self.tenant or SHARED_TENANT} | access
        if values.get("kind", "tool") == "tool":
            filled = {"side_effect": self.side_effect.value} | filled
        return dict(values) | {"access": filled}


def record_row(row: Mapping[str, object]) -> dict[str, object]:
    """A row of a record file in the words of the wire model.

    ``parameters`` may be JSON text; ``side_effect`` or ``readonly`` may stand outside ``access``; null means absent;
    empty list items go.

    Raises:
        ValueError: if ``parameters`` is text but no JSON, ``readonly`` is no boolean, or a field looks mistyped.
    """
    values: dict[str, object] = {}
    for name, value in row.items():
        if value is None:
            continue
        if name in RECORD_FIELDS:
            values[name] = value
        else:
            check_field(name)
    parameters = values.get("parameters")
    if isinstance(parameters, str):
        try:
            values["parameters"] = orjson.loads(parameters or "{}")
        except orjson.JSONDecodeError as exc:
            raise ValueError(f"parameters: not JSON: {exc}") from exc
    for name in _LISTS:
        items = values.get(name)
        if isinstance(items, list):
            values[name] = [item for item in items if not isinstance(item, str) or item.strip()]
    effect = _side_effect(row)
    access = values.get("access", {})
    if effect is not None and isinstance(access, dict):
        values["access"] = {"side_effect": effect} | access
    return values


def _side_effect(row: Mapping[str, object]) -> object:
    """What a row says outside ``access``: ``side_effect`` itself, or ``readonly``; None where it says nothing.

    Raises:
        ValueError: if ``readonly`` is no boolean.
    """
    readonly = row.get("readonly")
    if not isinstance(readonly, bool | None):
        # As for every other fault of a row, whatever its kind.
        raise ValueError(f"readonly: {readonly!r:.80} is not allowed; expected true or false")  # noqa: TRY004
    if row.get("side_effect") is None and readonly is not None:
        return "read" if readonly else "write"
    return row.get("side_effect")


def row_items(rows: Iterable[Row | Refusal], namespace: str) -> Iterator[Item]:
    """The rows of a record file as items; at the end, which fields they carry that were left out.

    ``namespace`` is that of rows without one.
    """
    ignored: Counter[str] = Counter()
    for row in rows:
        item = _raw_record(row, namespace)
        if isinstance(item, RawRecord) and isinstance(row, Row) and isinstance(row.value, dict):
            # A counter's own ``update`` takes three times as long for the one or two that there are.
            for name, value in row.value.items():
                if value is not None and is_ignored(name):
                    ignored[name] += 1
        yield item
    for name, records in ignored.items():
        yield Ignored(field=name, records=records)


def _raw_record(row: Row | Refusal, namespace: str) -> RawRecord | Refusal:
    """A row as an item, named by its id, or by its place where it has none."""
    if isinstance(row, Refusal):
        return row
    if not isinstance(row.value, dict):
        return Refusal(name=row.place, reason="must be a JSON object", place=row.place)
    label = named(row.value, "id", row.place)
    try:
        values = {"namespace": namespace} | record_row(row.value)
        return RawRecord(label=label, values=values, share=row.share, place=row.place)
    except ValueError as exc:
        return Refusal(name=label, reason=str(exc), place=row.place)


def reason_of(error: Exception) -> str:
    """Why a file cannot be read, without its path, which whoever tells this names already."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {why}"


def named(row: Mapping[str, object], field: str, place: str) -> str:
    """How to name a row to a person: by the field where it is usable, else by its place."""
    name = row.get(field)
    return name if isinstance(name, str) and name else place


def function_record(
    place: str, function: Mapping[str, object], schema_field: str, namespace: str, share: float
) -> RawRecord | Refusal:
    """A function description (name, description, schema) as an item with the id ``namespace:name``."""
    name = function.get("name")
    if not isinstance(name, str) or not name:
        return Refusal(name=place, reason="name: must be non-empty text", place=place)
    if function.get(schema_field) is None:
        for other, form in _SCHEMA_FIELDS.items():
            if function.get(other) is not None:
                reason = f"{schema_field}: missing, but there is {other!r}: use --format {form}"
                return Refusal(name=name, reason=reason, place=place)
    if not isinstance(function.get(schema_field), dict | None):
        return Refusal(name=name, reason=f"{schema_field}: must be a JSON object", place=place)
    values: dict[str, object] = {"id": f"{namespace}:{name}", "name": name, "namespace": namespace}
    for target, source in (("description", "description"), ("parameters", schema_field)):
        if (value := function.get(source)) is not None:
            values[target] = value
    return RawRecord(label=name, values=values, share=share, place=place)


def tool_items(path: Path, document: object) -> list[object]:
    """The tool list of a document: the list itself, or what an object holds under ``tools``.

    Raises:
        UnreadableSource: if there is no such list.
    """
    tools = document.get("tools") if isinstance(document, dict) else document
    if not isinstance(tools, list):
        raise UnreadableSource(str(path), "expected a JSON list of tools, or an object with a list 'tools'")
    return tools


def listed(
    tools: list[object], item_of: Callable[[str, dict[str, object], str, float], Item], namespace: str
) -> Iterator[Item]:
    """One item per tool of a list: ``item_of(place, tool, namespace, share)``; what is no object is refused."""
    for number, tool in enumerate(tools, start=1):
        place = f"item {number}"
        if isinstance(tool, dict):
            yield item_of(place, tool, namespace, number / len(tools))
        else:
            yield Refusal(name=place, reason="must be a JSON object", place=place)
