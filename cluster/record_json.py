"""A record as a model reads it, as JSON: what evidence consists of. Empty fields are left out.

It reads canonical JSON (``Record.to_json``), so that no record is built on the way from a shard to a caller. Whether
the caller may see the record is decided before anything gets here.
"""

from collections.abc import Mapping
from typing import Any, Final, NotRequired

import orjson
from typing_extensions import TypedDict

from shards.record import Kind

Values = Mapping[str, Any]
"""Canonical JSON of a record, parsed."""


class ContentView(TypedDict):
    """Tools have name, description and parameters; passages have title, text, source_url and section instead."""

    id: str
    kind: str
    name: NotRequired[str]
    title: NotRequired[str]
    namespace: str
    description: NotRequired[str]
    text: NotRequired[str]
    parameters: NotRequired[dict[str, object]]
    capability: NotRequired[str]
    domain: NotRequired[str]
    product: NotRequired[str]
    locale: NotRequired[str]
    release: NotRequired[str]
    source_url: NotRequired[str]
    section: NotRequired[str]


class EvidenceView(ContentView):
    """A record inside a hit; a summary has a cut description or text, and no parameters."""

    side_effect: str
    version: int
    search_text_hash: str


_OPTIONAL: Final = ("capability", "domain", "product", "locale", "release", "source_url", "section")


def evidence_json(values: Values) -> bytes:
    """An ``EvidenceView``."""
    view = content_of(values)
    view["side_effect"] = values["access"]["side_effect"]
    view["version"] = values["version"]
    view["search_text_hash"] = values["search_text_hash"]
    return orjson.dumps(view)


def content_of(values: Values) -> dict[str, object]:
    """A ``ContentView`` for orjson, in its order."""
    is_passage = values["kind"] == Kind.PASSAGE
    name, text = ("title", "text") if is_passage else ("name", "description")
    view = {
        "id": values["id"],
        "kind": values["kind"],
        name: values["name"],
        "namespace": values["namespace"],
        text: values["description"],
    }
    if not is_passage:
        # Canonical JSON already: it is written as it stands, not parsed again.
        view["parameters"] = orjson.Fragment(values["parameters"])
    for field in _OPTIONAL:
        if value := values[field]:
            view[field] = value
    return view
