"""In-process indexes over drawn worlds, and the oracle's expectation of a whole answer."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, SearchRequest
from cluster.embedder import EmbeddedQuery, Embedder
from cluster.local import LocalIndex
from cluster.query import plan_query, spans
from cluster.ranker import AdditiveRanker, Ranker
from cluster.router import Router
from shards.mentions import Mentions
from shards.record import Record
from shards.scope import Scope
from tests.oracle import Asked, Mentioned, Mix, Oracle, Verdict, terms_asked
from tests.worlds import Question, World

RANKER: Final = AdditiveRanker.from_config()
LOOSE: Final = Budget(candidate_k=100, rerank_k=100, evidence_k=10, evidence_tokens=1_000_000, timeout_ms=60_000)
"""Time and tokens never decide, so that the answer depends on the catalogue alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One search: who, what, within which ceilings."""

    scope: Scope
    question: Question
    budget: Budget = LOOSE
    explain: bool = True


def index_of(
    world: World,
    *,
    more: Iterable[Record] = (),
    shards: int = 1,
    ranker: Ranker = RANKER,
    embedder: Embedder | None = None,
) -> LocalIndex:
    """An index over a world and further records beside it."""
    return LocalIndex.from_records(
        (*world.records, *more),
        shards=shards,
        grant_lists=world.grant_lists,
        seq=7,
        ranker=ranker,
        embedder=embedder,
    )


class Searchable(Protocol):
    """What has a router: an index of this module, or one that a test made."""

    @property
    def router(self) -> Router:
        """See the class."""


def answers(index: Searchable, asks: Sequence[Ask]) -> list[Answer]:
    """The answers to all asks, one after the other, freed of what may differ between equal searches."""
    return asyncio.run(_answers(index, asks))


async def _answers(index: Searchable, asks: Sequence[Ask]) -> list[Answer]:
    return [comparable(await index.router.search(request_of(ask))) for ask in asks]


def request_of(ask: Ask) -> SearchRequest:
    """The request of an ask."""
    return SearchRequest(
        query=ask.question.text,
        scope=ask.scope,
        budget=ask.budget,
        deadline=Deadline.after(ask.budget.timeout_ms),
        request_id="r",
        pinned=ask.question.pinned[: ask.budget.evidence_k],
        preferred=ask.question.preferred,
        explain=ask.explain,
    )


def comparable(answer: Answer) -> Answer:
    """The answer without request id, clock, rounds and the opaque index position (``seq`` is a part of that)."""
    return replace(answer, request_id="", timings_ms={}, index_position="", seq=0, rounds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """A question's vector, and the likeness of each record to it, by id."""

    embedded: EmbeddedQuery
    likenesses: Mapping[str, int]


def verdict_on(oracle: Oracle, ask: Ask, alike: Alike | None = None) -> Verdict:
    """The oracle's ranking, from the weights, mentions and mix that the cluster planned for the question.

    ``alike`` is None for a search by words alone.
    """
    plan = replace(plan_query(ask.question.text), embedded=None if alike is None else alike.embedded)
    assert list(plan.terms) == terms_asked(ask.question.text)
    mix = RANKER.mix(plan)
    fields = spans(ask.question.text, plan.terms)
    assert plan.mentions == Mentions.grouped(fields)
    mentions = [
        Mentioned(field=field.value, key=key, bonus=bonus)
        for field, groups in fields.items()
        for keys, bonus in groups
        for key in keys
    ]
    meant = oracle.meant(ask.scope, plan.terms, plan.term_weights)
    asked = Asked(
        terms=(*plan.terms, *meant),
        weights=(*plan.term_weights, *meant.values()),
        mentions=mentions,
        mix=Mix(impact=mix.impact, name=mix.name, presence=mix.presence, similarity=mix.similarity),
        likenesses={} if alike is None else alike.likenesses,
    )
    return oracle.judge(ask.scope, asked)


def expected_hits(oracle: Oracle, ask: Ask, verdict: Verdict) -> list[tuple[str, int]]:
    """(id, score) of the right hits: pinned ones in any case, then the best, all in the one total order.

    A preferred record is a candidate in any case, but a hit only where it scores.
    """
    scores = dict(verdict.ranking)
    places = ask.budget.evidence_k
    pinned = {one for one in ask.question.pinned[:places] if oracle.sees(ask.scope, one)}
    rows = {one: scores.get(one, 0) for one in {*scores, *pinned}}
    order = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    free = [row for row in order if row[0] not in pinned][: places - len(pinned)]
    return [row for row in order if row[0] in pinned or row in free]
