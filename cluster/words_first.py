"""Words first: what words have found is compared with the query's vector, which orders it and finds nothing more.

One more question to each shard, whether it holds a candidate or not, so that counts are those of one index; scores and
order are the caller's. This is how a search goes where the flag VECTOR_CANDIDATE_RETRIEVAL does not hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cluster.budget import Deadline
from cluster.fanout import Lane, ask_shards
from cluster.merge import Pool
from shards.messages import ShardQuery


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Likenesses:
    """How much rows are like a query.

    Attributes:
        rows: int32[n_rows], in the order of the pool; 0 for a record that is gone since.
        missing: authorized records without a vector, of the shards that were asked.
        authorized: records of these shards.
    """

    rows: npt.NDArray[np.int32]
    missing: int
    authorized: int


async def likenesses_of(pool: Pool, query: ShardQuery, lanes: Sequence[Lane], deadline: Deadline) -> Likenesses | None:
    """Compare rows with the vector of ``query``; None where a shard did not answer in time.

    Args:
        pool: what words have found.
        query: as it was asked, with the vector.
        lanes: the shards that answered so far.
        deadline: of the search.
    """
    # Weights are given, so that no shard looks for near terms; kept ids come back whatever they score.
    asked = replace(
        query,
        preferred=pool.ids,
        n=1,
        weights=tuple(pool.weights.tolist()),
        remaining_ms=deadline.remaining_ms(),
        bodies=0,
    )
    replies = await ask_shards(lanes, asked, deadline)
    if replies.gaps:
        return None
    found: dict[str, int] = {}
    for hits in replies.hits.values():
        found |= zip(hits.ids, hits.likenesses.tolist(), strict=True)
    return Likenesses(
        rows=np.array([found.get(record_id, 0) for record_id in pool.ids], np.int32),
        missing=sum(hits.unembedded for hits in replies.hits.values()),
        authorized=sum(hits.authorized for hits in replies.hits.values()),
    )
