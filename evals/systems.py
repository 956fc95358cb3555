"""Systems under test behind ``evals.run.System``: shortlist in process, its own full ranking, and plain BM25.

They build an index from records and answer; they read no files and measure nothing but their own time.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cluster.budget import Budget, Deadline
from cluster.contract import SearchRequest
from cluster.local import LocalIndex
from evals.bm25 import Bm25Index
from evals.run import Found, Progress
from shards.record import SHARED_TENANT, Record, SideEffect
from shards.scope import Grant, Scope

OWN_CUT: Final = 100
"""``candidate_k`` of a measured search: the default of tools."""

_UNLIMITED_TOKENS: Final = 2**31
_PATIENCE_MS: Final = 600_000
"""Neither tokens nor time may decide what an evaluation finds."""

EVERYTHING: Final = Scope(
    grants=(
        Grant(
            reason="evaluation",
            tenants=frozenset({SHARED_TENANT}),
            permissions=frozenset(),
            mode="analyzer",
            side_effects=frozenset(SideEffect),
        ),
    )
)
"""Admits every record that ``evals.data`` reads."""


class ShortlistSystem:
    """The product as it serves, without HTTP and Ray: a router over shards in this process.

    Args:
        k: most ids in an answer.
        n: candidates to report, at least ``k``.
        shards: parts of the index.
    """

    name = "shortlist"

    def __init__(
        self, records: Sequence[Record], *, k: int, n: int, shards: int = 1, progress: Progress = lambda _: None
    ) -> None:
        self._index = LocalIndex.from_records(_counted(records, progress), shards=shards)
        self._runner = asyncio.Runner()
        self._k = k
        self._n = n
        self._everything = max(n, len(records))

    def search(self, question: str) -> Found:
        """See ``System``; the time is that of the whole answer, its documents included."""
        cut = max(OWN_CUT, self._k)
        started_s = time.perf_counter()
        answer = self._runner.run(self._index.router.search(self._request(question, cut)))
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        candidates = self._runner.run(self._index.router.candidates(self._request(question, self._n)))
        return Found(
            ranked=tuple(hit.record.id for hit in answer.hits),
            scores=tuple(hit.score for hit in answer.hits),
            candidates=candidates.ids,
            miss=None if answer.miss is None else answer.miss.reason.value,
            exact=answer.exact,
            elapsed_ms=elapsed_ms,
        )

    def full_ranking(self, question: str) -> tuple[tuple[str, int], ...]:
        """See ``System``: the ranker over every record that matches, with a cut nothing can fall below."""
        request = self._request(question, self._everything)
        everything = self._runner.run(self._index.router.candidates(request))
        return tuple(zip(everything.ids[: self._k], everything.scores[: self._k], strict=True))

    def _request(self, question: str, cut: int) -> SearchRequest:
        return SearchRequest(
            query=question,
            scope=EVERYTHING,
            budget=Budget(
                candidate_k=cut,
                rerank_k=cut,
                evidence_k=min(cut, self._k),
                evidence_tokens=_UNLIMITED_TOKENS,
                timeout_ms=_PATIENCE_MS,
            ),
            deadline=Deadline.after(_PATIENCE_MS),
            request_id="eval",
        )


class FullRankSystem(ShortlistSystem):
    """The reference of the lossless cut: the same ranker over the whole authorized set, nothing cut before it."""

    name = "full-rank"

    def search(self, question: str) -> Found:
        """See ``System``; without documents, and exact by construction."""
        started_s = time.perf_counter()
        everything = self._runner.run(self._index.router.candidates(self._request(question, self._everything)))
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        return Found(
            ranked=everything.ids[: self._k],
            scores=everything.scores[: self._k],
            candidates=everything.ids[: self._n],
            miss=None if everything.ids else "no_match",
            exact=everything.exact,
            elapsed_ms=elapsed_ms,
        )


class Bm25System:
    """The yardstick (``evals.bm25``): no scopes, no proof, no claim."""

    name = "bm25"

    def __init__(self, records: Sequence[Record], *, k: int, n: int, progress: Progress = lambda _: None) -> None:
        self._index = Bm25Index(records, progress)
        self._k = k
        self._n = n

    def search(self, question: str) -> Found:
        """See ``System``."""
        started_s = time.perf_counter()
        candidates = self._index.search(question, self._n)
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        return Found(
            ranked=candidates[: self._k],
            scores=(),
            candidates=candidates,
            miss=None if candidates else "no_match",
            exact=None,
            elapsed_ms=elapsed_ms,
        )

    def full_ranking(self, question: str) -> None:
        """See ``System``: there is none to compare with."""


def _counted(records: Iterable[Record], progress: Progress) -> Iterator[Record]:
    for record in records:
        yield record
        progress(1)
