"""Suggestions: metadata that would close misses, for a record's owner to review. Nothing is applied here.

A suggestion is made from the very question it closes, so it must not be judged on that question: what it is worth
shows on questions it was not made from.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypedDict

from evals.misses import Miss, Reason
from evals.run import System
from evals.unheld import unheld_words
from shards.record import Record

CAVEAT: Final = (
    "Each suggestion comes from the question it closes: review it as an owner of the tool would, "
    "and measure it on other questions, never on these labels."
)

LONGEST_ALIAS: Final = 5
"""Words of a question that can be another name of a tool; a longer one is an example of its use."""

_CLOSED_BY_METADATA: Final = frozenset({Reason.OUTRANKED, Reason.NOT_A_CANDIDATE, Reason.ABSTAINED})

Open = Callable[[Sequence[Record]], System]
"""Builds a system over changed records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to add to one record so that one question finds it.

    Attributes:
        closes: the question found the record once all suggestions were applied to a copy of the catalogue.
    """

    miss: Miss
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    closes: bool = False


class SuggestionRow(TypedDict):
    """A suggestion as one JSON object: the additions to the record ``id``, and where they come from."""

    id: str
    add_aliases: list[str]
    add_keywords: list[str]
    add_examples: list[str]
    query_id: str
    query: str
    lang: str
    why: str
    closes_its_query: bool


class Summary(TypedDict):
    """How many suggestions there are, how many would close their own question, and what they do not prove."""

    made: int
    closing: int
    caveat: str


def suggestions_for(misses: Iterable[Miss], records: Sequence[Record], opened: Open) -> tuple[Suggestion, ...]:
    """The least that closes each miss, in the order of the misses; absent, hidden and unaffordable ones are left out.

    Keywords are tried first, then the question as an example, then, if it is short, as an alias.
    """
    by_id = {record.id: record for record in records}
    found = [Suggestion(miss=miss) for miss in misses if miss.reason in _CLOSED_BY_METADATA]
    for widened in (_with_keywords, _with_example, _with_alias):
        if all(one.closes for one in found):
            break
        tried = [one if one.closes else widened(one, by_id[one.miss.record_id]) for one in found]
        found = _checked(tried, opened(applied(records, tried)))
    return tuple(found)


def applied(records: Iterable[Record], suggestions: Iterable[Suggestion]) -> tuple[Record, ...]:
    """The records with the additions of all suggestions for them; what a record has already is not added again."""
    changed = {record.id: record for record in records}
    for one in suggestions:
        record = changed[one.miss.record_id]
        changed[record.id] = replace(
            record,
            aliases=tuple(dict.fromkeys((*record.aliases, *one.aliases))),
            keywords=tuple(dict.fromkeys((*record.keywords, *one.keywords))),
            examples=tuple(dict.fromkeys((*record.examples, *one.examples))),
        )
    return tuple(changed.values())


def row_of(suggestion: Suggestion) -> SuggestionRow:
    """A suggestion as one JSON object."""
    miss = suggestion.miss
    return SuggestionRow(
        id=miss.record_id,
        add_aliases=list(suggestion.aliases),
        add_keywords=list(suggestion.keywords),
        add_examples=list(suggestion.examples),
        query_id=miss.question.id,
        query=miss.question.text,
        lang=miss.question.lang,
        why=_why(suggestion),
        closes_its_query=suggestion.closes,
    )


def summary_of(suggestions: Sequence[Suggestion]) -> Summary:
    """What to tell whoever asked for suggestions."""
    return Summary(made=len(suggestions), closing=sum(one.closes for one in suggestions), caveat=CAVEAT)


def _with_keywords(one: Suggestion, record: Record) -> Suggestion:
    return replace(one, keywords=unheld_words(one.miss.question.text, record))


def _with_example(one: Suggestion, _record: Record) -> Suggestion:
    return replace(one, examples=(one.miss.question.text,))


def _with_alias(one: Suggestion, _record: Record) -> Suggestion:
    text = one.miss.question.text
    return replace(one, aliases=(text,)) if len(text.split()) <= LONGEST_ALIAS else one


def _checked(suggestions: Sequence[Suggestion], system: System) -> list[Suggestion]:
    return [
        replace(one, closes=one.miss.record_id in system.search(one.miss.question.text).ranked) for one in suggestions
    ]


def _why(suggestion: Suggestion) -> str:
    miss = suggestion.miss
    place = f"ranked {miss.rank}" if miss.rank else "no match"
    if suggestion.keywords:
        said = f"no field holds {', '.join(suggestion.keywords)}"
    else:
        said = "its fields hold every word of the query, and so do those of others"
    return f"{miss.reason.value} ({place}): {said}"
