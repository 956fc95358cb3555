"""Counts: the same catalogue in more and more shards, in this process.

Shards of one process work one after the other, so two figures stand side by side: the CPU of all of them together, and
the time it would take with a core for each (the router's part and the slowest shard's; transport left out).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from loadtest.in_process import Cost, InProcess
from loadtest.spread import spread
from loadtest.store import Store
from loadtest.tiers import Share, scope_of

COUNTS: Final = (1, 2, 4, 8)
WARM: Final = 20


def by_count(
    store: Store, size: int, queries: Sequence[str], tell: Callable[[str], None], counts: Sequence[int] = COUNTS
) -> Iterator[dict[str, Any]]:
    """Figures at each number of shards, as plain JSON."""
    scope = scope_of(Share.ALL)
    for count in counts:
        index = InProcess(store.shards(size, count), clock=time.process_time)
        for query in queries[:WARM]:
            index.search(query, scope)
        costs = [index.search(query, scope)[1] for query in queries[WARM:]]
        point = {"records": size, "shards": count, **_figures(costs)}
        tell(
            f"{count} shard(s): {point['together']['p50_ms']:.2f} ms of CPU together,"
            f" {point['apart']['p50_ms']:.2f} ms with a core each"
        )
        yield point


def _figures(costs: Sequence[Cost]) -> dict[str, Any]:
    return {
        "together": spread([1_000 * cost.whole_s for cost in costs]),
        "apart": spread([1_000 * cost.apart_s for cost in costs]),
        "in_shards": spread([1_000 * sum(cost.shards_s) for cost in costs]),
    }
