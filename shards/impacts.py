"""Static per-posting values: what a term is worth in a record, before any statistics of the catalogue.

Field weights and length norms are constants, never corpus averages, so that a hidden record cannot change a value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from shards.analysis.prose import split_summary
from shards.analysis.schema import schema_text
from shards.analyzer import Spoken, actions_of, concepts_of, spoken_in
from shards.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """How much one occurrence of a term in a field counts.

    Attributes:
        weight: of one occurrence in a field of the usual length.
        slope: 0 = length does not matter, 1 = an occurrence counts in inverse proportion to the length.
        usual_length: words of a usual field of this kind; a constant, not an average.
        stop_words: whether stop words of this field are indexed.
        concepts: whether the field says what the tool is about, in few words: then its concepts are indexed as well.
    """

    weight: float
    slope: float
    usual_length: int
    stop_words: bool = True
    concepts: bool = False

    def occurrence(self, length: int) -> float:
        """The weight of one occurrence in a field of ``length`` words, stop words not counted."""
        return self.weight / (1 - self.slope + self.slope * max(1, length) / self.usual_length)


SATURATION: Final = 1.5
"""k1 of BM25F: the weighted frequency at which a term has half of its greatest impact."""

NAME: Final = Field(weight=3.0, slope=0.6, usual_length=5, concepts=True)
NAMESPACE: Final = Field(weight=0.7, slope=0.3, usual_length=2)
LABEL: Final = Field(weight=1.6, slope=0.3, usual_length=2, concepts=True)
KEYWORD: Final = Field(weight=2.4, slope=0.3, usual_length=2, concepts=True)
EXAMPLE: Final = Field(weight=1.6, slope=0.4, usual_length=6, concepts=True)
SUMMARY: Final = Field(weight=2.2, slope=0.6, usual_length=12, concepts=True)
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

CONCEPT_SHARE: Final = 0.5
"""Of the weight that a word has in a field, what the concept it says has there."""

OPENING_TERMS: Final = 2
"""Terms of a summary that may say the action: "Returns a list of ..."."""


def postings_of(record: Record) -> dict[str, tuple[int, int]]:
    """Each distinct term of a record with its two channels; of more than ``RECORD_TERMS``, the weightiest.

    Returns:
        term -> (impact_q in 1..255, name_q in 0..255). ``impact_q`` is the saturated weighted term frequency over
        all fields (BM25F, Robertson & Zaragoza 2009, eq. 3.20, with constant lengths) scaled to 255; ``name_q`` is
        255 divided by the number of distinct terms of the name (or the best alias) that holds the term, else 0.
    """
    fields = [(field, [spoken_in(text) for text in texts]) for field, texts in _fields(record) if any(texts)]
    weighted: dict[str, float] = {}
    words = sum(_add(weighted, field, texts) for field, texts in fields)
    share = RECORD.occurrence(min(words, LONGEST_RECORD))
    weighted.update(dict.fromkeys(_actions(fields), ACTION))
    coverage = _name_coverage(fields[0][1])
    if len(weighted) > RECORD_TERMS:
        weighted = dict(nsmallest(RECORD_TERMS, weighted.items(), key=lambda item: (-item[1], item[0])))
    shared = ((term, value * share) for term, value in weighted.items())
    return {term: (round(255 * value / (value + SATURATION)) or 1, coverage.get(term, 0)) for term, value in shared}


def _fields(record: Record) -> Iterator[tuple[Field, tuple[str, ...]]]:
    """All fields, the name first, each with its texts; of the texts of one field, a term counts in its best only.

    So ten examples with one word in common make a record no more about that word than one example does.
    """
    summary, detail = split_summary(record.description)
    yield NAME, (record.name, *record.aliases)
    yield SUMMARY, (summary,)
    yield DETAIL, (detail,)
    yield NAMESPACE, (record.namespace,)
    yield LABEL, ("\n".join(record.tags),)
    yield KEYWORD, record.keywords
    yield EXAMPLE, record.examples
    for label in (record.capability, record.domain, record.section):
        yield LABEL, (label,)
    if record.parameters != "{}":
        schema = schema_text(record.parameters)
        yield PROPERTY_NAMES, ("\n".join(schema.names),)
        yield PROPERTY_TEXTS, ("\n".join(schema.texts),)
        yield PROPERTY_VALUES, ("\n".join(schema.values),)


def _actions(fields: list[tuple[Field, list[Spoken]]]) -> Iterator[str]:
    """Actions that the names, the examples or the start of the summary say."""
    for field, texts in fields:
        if field is NAME or field is EXAMPLE or field is SUMMARY:
            end = OPENING_TERMS if field is SUMMARY else None
            for terms, _ in texts:
                yield from actions_of(terms[:end])


def _add(weighted: dict[str, float], field: Field, texts: list[Spoken]) -> int:
    """Add to ``weighted`` what each term has in the best of a field's texts; the words of the longest text."""
    if len(texts) == 1:
        return _add_text(weighted, field, texts[0])
    best: dict[str, float] = {}
    longest = 0
    for text in texts:
        values: dict[str, float] = {}
        longest = max(longest, _add_text(values, field, text))
        best.update((term, value) for term, value in values.items() if value > best.get(term, 0.0))
    for term, value in best.items():
        weighted[term] = weighted.get(term, 0.0) + value
    return longest


def _add_text(weighted: dict[str, float], field: Field, text: Spoken) -> int:
    """Add one text's occurrences and concepts to ``weighted``; its length in words, stop words not counted."""
    terms, words = text
    value = field.occurrence(len(words))
    # One addition for each occurrence, in order: a product would round otherwise.
    for term in terms if field.stop_words else words:
        weighted[term] = weighted.get(term, 0.0) + value
    if field.concepts:
        for concept in concepts_of(terms):
            weighted[concept] = weighted.get(concept, 0.0) + value * CONCEPT_SHARE
    return len(words)


def _name_coverage(names: list[Spoken]) -> dict[str, int]:
    coverage: dict[str, int] = {}
    for text in names:
        terms = set(text.terms)
        for term in terms:
            coverage[term] = max(coverage.get(term, 0), round(255 / len(terms)))
    return coverage
