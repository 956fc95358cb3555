"""Item: one hit taken apart, so that a provider's shape can be made of it.

It decides nothing about shapes. A tool whose parameters are not all there has none here, so that none can be taken
for the real ones.
"""

from dataclasses import dataclass
from typing import Final

import orjson

from cluster.contract import Hit
from serve_app.formats.schema import Schema
from shards.record import Kind

_SHOWN: Final = frozenset({"name", "title", "description", "text", "parameters", "source_url", "section"})
"""Fields that a provider's shape takes over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One record of an answer.

    Attributes:
        text: a tool's description or a passage's text; may be cut.
        parameters: of a tool in full, None of a tool that was summarised or cut, and of a passage.
        tokens: what it cost in the budget.
        remainder: its evidence without what a provider's shape shows, for the answer's own list of hits.
    """

    id: str
    kind: Kind
    name: str
    namespace: str
    text: str
    parameters: Schema | None
    source_url: str
    section: str
    side_effect: str
    tokens: int
    remainder: dict[str, object]


def item_of_hit(hit: Hit) -> Item:
    """The hit in the form that the budget gave it."""
    is_whole = hit.cut is None and hit.evidence is hit.record.full
    return item_of(hit.evidence.json, tokens=hit.evidence.tokens, is_whole=is_whole)


def item_of(evidence: bytes, *, tokens: int, is_whole: bool) -> Item:
    """The record behind JSON of a ``cluster.record_json.EvidenceView``; ``is_whole`` if nothing of it was cut."""
    values = orjson.loads(evidence)
    kind = Kind(values["kind"])
    name, text = ("title", "text") if kind is Kind.PASSAGE else ("name", "description")
    return Item(
        id=values["id"],
        kind=kind,
        name=values[name],
        namespace=values["namespace"],
        text=values[text],
        parameters=values.get("parameters") if is_whole else None,
        source_url=values.get("source_url", ""),
        section=values.get("section", ""),
        side_effect=values["side_effect"],
        tokens=tokens,
        remainder={field: value for field, value in values.items() if field not in _SHOWN},
    )
