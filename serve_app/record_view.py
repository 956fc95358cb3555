"""A whole record as callers see it: what a model reads of it (``cluster.record_json``), and what only owners ask for.

Whether the caller may see the record is decided before anything gets here.
"""

from typing import Final, NotRequired, cast

import orjson
from pydantic import JsonValue

from cluster.record_json import ContentView, content_of
from shards.record import Access, Record


class StoredView(ContentView):
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


_LISTS: Final = ("aliases", "keywords", "examples", "tags")


def stored_view(record: Record) -> StoredView:
    """The whole record."""
    values = orjson.loads(record.to_json())
    view = content_of(values)
    view |= {field: values[field] for field in _LISTS if values[field]}
    view["access"] = _access(record.access)
    for field in ("status", "version", "search_text_hash", "schema_version", "indexed_at"):
        view[field] = values[field]
    return cast("StoredView", view)


def _access(access: Access) -> dict[str, object]:
    return {
        "tenant": access.tenant,
        "permissions": access.permissions,
        "modes": access.modes,
        "side_effect": access.side_effect,
    }
