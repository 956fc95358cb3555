"""Vectors for timing: of the length of the recommended models' and of no meaning, because a scan costs the same.

What finding the right vector costs, and what vectors are worth, is measured elsewhere: ``evals``.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from cluster.embedder import EmbeddedQuery
from shards.messages import NewVector, VectorQuery
from shards.shard import Shard

DIMS: Final = 256
"""Of the two models that ``configs/projections`` brings to 128 directions each."""

_BATCH: Final = 10_000
_SEED: Final = 256


class RandomEmbedder:
    """An ``Embedder`` whose vectors are noise; a query's takes no time to speak of."""

    id = "noise-256"
    dims = DIMS

    def __init__(self) -> None:
        self._random = np.random.default_rng(_SEED)

    def embed_records(self, texts: Sequence[str]) -> npt.NDArray[np.int8]:
        """See ``Embedder``."""
        return self._random.integers(-64, 65, (len(texts), DIMS), np.int8)

    def embed_query(self, text: str) -> EmbeddedQuery | None:  # noqa: ARG002 -- as Embedder
        """See ``Embedder``; half of all records are like the query to some degree."""
        values = self._random.integers(-4_096, 4_097, DIMS, np.int16)
        return EmbeddedQuery(vector=VectorQuery(embedder=self.id, values=values, floor=0), models=("noise",))


def give_vectors(shard: Shard, embedder: RandomEmbedder) -> None:
    """A vector for every record of the shard. No graph is built, so every search scans all that it may see."""
    while missing := shard.missing_vectors(embedder.id, _BATCH):
        values = embedder.embed_records([one.record_id for one in missing])
        shard.take_vectors(
            embedder.id,
            [
                NewVector(record_id=one.record_id, search_text_hash=one.search_text_hash, values=row.tobytes())
                for one, row in zip(missing, values, strict=True)
            ],
        )
