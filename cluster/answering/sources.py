"""A question and hits as a reader gets them: cleaned, and nothing added that is not in question or evidence."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from cluster.answering.cleaning import clean
from cluster.answering.contract import Inquiry, Source
from cluster.contract import Hit
from cluster.question import shipped_parser
from cluster.question_lexicon import AnswerShape

_ABOUT: Final = ("release", "parameters")
"""Fields of a ``cluster.record_json.EvidenceView`` that tell a piece from its like, or an answer may be about."""


def inquiry_of(question: str, shape: AnswerShape | None = None) -> Inquiry:
    """The question, with the caller's own ``shape`` or those that the shipped rules read in it."""
    text = clean(question).strip()
    parts = shipped_parser().parse(text).parts if shape is None else (shape,)
    return Inquiry(text=text, shapes=tuple(part.value for part in parts))


def sources_of(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """The sources in the order of the hits. Ids and URLs stay here: readers get labels, ``E1`` for the first hit."""
    return tuple(_source(f"E{rank}", hit) for rank, hit in enumerate(hits, start=1))


def _source(label: str, hit: Hit) -> Source:
    values: Mapping[str, Any] = orjson.loads(hit.evidence.json)
    return Source(
        id=hit.record.id,
        label=label,
        title=clean(values.get("title") or values.get("name", "")),
        section=clean(values.get("section", "")),
        text=clean(values.get("text") or values.get("description", "")),
        about=tuple((name, clean(_text(values[name]))) for name in _ABOUT if values.get(name)),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
