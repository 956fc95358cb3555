"""Discovery: how much of a ranked list an answer shows: nothing to talk, all of it, or as far as the scores carry.

It orders nothing and fetches nothing. What is pinned is always shown.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache as once
from typing import Final, Self

from cluster.abstention import Rule, Strictness, suspicion_of
from cluster.adaptive import AdaptiveK
from cluster.budget import Deadline
from cluster.config import Settings
from cluster.contract import SearchRequest, TalkVerdict
from cluster.embedder import Embedder
from cluster.errors import EmbeddingFailed, RegistryUnavailable
from cluster.fanout import Lane, ask_shards
from cluster.merge import Pool, summed_frequencies
from cluster.registry_schema import sqlite_url
from cluster.retrieval import Retrieved
from cluster.settings.search import DiscoverySettings
from cluster.smalltalk import SmallTalk, TalkVectors
from cluster.vector_cache import VectorCache
from shards.mentions import NO_MENTIONS
from shards.messages import ScoreMix, ShardQuery
from shards.statistics import FULL_WEIGHT

IN_THE_NAME: Final = ScoreMix(impact=0, name=1, presence=0)
"""Scores a record above 0 if and only if a term stands in its name."""

TALK_FILE: Final = "talk.db"
"""Database of the vectors of talk, in the home of an instance."""

NOTHING: Final = ScoreMix(impact=0, name=0, presence=0)
"""Scores no record: only the frequencies are wanted."""


_log = logging.getLogger(__name__)


class Abstainer:
    """The rule, the talk it listens for, and how strict it is.

    Args:
        vectors: of the embedder of the queries; None judges by the words' rule, also what vectors were used for.
    """

    def __init__(
        self,
        rule: Rule,
        talk: SmallTalk,
        *,
        vectors: TalkVectors | None = None,
        strictness: Strictness = Strictness.BALANCED,
    ) -> None:
        self._rule = rule
        self._talk = talk
        self._vectors = vectors
        self._strictness = strictness

    async def verdict(
        self, request: SearchRequest, found: Retrieved, lanes: Sequence[Lane], deadline: Deadline
    ) -> TalkVerdict | None:
        """Whether to turn a request away.

        Shards are asked a second time only on suspicion: whether a record of the caller serves what the talk is
        about. A shard that does not answer that leaves the request its hits. None where nothing was authorized.
        """
        question, ranked = found.question, found.ranking.rows
        if not ranked.authorized:
            return None
        frequencies = summed_frequencies(found.replies.hits.values(), len(question.terms))
        suspicion = suspicion_of(question, ranked, frequencies, self._talk, self._vectors, text=request.query)
        vectors = question.embedded is not None and self._vectors is not None
        # To serve a topic only takes away from what speaks for talk, so who passes now would pass then.
        verdict = self._rule.judge(suspicion.signals(()), self._strictness, vectors=vectors)
        if not verdict.abstained:
            return verdict
        topics = sorted(suspicion.topics)
        served = await self._served(topics, request, lanes, deadline)
        return self._rule.judge(suspicion.signals(served), self._strictness, vectors=vectors)

    async def _served(
        self, topics: Sequence[int], request: SearchRequest, lanes: Sequence[Lane], deadline: Deadline
    ) -> Collection[int]:
        """Of these topics, those that the caller's records serve, and perhaps others."""
        talk = self._talk
        queries = [_asking(talk.concepts, NOTHING, request, deadline)]
        queries += (_asking(talk.topics[topic].names, IN_THE_NAME, request, deadline) for topic in topics)
        about, *named = await asyncio.gather(*(ask_shards(lanes, query, deadline) for query in queries))
        if about.gaps or any(replies.gaps for replies in named):
            return range(len(talk.topics))
        return talk.served_by(
            dict(zip(talk.concepts, summed_frequencies(about.hits.values(), len(talk.concepts)), strict=True)),
            {
                topic: sum(hits.matched for hits in replies.hits.values())
                for topic, replies in zip(topics, named, strict=True)
            },
            sum(hits.authorized for hits in about.hits.values()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The rows of an answer in their order with their scores, and what decided how many there are."""

    rows: Pool
    scores: list[int]
    talk: TalkVerdict | None = None
    adaptive_k: int | None = None

    @property
    def abstained(self) -> bool:
        """Whether the request was turned away, so that only pinned rows are left."""
        return self.talk is not None and self.talk.abstained

    def shortened(self, k: int, pinned: Collection[str]) -> "Shown":
        """The best ``k`` rows, and pinned ones."""
        kept = [row for row, record_id in enumerate(self.rows.ids) if row < k or record_id in pinned]
        return replace(self, rows=self.rows.rows(kept), scores=[self.scores[row] for row in kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What decides beside the request's k; the default is nothing.

    Attributes:
        abstainer: None turns nobody away.
        adaptive: used for requests with the flag ADAPTIVE_DISCOVERY_K; None shows as many as were asked for.
    """

    abstainer: Abstainer | None = None
    adaptive: AdaptiveK | None = None

    @classmethod
    def shipped(
        cls,
        embedder: Embedder | None,
        *,
        cache: VectorCache | None = None,
        settings: DiscoverySettings = DiscoverySettings(),  # noqa: B008 -- frozen
    ) -> Self:
        """With the shipped rule, talk and curves.

        Args:
            embedder: of the queries, None for searches by words alone.
            cache: of the vectors of talk.
            settings: which of them are used.

        Raises:
            EmbeddingFailed: if the embedder does.
        """
        abstainer = None
        if settings.abstention != "off":
            rule, talk = _shipped_rule()
            vectors = None if embedder is None else TalkVectors(talk, embedder, cache)
            abstainer = Abstainer(rule, talk, vectors=vectors, strictness=Strictness(settings.abstention))
        return cls(abstainer=abstainer, adaptive=_shipped_curves())

    async def shown(self, request: SearchRequest, found: Retrieved, lanes: Sequence[Lane], deadline: Deadline) -> Shown:
        """The rows to show, at most ``budget.evidence_k``."""
        rows, scores = found.ranking.result(request.pinned, request.budget.evidence_k)
        verdict = None
        if self.abstainer is not None and not found.replies.gaps:
            verdict = await self.abstainer.verdict(request, found, lanes, deadline)
        shown = Shown(rows=rows, scores=scores, talk=verdict)
        if shown.abstained:
            return shown.shortened(0, request.pinned)
        if self.adaptive is None or not request.flags.adaptive_discovery_k:
            return shown
        k = self.adaptive.cut(scores, vectors=found.question.embedded is not None)
        return replace(shown.shortened(k, request.pinned), adaptive_k=k)


def discovery_of(settings: Settings, embedder: Embedder | None) -> Discovery:
    """What an instance uses. Vectors of talk are kept in its home, because a slow model takes a while for them.

    Without them, where the embedder fails, talk is known by its words alone.
    """
    cache = None
    try:
        cache = None if embedder is None else VectorCache(sqlite_url(settings.home / TALK_FILE))
    except RegistryUnavailable:
        _log.warning("talk_vectors_not_kept", exc_info=True)
    try:
        return Discovery.shipped(embedder, cache=cache, settings=settings.discovery)
    except EmbeddingFailed:
        _log.exception("talk_not_embedded")
        return Discovery.shipped(None, settings=settings.discovery)
    finally:
        if cache is not None:
            cache.close()


@once
def _shipped_rule() -> tuple[Rule, SmallTalk]:
    return Rule.from_config(), SmallTalk.from_config()


@once
def _shipped_curves() -> AdaptiveK:
    return AdaptiveK.from_config()


def _asking(terms: tuple[str, ...], mix: ScoreMix, request: SearchRequest, deadline: Deadline) -> ShardQuery:
    return ShardQuery(
        scope=request.scope,
        terms=terms,
        term_weights=(FULL_WEIGHT,) * len(terms),
        mix=mix,
        mentions=NO_MENTIONS,
        pinned=(),
        preferred=(),
        n=1,
        # Given, so that no shard looks for near terms; of what comes back only frequencies and scores above 0 count.
        weights=(1,) * len(terms),
        remaining_ms=deadline.remaining_ms(),
        min_seq=request.min_seq,
    )
