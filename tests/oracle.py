"""A deliberately slow index in plain Python that says what the right answer is.

It shares no code with ``shards`` and ``cluster``: it takes their frozen values (records, scopes) and the published
constants of the fields, and writes each rule down a second time, straight from its documentation: admission, postings,
frequency weights, mentions, order. It reads text only where analysis is the identity: words of ``tests.worlds``.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from shards import impacts
from shards.record import Record, Status
from shards.scope import Denial, Grant, Narrowing, Scope
from tests import near_reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Mentioned:
    """A look-up of a whole field, with its bonus; ``key`` in any spelling."""

    field: str
    key: str
    bonus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Factors of the two channels, of presence, and of likeness."""

    impact: int
    name: int
    presence: int
    similarity: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A planned question: distinct terms with their weights, look-ups, and how channels add up.

    ``given`` are final weights that replace those of the authorized set's own frequencies, None for those.
    ``likenesses`` are those of the records' vectors to the question's, by id; 0 for a record that is not named.
    """

    terms: Sequence[str]
    weights: Sequence[int]
    mentions: Sequence[Mentioned]
    mix: Mix
    given: Sequence[int] | None = None
    likenesses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is right for one caller and one query.

    Attributes:
        authorized: number of records the scope admits.
        ranking: (id, score) of every admitted record that scores above 0, in the one total order.
        frequencies: admitted records that hold each term.
    """

    authorized: int
    ranking: tuple[tuple[str, int], ...]
    frequencies: tuple[int, ...]

    @property
    def matched(self) -> int:
        return len(self.ranking)


class Oracle:
    """Answers by looking at every record for every question."""

    def __init__(self, records: Iterable[Record], grant_lists: Mapping[str, Sequence[str]]) -> None:
        self.records = {record.id: record for record in records}
        self.grant_lists = {name: frozenset(ids) for name, ids in grant_lists.items()}

    def visible(self, scope: Scope) -> list[Record]:
        """The admitted records, by id."""
        return [self.records[one] for one in sorted(self.records) if self.admits(scope, self.records[one])]

    def sees(self, scope: Scope, record_id: str) -> bool:
        """Whether the scope admits the record of this id."""
        return record_id in self.records and self.admits(scope, self.records[record_id])

    def judge(self, scope: Scope, asked: Asked) -> Verdict:
        """Rank the whole authorized set."""
        admitted = self.visible(scope)
        postings = {record.id: postings_of(record) for record in admitted}
        frequencies = [sum(term in held for held in postings.values()) for term in asked.terms]
        pairs = zip(frequencies, asked.weights, strict=True)
        own = [worth(len(admitted), frequency, weight) for frequency, weight in pairs]
        worths = dict(zip(asked.terms, asked.given or own, strict=True))
        scores = {
            record.id: bonus_of(record, asked.mentions)
            + score_of(postings[record.id], worths, asked.mix)
            + asked.mix.similarity * asked.likenesses.get(record.id, 0)
            for record in admitted
        }
        scored = [(one, score) for one, score in scores.items() if score > 0]
        ranking = tuple(sorted(scored, key=lambda row: (-row[1], row[0])))
        return Verdict(authorized=len(admitted), ranking=ranking, frequencies=tuple(frequencies))

    def meant(self, scope: Scope, terms: Sequence[str], weights: Sequence[int]) -> dict[str, int]:
        """What the words of a question may mean that no admitted record holds, each term with its weight."""
        held = Counter(term for record in self.visible(scope) for term in postings_of(record))
        return near_reference.meant(terms, weights, held)

    def admits(self, scope: Scope, record: Record) -> bool:
        """Enabled, admitted by any grant, by no denial, and left by every narrowing."""
        return (
            record.status is Status.ENABLED
            and any(self._grants(grant, record) for grant in scope.grants)
            and not any(denies(denial, record) for denial in scope.denials)
            and self._leaves(scope.narrowing, record)
        )

    def _grants(self, grant: Grant, record: Record) -> bool:
        access = record.access
        return (
            access.tenant in grant.tenants
            and set(access.permissions) <= grant.permissions
            and (not access.modes or grant.mode in access.modes)
            and access.side_effect in grant.side_effects
            and (grant.namespaces is None or fits_any(grant.namespaces, record.namespace))
            and (grant.ids is None or record.id in grant.ids)
            and (grant.grant_list is None or record.id in self.grant_lists.get(grant.grant_list, ()))
        )

    def _leaves(self, narrowing: Narrowing, record: Record) -> bool:
        exact = (
            (narrowing.kinds, record.kind.value), (narrowing.products, record.product),
            (narrowing.locales, record.locale), (narrowing.releases, record.release),
            (narrowing.domains, record.domain), (narrowing.capabilities, record.capability),
            (narrowing.ids, record.id),
        )  # fmt: skip
        return (
            all(wanted is None or value in wanted for wanted, value in exact)
            and (narrowing.namespaces is None or fits_any(narrowing.namespaces, record.namespace))
            and (narrowing.grant_list is None or record.id in self.grant_lists.get(narrowing.grant_list, ()))
        )


def denies(denial: Denial, record: Record) -> bool:
    return record.id in denial.ids or fits_any(denial.namespaces, record.namespace)


def fits_any(patterns: Iterable[str], namespace: str) -> bool:
    """Exact, or a prefix where the pattern ends in a star."""
    return any(
        namespace[: len(pattern) - 1] == pattern[:-1] if pattern[-1:] == "*" else namespace == pattern
        for pattern in patterns
    )


def worth(authorized: int, frequency: int, weight: int) -> int:
    """128 · ln(1 + (N − df + ½) / (df + ½)) · weight / 256, rounded, in 1..2047; 0 for a term nobody holds."""
    if frequency == 0:
        return 0
    idf = math.log(1 + (authorized - frequency + 0.5) / (frequency + 0.5))
    return min(2047, max(1, round(128 * idf * weight / 256)))


def score_of(held: Mapping[str, tuple[int, int]], worths: Mapping[str, int], mix: Mix) -> int:
    """The sum over the terms that the record holds."""
    return sum(
        worths[term] * (mix.impact * impact + mix.name * name + mix.presence)
        for term, (impact, name) in held.items()
        if term in worths
    )


def likeness_of(vector: Sequence[int], question: Sequence[int], floor: int) -> int:
    """Whole steps of 1024 by which the product of both exceeds the floor, in 0..2047."""
    product = sum(one * other for one, other in zip(vector, question, strict=True))
    return min(2047, max(0, math.floor((product - floor) / 1024)))


def bonus_of(record: Record, mentions: Sequence[Mentioned]) -> int:
    """The best bonus of each field whose value is mentioned, added up over the fields."""
    values = {
        "name": {squeezed(name) for name in (record.name, *record.aliases)},
        "capability": {squeezed(record.capability)},
        "domain": {squeezed(record.domain)},
    }
    best: dict[str, int] = {}
    for mention in mentions:
        if squeezed(mention.key) in values[mention.field]:
            best[mention.field] = max(best.get(mention.field, 0), mention.bonus)
    return sum(best.values())


def squeezed(text: str) -> str:
    """Letters and digits only, lower case. Words of one length make this as good as any normal form of a name."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def tokens_in(text: str) -> list[str]:
    """The terms of a text where analysis is the identity: words, and after ``one_two`` also ``onetwo``."""
    terms: list[str] = []
    for run in re.findall(r"[a-z0-9_]+", text):
        parts = [part for part in run.split("_") if part]
        terms += parts
        joined = "".join(parts)
        if joined and joined not in parts:
            terms.append(joined)
    return terms


def terms_asked(text: str) -> list[str]:
    """The distinct terms of a question in order of first appearance; how much each weighs is the planner's choice."""
    return list(dict.fromkeys(tokens_in(text)))


def postings_of(record: Record) -> dict[str, tuple[int, int]]:
    """BM25F with constant lengths: 255 · f / (f + k1) rounded, never 0; and 255 / words of the name that holds it.

    ``f`` adds up the occurrences, each by the norm of its field, all by the norm of the whole record; where a field has
    several texts, a term counts in the best of them, and the longest makes the length.
    """
    fields = [(norm, [tokens_in(text) for text in texts]) for norm, texts in texts_of(record)]
    whole = min(impacts.LONGEST_RECORD, sum(max(map(len, texts), default=0) for _, texts in fields))
    frequencies: dict[str, list[float]] = {}
    for norm, texts in fields:
        best: dict[str, tuple[float, list[float]]] = {}
        for terms in texts:
            part = normed(norm, len(terms)) * normed(impacts.RECORD, whole)
            for term in set(terms):
                parts = [part] * terms.count(term)
                best[term] = max(best.get(term, (0.0, [])), (sum(parts), parts))
        for term, (_, parts) in best.items():
            frequencies.setdefault(term, []).extend(parts)
    names = [set(tokens_in(name)) for name in (record.name, *record.aliases)]
    return {
        term: (
            max(1, round(255 * sum(parts) / (sum(parts) + impacts.SATURATION))),
            max((round(255 / len(name)) for name in names if term in name), default=0),
        )
        for term, parts in frequencies.items()
    }


def normed(norm: impacts.Field, length: int) -> float:
    """Weight of one occurrence: constant where slope is 0, in inverse proportion to the length where it is 1."""
    return norm.weight / (1 - norm.slope + norm.slope * length / norm.usual_length)


def texts_of(record: Record) -> list[tuple[impacts.Field, Sequence[str]]]:
    """The norm of each field and its texts; a JSON schema has property names, descriptions and values.

    A description of ``tests.worlds`` has no sentences, so all of it is the summary.
    """
    properties = orjson.loads(record.parameters).get("properties", {})
    return [
        (impacts.NAME, (record.name, *record.aliases)),
        (impacts.NAMESPACE, (record.namespace,)),
        (impacts.LABEL, (" ".join(record.tags),)),
        (impacts.KEYWORD, record.keywords),
        *((impacts.LABEL, (label,)) for label in (record.capability, record.domain, record.section)),
        (impacts.SUMMARY, (record.description,)),
        (impacts.EXAMPLE, record.examples),
        (impacts.PROPERTY_NAMES, (" ".join(properties),)),
        (impacts.PROPERTY_TEXTS, (" ".join(part["description"] for part in properties.values()),)),
        (impacts.PROPERTY_VALUES, (" ".join(v for part in properties.values() for v in part.get("enum", ())),)),
    ]
