"""Static per-posting values: what a term is worth in a record, before any statistics of the catalogue.

Field weights and length norms are constants, never corpus averages, so that a hidden record cannot change a value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from shards.analysis.prose import split_summary
from shards.analysis.schema import schema_text
from shards.analyzer import Token, actions_of, tokens_of
from shards.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """How much one occurrence of a term in a field counts.

    Attributes:
        weight: of one occurrence in a field of the usual length.
        slope: 0 = length does not matter, 1 = an occurrence counts in inverse proportion to the length.
        usual_length: words of a usual field of this kind; a constant, not an average.
        stop_words: whether stop words of this field are indexed.
    """

    weight: float
    slope: float
    usual_length: int
    stop_words: bool = True

    def occurrence(self, length: int) -> float:
        """The weight of one occurrence in a field of ``length`` words, stop words not counted."""
        return self.weight / (1 - self.slope + self.slope * max(1, length) / self.usual_length)


SATURATION: Final = 1.5
"""k1 of BM25F: the weighted frequency at which a term has half of its greatest impact."""

NAME: Final = Field(weight=3.0, slope=0.6, usual_length=5)
NAMESPACE: Final = Field(weight=0.7, slope=0.3, usual_length=2)
LABEL: Final = Field(weight=1.6, slope=0.3, usual_length=2)
SUMMARY: Final = Field(weight=2.2, slope=0.6, usual_length=12)
DETAIL: Final = Field(weight=0.6, slope=0.5, usual_length=10)
PROPERTY_NAMES: Final = Field(weight=0.6, slope=0.5, usual_length=15, stop_words=False)
PROPERTY_TEXTS: Final = Field(weight=0.25, slope=0.5, usual_length=60, stop_words=False)
PROPERTY_VALUES: Final = Field(weight=0.4, slope=0.7, usual_length=15, stop_words=False)

RECORD: Final = Field(weight=1.0, slope=0.15, usual_length=50)
"""The norm of the whole record: one that speaks of much is, term by term, less about each."""

LONGEST_RECORD: Final = 150
"""Words after which a record does not count as longer; a wide schema is no fault of a tool."""

RECORD_TERMS: Final = 2048
"""Terms of a record that are indexed, the weightiest first: ten times what a wide real tool has. Without a bound a few
records of random text could fill a shard with postings."""

ACTION: Final = 1.0
"""Weighted frequency of an action that the name, or the start of the summary, says."""

OPENING_TERMS: Final = 2
"""Terms of a summary that may say the action: "Returns a list of ..."."""


def postings_of(record: Record) -> dict[str, tuple[int, int]]:
    """Each distinct term of a record with its two channels; of more than ``RECORD_TERMS``, the weightiest.

    Returns:
        term -> (impact_q in 1..255, name_q in 0..255). ``impact_q`` is the saturated weighted term frequency over
        all fields (BM25F, Robertson & Zaragoza 2009, eq. 3.20, with constant lengths) scaled to 255; ``name_q`` is
        255 divided by the number of distinct terms of the name (or the best alias) that holds the term, else 0.
    """
    summary, detail = split_summary(record.description)
    names = [tokens_of(name) for name in (record.name, *record.aliases)]
    opening = tokens_of(summary)
    fields = [*((NAME, tokens) for tokens in names), (SUMMARY, opening)]
    fields += [(field, tokens_of(text)) for field, text in _other_fields(record, detail) if text]
    weighted: dict[str, float] = {}
    words = sum(_add(weighted, field, tokens) for field, tokens in fields)
    share = RECORD.occurrence(min(words, LONGEST_RECORD))
    said = [token.term for tokens in (*names, opening[:OPENING_TERMS]) for token in tokens]
    weighted.update(dict.fromkeys(actions_of(said), ACTION))
    coverage = _name_coverage(names)
    if len(weighted) > RECORD_TERMS:
        weighted = dict(nsmallest(RECORD_TERMS, weighted.items(), key=lambda item: (-item[1], item[0])))
    return {term: (_quantised(value * share), coverage.get(term, 0)) for term, value in weighted.items()}


def _other_fields(record: Record, detail: str) -> Iterator[tuple[Field, str]]:
    """All texts but names and summary; an empty one where the record has none."""
    yield NAMESPACE, record.namespace
    yield LABEL, "\n".join((*record.tags, *record.keywords))
    for label in (record.capability, record.domain, record.section):
        yield LABEL, label
    yield DETAIL, detail
    yield DETAIL, "\n".join(record.examples)
    if record.parameters != "{}":
        schema = schema_text(record.parameters)
        yield PROPERTY_NAMES, "\n".join(schema.names)
        yield PROPERTY_TEXTS, "\n".join(schema.texts)
        yield PROPERTY_VALUES, "\n".join(schema.values)


def _add(weighted: dict[str, float], field: Field, tokens: list[Token]) -> int:
    """Add a field's occurrences to ``weighted``; its length in words, stop words not counted."""
    length = sum(token.weight > 0 for token in tokens)
    value = field.occurrence(length)
    for token in tokens:
        if token.weight or field.stop_words:
            weighted[token.term] = weighted.get(token.term, 0.0) + value
    return length


def _quantised(value: float) -> int:
    return max(1, round(255 * value / (value + SATURATION)))


def _name_coverage(names: list[list[Token]]) -> dict[str, int]:
    coverage: dict[str, int] = {}
    for tokens in names:
        terms = {token.term for token in tokens}
        for term in terms:
            coverage[term] = max(coverage.get(term, 0), round(255 / len(terms)))
    return coverage
