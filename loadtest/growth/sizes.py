"""Sizes: a search in this process over growing catalogues, in the three ways that the reference's table has.

One shard, one thread, no HTTP and no Ray: what grows is the search itself. Times are those of the processor, so that
other work on the machine hardly shows.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from loadtest.growth.vectors import RandomEmbedder, give_vectors
from loadtest.in_process import InProcess
from loadtest.spread import spread
from loadtest.store import Store
from loadtest.tiers import Share, scope_of
from shards.scope import Scope
from shards.shard import Shard

FULL, INDEX, VECTORS = "full ranking", "index", "index and exact vectors"

MOST_S: Final = 12.0
"""A point is left after so much time, if ``FEWEST`` searches were measured."""

FEWEST: Final = 5
WARM: Final = 5

Tell = Callable[[str], None]
_Ask = Callable[[str], float]


def by_size(store: Store, sizes: Sequence[int], queries: Sequence[str], tell: Tell) -> Iterator[dict[str, Any]]:
    """Latency and throughput of each way at each size, as plain JSON."""
    scope = scope_of(Share.ALL)
    for size in sizes:
        shards = store.shards(size)
        for way, ask in _ways(shards, scope, size):
            taken_ms = [1_000 * one for one in _taken(ask, queries)]
            rps = round(1_000 * len(taken_ms) / sum(taken_ms), 2)
            point = {"records": size, "way": way, **spread(taken_ms), "rps": rps}
            tell(f"{size:>9,} records  {way:<24} p50 {point['p50_ms']:9.2f}  p95 {point['p95_ms']:9.2f} ms")
            yield point


def _ways(shards: Sequence[Shard], scope: Scope, size: int) -> Iterator[tuple[str, _Ask]]:
    """How each way asks; the records get their vectors when the last one's turn comes."""
    words = InProcess(shards, clock=time.process_time)
    yield FULL, lambda query: words.rank_all(query, scope, size)
    yield INDEX, lambda query: words.search(query, scope)[1].whole_s
    embedder = RandomEmbedder()
    for shard in shards:
        give_vectors(shard, embedder)
    hybrid = InProcess(shards, embedder, time.process_time)
    yield VECTORS, lambda query: hybrid.search(query, scope)[1].whole_s


def _taken(ask: _Ask, queries: Sequence[str]) -> Iterator[float]:
    for query in queries[:WARM]:
        ask(query)
    began_s = time.perf_counter()
    for asked, query in enumerate(queries[WARM:]):
        if asked >= FEWEST and time.perf_counter() - began_s > MOST_S:
            return
        yield ask(query)
