"""Small catalogues on real shards, requests over them, and clients that are slow, hung, failing, greedy or behind."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, SearchRequest
from cluster.dispatcher import RuleDispatcher
from cluster.embedder import Embedder
from cluster.errors import ShardUnavailable
from cluster.partition import bucket_range, shard_of
from cluster.ranker import AdditiveRanker, Ranker
from cluster.router import Router
from cluster.shard_client import LocalShardClient, ShardClient
from cluster.shard_map import ShardCopy, ShardMap
from shards.messages import Document, DocumentRequest, NewVector, Outcome, ShardHits, ShardQuery
from shards.record import Access, Kind, Record, SideEffect, bucket_of
from shards.scope import Grant, Narrowing, Scope
from shards.shard import Shard
from tests.quick_time import deadline_after

RANKER: Final = AdditiveRanker.from_config()
BUDGET: Final = Budget(candidate_k=100, rerank_k=100, evidence_k=5, evidence_tokens=100_000, timeout_ms=60_000)


def tool(record_id: str, name: str, description: str = "", *, tenant: str = "acme", **more: object) -> Record:
    values: dict[str, object] = {"namespace": "srv", "version": 1, "access": Access(tenant=tenant)}
    return Record(id=record_id, kind=Kind.TOOL, name=name, description=description, **values | more)  # type: ignore[arg-type]


def scope_of(*tenants: str, narrowing: Narrowing | None = None) -> Scope:
    grant = Grant(
        reason="test",
        tenants=frozenset(tenants),
        permissions=frozenset(),
        mode="analyzer",
        side_effects=frozenset(SideEffect),
    )
    return Scope(grants=(grant,), narrowing=narrowing or Narrowing())


ACME: Final = scope_of("acme")


def request(query: str, *, scope: Scope = ACME, budget: Budget = BUDGET, **more: object) -> SearchRequest:
    deadline = Deadline.after(budget.timeout_ms)
    return SearchRequest(query=query, scope=scope, budget=budget, deadline=deadline, request_id="r", **more)  # type: ignore[arg-type]


def shards_of(records: Sequence[Record], count: int, *, seq: int = 1) -> tuple[Shard, ...]:
    """Loaded shards that hold these records by their buckets. Their clock stands: they are as quick as their client."""
    parts = tuple(Shard(number, clock=lambda: 0.0) for number in range(count))
    for part in parts:
        part.begin_load()
    for record in records:
        parts[shard_of(bucket_of(record.id), count)].load_batch([record.to_json()])
    for part in parts:
        part.finish_load(seq, {})
    return parts


def with_vectors(shards: tuple[Shard, ...], texts: Mapping[str, str], embedder: Embedder) -> tuple[Shard, ...]:
    """These shards, having taken the vectors of the texts of the records named."""
    for shard in shards:
        waiting = [one for one in shard.missing_vectors(embedder.id, 10_000) if one.record_id in texts]
        rows = embedder.embed_records([texts[one.record_id] for one in waiting])
        vectors = [
            NewVector(record_id=one.record_id, search_text_hash=one.search_text_hash, values=row.tobytes())
            for one, row in zip(waiting, rows, strict=True)
        ]
        assert shard.take_vectors(embedder.id, vectors) == len(vectors)
    return shards


def map_of(clients: Sequence[ShardClient | None], version: int = 1) -> ShardMap:
    copies = (
        ShardCopy(shard=number, buckets=len(bucket_range(number, len(clients))), client=client)
        for number, client in enumerate(clients)
    )
    return ShardMap(version=version, copies=tuple(copies))


def router_over(
    clients: Sequence[ShardClient | None],
    *,
    ranker: Ranker = RANKER,
    embedder: Embedder | None = None,
    cache_bytes: int = 10**6,
) -> Router:
    return Router(
        map_of(clients),
        ranker=ranker,
        dispatcher=RuleDispatcher(),
        embedder=embedder,
        document_cache_bytes=cache_bytes,
    )


def router_of(records: Sequence[Record], count: int = 1, *, ranker: Ranker = RANKER) -> Router:
    return router_over([LocalShardClient(shard) for shard in shards_of(records, count)], ranker=ranker)


async def timed(router: Router, asked: SearchRequest) -> tuple[Answer, float]:
    """The answer to a request that arrives now, and after how many milliseconds of the loop's clock it came."""
    began_s = asyncio.get_running_loop().time()
    answer = await router.search(replace(asked, deadline=deadline_after(asked.budget.timeout_ms)))
    return answer, (asyncio.get_running_loop().time() - began_s) * 1000


def ids_of(answer: Answer) -> list[str]:
    return [hit.record.id for hit in answer.hits]


def comparable(answer: Answer) -> Answer:
    """The answer without what may differ between equal searches."""
    return replace(answer, request_id="", timings_ms={}, index_position="", seq=0, rounds=1)


@dataclass(kw_only=True)
class Client:
    """A client of a real shard that counts calls and can misbehave in both of its methods.

    Attributes:
        delay_s: before each reply; infinity hangs for ever.
        failing: raises ``ShardUnavailable`` instead of a reply.
        broken: raises an error that no contract names.
        bodiless: brings no documents along with its rows, so that they have to be fetched.
        batches: number of queries of each search call.
        looked_up: calls for documents.
        open_calls: calls that have begun and not ended.
    """

    shard: Shard
    delay_s: float = 0.0
    failing: bool = False
    broken: bool = False
    bodiless: bool = False
    batches: list[int] = field(default_factory=list)
    looked_up: int = 0
    queries: list[ShardQuery] = field(default_factory=list)
    open_calls: int = 0

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        self.batches.append(len(batch))
        self.queries.extend(batch)
        await self._misbehave()
        if self.bodiless:
            batch = tuple(replace(query, bodies=0) for query in batch)
        return self.shard.search(batch)

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        self.looked_up += 1
        await self._misbehave()
        return self.shard.documents(batch)

    async def _misbehave(self) -> None:
        self.open_calls += 1
        try:
            if self.delay_s == float("inf"):
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(self.delay_s)
        finally:
            self.open_calls -= 1
        if self.failing:
            raise ShardUnavailable(0, "killed by a test")
        if self.broken:
            raise RuntimeError("a fault in the client")


@dataclass(kw_only=True)
class GreedyClient(Client):
    """Returns every matching record and its document whatever the cut, and documents of ids nobody asked for."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        return self.shard.search(tuple(replace(query, n=1_000, bodies=1_000) for query in batch))

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        everything = tuple(f"t{number:02d}" for number in range(100))
        return self.shard.documents(tuple(replace(asked, ids=everything) for asked in batch))


@dataclass(kw_only=True)
class LaggingClient(Client):
    """Says that it is behind for the first ``lag`` search calls."""

    lag: int = 0

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        replies = await super().search(batch)
        if len(self.batches) > self.lag:
            return replies
        return tuple(behind(len(query.terms)) for query in batch)


def behind(n_terms: int) -> ShardHits:
    return hits_of([], n_terms, outcome=Outcome.BEHIND)


def hits_of(
    rows: Sequence[tuple[str, Sequence[tuple[int, int]], int]],
    n_terms: int,
    *,
    weights: Sequence[int] | None = None,
    versions: Mapping[str, int] | None = None,
    threshold: int = -1,
    outcome: Outcome = Outcome.COMPLETE,
    likenesses: Sequence[int] | None = None,
) -> ShardHits:
    """A reply of (id, channels per term, bonus) rows under a mix of 1, 1, 0 and similarity 1.

    Scores go by ``weights``, 1 each if None; ``likenesses`` are 0 if None.
    """
    values = np.array([channels for _, channels, _ in rows], np.uint8).reshape(len(rows), n_terms, 2)
    bonuses = np.array([bonus for _, _, bonus in rows], np.int32)
    used = np.array(weights or [1] * n_terms, np.int64)
    alike = np.array(likenesses or [0] * len(rows), np.int32)
    scores = (values.astype(np.int64).sum(axis=2) * used).sum(axis=1) + bonuses + alike
    return ShardHits(
        outcome=outcome,
        ids=tuple(record_id for record_id, _, _ in rows),
        versions=np.array([(versions or {}).get(record_id, 1) for record_id, _, _ in rows], np.int64),
        scores=scores.astype(np.int32),
        values=values,
        bonuses=bonuses,
        likenesses=alike,
        frequencies=(values[:, :, 0] > 0).sum(axis=0).astype(np.int64),
        authorized=len(rows),
        matched=int((scores > 0).sum()),
        threshold=threshold,
        weights=used,
        seq=1,
    )
