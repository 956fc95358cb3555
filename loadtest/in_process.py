"""In process: a router over shards of this process, which tells what each call to a shard cost. No Ray, no HTTP."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, SearchRequest
from cluster.discovery import Discovery
from cluster.dispatcher import RuleDispatcher
from cluster.embedder import Embedder
from cluster.partition import bucket_range
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from cluster.shard_client import LocalShardClient
from cluster.shard_map import ShardCopy, ShardMap
from shards.messages import ShardHits, ShardQuery
from shards.scope import Scope
from shards.shard import Shard

PATIENCE_MS: Final = 600_000
"""Time must not decide what is searched."""

SHIPPED: Final = Budget(candidate_k=100, rerank_k=100, evidence_k=10, evidence_tokens=2_400, timeout_ms=PATIENCE_MS)
"""The default ceilings of tools, but for the time."""


class TimedClient(LocalShardClient):
    """A shard in this process; ``spent_s`` adds up what its searches took on ``clock``."""

    def __init__(self, shard: Shard, clock: Callable[[], float]) -> None:
        super().__init__(shard)
        self._clock = clock
        self.spent_s = 0.0

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """See ``ShardClient.search``."""
        started_s = self._clock()
        hits = await super().search(batch)
        self.spent_s += self._clock() - started_s
        return hits


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one search took, in seconds on the clock.

    Attributes:
        whole_s: from the request to the answer, documents included.
        shards_s: of that, in the searches of each shard, all rounds.
    """

    whole_s: float
    shards_s: tuple[float, ...]

    @property
    def apart_s(self) -> float:
        """The time with a core for each shard: the router's part and the slowest shard's, transport left out."""
        return self.whole_s - sum(self.shards_s) + max(self.shards_s)


@dataclass(slots=True)
class InProcess:
    """Shards behind a router, asked one search at a time.

    Args:
        shards: all of one index.
        embedder: of queries; the shards hold vectors of its id.
        clock: in seconds; ``time.process_time`` tells CPU, ``time.perf_counter`` the time that passed.
    """

    shards: Sequence[Shard]
    embedder: Embedder | None = None
    clock: Callable[[], float] = time.process_time
    router: Router = field(init=False)
    _clients: list[TimedClient] = field(init=False)
    _runner: asyncio.Runner = field(init=False)

    def __post_init__(self) -> None:
        self._clients = [TimedClient(shard, self.clock) for shard in self.shards]
        copies = tuple(
            ShardCopy(shard=number, buckets=len(bucket_range(number, len(self.shards))), client=client)
            for number, client in enumerate(self._clients)
        )
        self.router = Router(
            ShardMap(version=1, copies=copies),
            ranker=AdditiveRanker.from_config(),
            dispatcher=RuleDispatcher(),
            embedder=self.embedder,
            discovery=Discovery.shipped(None),
        )
        self._runner = asyncio.Runner()

    def search(self, query: str, scope: Scope, budget: Budget = SHIPPED) -> tuple[Answer, Cost]:
        """The answer, and what it cost."""
        request = _request(query, scope, budget)
        before = [client.spent_s for client in self._clients]
        started_s = self.clock()
        answer = self._runner.run(self.router.search(request))
        whole_s = self.clock() - started_s
        shards_s = tuple(client.spent_s - past for client, past in zip(self._clients, before, strict=True))
        return answer, Cost(whole_s=whole_s, shards_s=shards_s)

    def rank_all(self, query: str, scope: Scope, records: int) -> float:
        """Seconds that the ranker takes over every record that matches, with a cut nothing can fall below."""
        everything = Budget(
            candidate_k=records, rerank_k=records, evidence_k=10, evidence_tokens=2_400, timeout_ms=PATIENCE_MS
        )
        request = _request(query, scope, everything)
        started_s = self.clock()
        self._runner.run(self.router.candidates(request))
        return self.clock() - started_s

    def admit(self, scope: Scope) -> None:
        """Have every shard know what ``scope`` admits, as after an earlier search; frequencies are counted by none."""
        owners = [f"nothing-{number}" for number in range(64 * len(self.shards))]
        self._runner.run(self.router.documents(scope, owners, Deadline.after(PATIENCE_MS)))


def _request(query: str, scope: Scope, budget: Budget) -> SearchRequest:
    return SearchRequest(
        query=query, scope=scope, budget=budget, deadline=Deadline.after(PATIENCE_MS), request_id="bench"
    )
