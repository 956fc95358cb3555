"""A record as callers see it: as evidence, which is what a model reads of it, and whole. Empty fields are left out.

Whether the caller may see the record is decided before anything gets here.
"""

from typing import Final, NotRequired, cast

import orjson
from pydantic import JsonValue
from typing_extensions import TypedDict

from cluster.contract import EvidenceForm
from shards.record import Access, Kind, Record


class _ContentView(TypedDict):
    """Tools have name, description and parameters; passages have title, text, source_url and section instead."""

    id: str
    kind: str
    name: NotRequired[str]
    title: NotRequired[str]
    namespace: str
    description: NotRequired[str]
    text: NotRequired[str]
    parameters: NotRequired[dict[str, JsonValue]]
    capability: NotRequired[str]
    domain: NotRequired[str]
    product: NotRequired[str]
    locale: NotRequired[str]
    release: NotRequired[str]
    source_url: NotRequired[str]
    section: NotRequired[str]


class EvidenceView(_ContentView):
    """A record inside a hit; a summary has a cut description or text, and no parameters."""

    side_effect: str
    version: int
    search_text_hash: str


class StoredView(_ContentView):
    """The whole record. ``PUT /v1/records`` takes it back without its last three fields."""

    aliases: NotRequired[list[str]]
    keywords: NotRequired[list[str]]
    examples: NotRequired[list[str]]
    tags: NotRequired[list[str]]
    access: dict[str, JsonValue]
    status: str
    version: int
    search_text_hash: str
    schema_version: int
    indexed_at: str


_OPTIONAL: Final = ("capability", "domain", "product", "locale", "release", "source_url", "section")
_LISTS: Final = ("aliases", "keywords", "examples", "tags")


def evidence_view(record: Record, form: EvidenceForm) -> EvidenceView:
    """The record inside a hit."""
    view = _content(record, with_parameters=form is EvidenceForm.FULL)
    view["side_effect"] = record.access.side_effect
    view["version"] = record.version
    view["search_text_hash"] = record.search_text_hash
    return cast("EvidenceView", view)


def stored_view(record: Record) -> StoredView:
    """The whole record."""
    view = _content(record, with_parameters=True)
    view |= {field: values for field in _LISTS if (values := getattr(record, field))}
    view["access"] = _access(record.access)
    for field in ("status", "version", "search_text_hash", "schema_version", "indexed_at"):
        view[field] = getattr(record, field)
    return cast("StoredView", view)


def _content(record: Record, *, with_parameters: bool) -> dict[str, object]:
    name, text = ("title", "text") if record.kind is Kind.PASSAGE else ("name", "description")
    view: dict[str, object] = {
        "id": record.id,
        "kind": record.kind,
        name: record.name,
        "namespace": record.namespace,
        text: record.description,
    }
    if record.kind is Kind.TOOL and with_parameters:
        # Canonical JSON already: it is written as it stands, not parsed again.
        view["parameters"] = orjson.Fragment(record.parameters)
    for field in _OPTIONAL:
        if value := getattr(record, field):
            view[field] = value
    return view


def _access(access: Access) -> dict[str, object]:
    return {
        "tenant": access.tenant,
        "permissions": access.permissions,
        "modes": access.modes,
        "side_effect": access.side_effect,
    }
