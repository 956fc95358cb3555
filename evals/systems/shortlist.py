"""Shortlist as it serves, without HTTP and Ray, and its reference: the same ranker over everything a scope admits.

It measures its own time and nothing else.
"""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, SearchRequest, VectorState
from cluster.discovery import Discovery
from cluster.embedder import Embedder
from cluster.flags import Flags
from cluster.local import LocalIndex
from cluster.ranker import AdditiveRanker
from cluster.settings.search import DiscoverySettings
from cluster.vector_cache import VectorCache
from evals.embedders import RECOMMENDED, open_embedder
from evals.run import Found, Progress
from evals.systems.setup import Setup
from shards.analyzer import ANALYZER_ID
from shards.record import Record
from shards.scope import Scope

OWN_CUT: Final = 100
"""``candidate_k`` of a measured search: the default of tools."""

_PATIENCE_MS: Final = 600_000
"""Time must not decide what an evaluation finds."""


class LexicalSystem:
    """A router over shards in this process, by words alone.

    Args:
        embedder: for those that are derived from it: of records and questions.

    Raises:
        EmbeddingFailed: if the embedder does.
        RegistryUnavailable: if the database of the vectors does not answer.
    """

    name = "lexical"

    def __init__(
        self,
        records: Sequence[Record],
        setup: Setup,
        progress: Progress = lambda _: None,
        embedder: Embedder | None = None,
    ) -> None:
        ranker = AdditiveRanker.from_config()
        self.identity: Mapping[str, str] = {"ranker": ranker.version, "analyzer": ANALYZER_ID}
        if embedder is not None:
            self.identity |= {"embedder": embedder.id}
        cache = VectorCache(f"sqlite:///{setup.vector_cache}") if embedder and setup.vector_cache else None
        self._index = LocalIndex.from_records(
            records if embedder else _counted(records, progress),
            shards=setup.shards,
            ranker=ranker,
            embedder=embedder,
            cache=cache,
            progress=progress,
            discovery=Discovery.shipped(
                embedder,
                cache=cache,
                settings=DiscoverySettings(
                    abstention="off" if setup.abstention is None else setup.abstention.value,
                ),
            ),
        )
        self._runner = asyncio.Runner()
        self._setup = setup
        self._scope = replace(setup.scope, narrowing=setup.narrowing)
        self._everything = max(setup.n, len(records))

    def search(self, question: str) -> Found:
        """See ``System``; the time is that of the whole answer, its documents included."""
        cut = max(OWN_CUT, self._setup.k)
        started_s = time.perf_counter()
        answer = self._runner.run(self._index.router.search(self._request(question, cut)))
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        candidates = self._runner.run(self._index.router.candidates(self._request(question, self._setup.n)))
        return Found(
            ranked=tuple(hit.record.id for hit in answer.hits),
            scores=tuple(hit.score for hit in answer.hits),
            candidates=candidates.ids,
            miss=None if answer.miss is None else answer.miss.reason.value,
            exact=answer.exact,
            elapsed_ms=elapsed_ms,
            trimmed=_trimmed(answer),
            vectors="" if answer.vectors.state is VectorState.OFF else answer.vectors.state.value,
            embed_ms=answer.timings_ms["embed"],
        )

    def full_ranking(self, question: str) -> tuple[tuple[str, int], ...]:
        """See ``System``: the ranker over every record that matches, with a cut nothing can fall below."""
        request = self._request(question, self._everything)
        everything = self._runner.run(self._index.router.candidates(request))
        return tuple(zip(everything.ids, everything.scores, strict=True))

    def hidden(self, ids: Collection[str]) -> Mapping[str, str]:
        """See ``System``: asked of the shards themselves, as every request asks them."""
        authorized, shown = (self._shown(scope, ids) for scope in (self._setup.scope, self._scope))
        return {one: "narrowed" if one in authorized else "not authorized" for one in ids if one not in shown}

    def _shown(self, scope: Scope, ids: Collection[str]) -> frozenset[str]:
        deadline = Deadline.after(_PATIENCE_MS)
        records = self._runner.run(self._index.router.documents(scope, sorted(ids), deadline))
        return frozenset(record.id for record in records)

    def _request(self, question: str, cut: int) -> SearchRequest:
        return SearchRequest(
            query=question,
            scope=self._scope,
            budget=Budget(
                candidate_k=cut,
                rerank_k=cut,
                evidence_k=min(cut, self._setup.k),
                evidence_tokens=self._setup.evidence_tokens,
                timeout_ms=_PATIENCE_MS,
            ),
            deadline=Deadline.after(_PATIENCE_MS),
            request_id="eval",
            flags=Flags(adaptive_discovery_k=self._setup.adaptive),
        )


class HybridSystem(LexicalSystem):
    """Words and vectors: as ``LexicalSystem``, with the embedder of the setup's models, or of the recommended ones."""

    name = "hybrid"

    def __init__(self, records: Sequence[Record], setup: Setup, progress: Progress = lambda _: None) -> None:
        super().__init__(records, setup, progress, open_embedder(setup.models or RECOMMENDED))


class FullRankSystem(LexicalSystem):
    """The reference of the lossless cut: the same ranker over the whole authorized set, nothing cut before it.

    It uses vectors where the setup names models, and turns nobody away.
    """

    name = "full-rank"

    def __init__(self, records: Sequence[Record], setup: Setup, progress: Progress = lambda _: None) -> None:
        super().__init__(records, setup, progress, open_embedder(setup.models))

    def search(self, question: str) -> Found:
        """See ``System``; without documents, and exact by construction."""
        started_s = time.perf_counter()
        everything = self._runner.run(self._index.router.candidates(self._request(question, self._everything)))
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        return Found(
            ranked=everything.ids[: self._setup.k],
            scores=everything.scores[: self._setup.k],
            candidates=everything.ids[: self._setup.n],
            miss=None if everything.ids else "no_match",
            exact=everything.exact,
            elapsed_ms=elapsed_ms,
        )


def _trimmed(answer: Answer) -> bool:
    talk = answer.talk is not None and answer.talk.abstained
    return talk or answer.adaptive_k is not None or answer.spent.dropped > 0


def _counted(records: Iterable[Record], progress: Progress) -> Iterator[Record]:
    for record in records:
        yield record
        progress(1)
