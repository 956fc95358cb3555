"""What every importer gives: raw records with their place, refusals by name, notes. It validates no record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from cluster.errors import UnreadableSource
from shards.record import SHARED_TENANT, SideEffect

RECORD_FIELDS: Final = frozenset(
    {
        "id", "kind", "name", "description", "parameters", "title", "text", "source_url", "section", "namespace",
        "access", "aliases", "keywords", "examples", "tags", "capability", "domain", "product", "locale", "release",
        "status", "version",
    }
)  # fmt: skip
"""Fields of a record row that are taken over. Foreign catalogues carry more; the rest is left alone."""

_LISTS: Final = ("aliases", "keywords", "examples", "tags")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRecord:
    """One record as its source has it, not yet validated.

    Attributes:
        label: how to name it to a person if its id cannot be used.
        values: in the words of the wire model; tenant, side effect and namespace may be missing.
        share: how much of the source is read after this one, 0..1.
    """

    label: str
    values: dict[str, object]
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One record that was not imported, by name, with the reason."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incomplete:
    """The source says that it is not the whole catalogue."""

    reason: str


Item = RawRecord | Refusal | Incomplete


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What the operator says of records that do not say it themselves.

    Attributes:
        tenant: owner of the records; a record that names another one is refused. None takes the record's own word,
            and shares the record with every tenant if it has none.
        namespace: of records without one; importers of formats without namespaces put it into the ids too.
        side_effect: of tools that do not declare theirs. A tool's own hints are claims of a stranger.
    """

    tenant: str | None = None
    namespace: str | None = None
    side_effect: SideEffect = SideEffect.WRITE

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
        return {"namespace": self.namespace or "default"} | dict(values) | {"access": filled}


def record_row(row: Mapping[str, object]) -> dict[str, object]:
    """A row of a record file in the words of the wire model.

    ``parameters`` may be JSON text; ``side_effect`` or ``readonly`` may stand outside ``access``; null means absent;
    empty list items go.

    Raises:
        ValueError: if ``parameters`` is text but no JSON.
    """
    values = {name: value for name, value in row.items() if name in RECORD_FIELDS and value is not None}
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
    """What a row says outside ``access``: ``side_effect`` itself, or ``readonly``; None where it says nothing."""
    readonly = row.get("readonly")
    if row.get("side_effect") is None and isinstance(readonly, bool):
        return "read" if readonly else "write"
    return row.get("side_effect")


def raw_record(place: str, row: object, share: float) -> RawRecord | Refusal:
    """A row of a record file as an item; ``place`` names it where it has no id."""
    if not isinstance(row, dict):
        return Refusal(name=place, reason="must be a JSON object")
    label = named(row, "id", place)
    try:
        return RawRecord(label=label, values=record_row(row), share=share)
    except ValueError as exc:
        return Refusal(name=label, reason=str(exc))


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
        return Refusal(name=place, reason="name: must be non-empty text")
    values: dict[str, object] = {"id": f"{namespace}:{name}", "name": name, "namespace": namespace}
    for field, source in (("description", "description"), ("parameters", schema_field)):
        if (value := function.get(source)) is not None:
            values[field] = value
    return RawRecord(label=name, values=values, share=share)


def tool_items(path: str, document: object, inner: str) -> list[object]:
    """The tool list of a document: the list itself, or what an object holds under ``inner``.

    Raises:
        UnreadableSource: if there is no such list.
    """
    tools = document.get(inner) if isinstance(document, dict) else document
    if not isinstance(tools, list):
        raise UnreadableSource(path, f"expected a JSON list of tools, or an object with a list {inner!r}")
    return tools


def shares(items: list[object]) -> Iterator[tuple[str, object, float]]:
    """Each item with its place (``item 3``) and the share read after it."""
    for number, item in enumerate(items, start=1):
        yield f"item {number}", item, number / len(items)
