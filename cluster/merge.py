"""Merge: the replies of many shards become one list under the one total order (score descending, id ascending).

Pure functions. The order never depends on how many shards there are or which answered first. Nothing is ranked here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import chain, repeat
from operator import add
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from cluster.query import AnalyzedRequest
from shards.messages import ScoreMix, ShardHits
from shards.scoring import index_scores
from shards.statistics import frequency_weight

WEIGHTS: Final = 65_536
"""Frequency weights that are remembered: requests of one scope share its counts, and most of their words."""

Number = TypeVar("Number", np.uint8, np.int32, np.int64)

_weight: Final = lru_cache(WEIGHTS)(frequency_weight)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """Known rows of all shards, each id once, ordered by (score descending, id ascending).

    Attributes:
        ids: n_rows record ids.
        shards: the shard each row came from.
        versions: int64[n_rows].
        scores: int64[n_rows], index scores under the summed weights, bonus and similarity included.
        values: uint8[n_rows, n_terms, 2] as in ``ShardHits``.
        bonuses: int32[n_rows].
        likenesses: int32[n_rows].
        weights: int64[n_terms], from the frequencies of every shard that answered.
        authorized: authorized records in these shards.
        matched: those of them with a score above 0.
    """

    ids: tuple[str, ...]
    shards: tuple[int, ...]
    versions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    likenesses: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int64]
    authorized: int
    matched: int

    def floor(self, places: int) -> int | None:
        """Score at the last of the best ``places``, None while fewer rows are known."""
        return int(self.scores[places - 1]) if len(self.ids) >= places else None

    def rows(self, chosen: Sequence[int]) -> "Pool":
        """Only the rows at these positions, in the order given."""
        if (best := len(chosen)) and chosen[-1] == best - 1 and list(chosen) == list(range(best)):
            return self.best(best)
        ids, shards = self.ids, self.shards
        return self._with(
            np.asarray(chosen, dtype=np.intp),
            tuple([ids[row] for row in chosen]),
            tuple([shards[row] for row in chosen]),
        )

    def best(self, n: int) -> "Pool":
        """The first ``n`` rows, or all there are; nothing is copied."""
        return self if len(self.ids) <= n else self._with(slice(n), self.ids[:n], self.shards[:n])

    def _with(self, index: npt.NDArray[np.intp] | slice, ids: tuple[str, ...], shards: tuple[int, ...]) -> "Pool":
        return Pool(
            ids=ids,
            shards=shards,
            versions=self.versions[index],
            scores=self.scores[index],
            values=self.values[index],
            bonuses=self.bonuses[index],
            likenesses=self.likenesses[index],
            weights=self.weights,
            authorized=self.authorized,
            matched=self.matched,
        )


def within_ceiling(hits: ShardHits, n: int, kept: Collection[str]) -> tuple[ShardHits, int]:
    """A reply that obeys the cut it was asked for, and how many rows had to go.

    Rows after the n-th stay only if their id is in ``kept``; the threshold then covers what was taken away.
    """
    surplus = [row for row in range(n, len(hits.ids)) if hits.ids[row] not in kept] if len(hits.ids) > n else []
    if not surplus:
        return hits, 0
    gone = set(surplus)
    stay = np.array([row for row in range(len(hits.ids)) if row not in gone], dtype=np.intp)
    obedient = replace(
        hits,
        ids=tuple(hits.ids[row] for row in stay),
        versions=hits.versions[stay],
        scores=hits.scores[stay],
        values=hits.values[stay],
        bonuses=hits.bonuses[stay],
        likenesses=hits.likenesses[stay],
        threshold=max(hits.threshold, int(hits.scores[surplus].max())),
    )
    return obedient, len(surplus)


def summed_frequencies(replies: Iterable[ShardHits], n_terms: int) -> list[int]:
    """How many authorized records hold each term, over all these shards together."""
    return reduce(_added, [hits.frequencies.tolist() for hits in replies], [0] * n_terms)


def _added(some: Iterable[int], others: Iterable[int]) -> list[int]:
    return list(map(add, some, others))


def summed_weights(replies: Collection[ShardHits], term_weights: Sequence[int]) -> npt.NDArray[np.int64]:
    """int64[n_terms], the weight of each term over the authorized records of all these shards together."""
    authorized = sum(hits.authorized for hits in replies)
    frequencies = summed_frequencies(replies, len(term_weights))
    return np.array(list(map(_weight, repeat(authorized), frequencies, term_weights)), dtype=np.int64)


def merge(
    replies: Mapping[int, ShardHits], question: AnalyzedRequest, mix: ScoreMix, n: int, kept: Collection[str] = ()
) -> Pool:
    """One pool of the best ``n`` rows and those with an id in ``kept``, rescored with the summed weights.

    The same rows however many shards sent more; no replies give an empty pool. An id that two shards sent (records are
    moving) stays once: the newer version, then the higher score, then the lower shard number.
    """
    shards = sorted(replies)
    hits = [replies[shard] for shard in shards]
    weights = summed_weights(hits, question.term_weights)
    # Rows that are cut are scored and never copied: every search pays for each array that is made here.
    ids = tuple(chain.from_iterable([reply.ids for reply in hits]))
    values = _joined([reply.values for reply in hits], (0, len(question.terms), 2), np.uint8)
    bonuses = _joined([reply.bonuses for reply in hits], (0,), np.int32)
    likenesses = _joined([reply.likenesses for reply in hits], (0,), np.int32)
    versions = _joined([reply.versions for reply in hits], (0,), np.int64)
    origins = [shard for shard, reply in zip(shards, hits, strict=True) for _ in reply.ids]
    scores = index_scores(values, bonuses, likenesses, weights, mix)
    order = best_first(ids, scores)
    if len(set(ids)) < len(ids):
        order = _each_once(order, ids, versions.tolist())
    if len(order) > n:
        order = order[:n] + ([row for row in order[n:] if ids[row] in kept] if kept else [])
    index = np.array(order, np.intp)
    return Pool(
        ids=tuple([ids[row] for row in order]),
        shards=tuple([origins[row] for row in order]),
        versions=versions[index],
        scores=scores[index],
        values=values[index],
        bonuses=bonuses[index],
        likenesses=likenesses[index],
        weights=weights,
        authorized=sum([reply.authorized for reply in hits]),
        matched=sum([reply.matched for reply in hits]),
    )


def _joined(parts: Sequence[npt.NDArray[Number]], empty: tuple[int, ...], dtype: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate(parts) if parts else np.zeros(empty, dtype)


def best_first(ids: Sequence[str], scores: npt.NDArray[np.int64]) -> list[int]:
    """Positions in the one total order: score descending, id ascending."""
    keys = list(zip((-scores).tolist(), ids, strict=True))
    return sorted(range(len(keys)), key=keys.__getitem__)


def _each_once(order: Sequence[int], ids: Sequence[str], versions: Sequence[int]) -> list[int]:
    """Without the worse rows of an id that two shards sent."""
    best: dict[str, int] = {}
    for row in order:
        held = best.setdefault(ids[row], row)
        # Stable sort: an earlier row of the same version has the higher score, or the lower shard.
        if versions[row] > versions[held]:
            best[ids[row]] = row
    return [row for row in order if best[ids[row]] == row]


def priority(pool: Pool, pinned: Collection[str], preferred: Collection[str], best: int) -> Sequence[int]:
    """Positions in the order in which places are given away when a ceiling is short.

    Pinned rows, then those that fill the result to ``best`` rows, then preferred rows, then the others, each group
    in the pool's order. So a preferred row takes the place of a weaker candidate, never that of a hit.
    """
    if not pinned and not preferred:
        return range(len(pool.ids))
    forced = [row for row, record_id in enumerate(pool.ids) if record_id in pinned]
    free = [row for row, record_id in enumerate(pool.ids) if record_id not in pinned]
    room = max(0, best - len(forced))
    rest = free[room:]
    liked = [row for row in rest if pool.ids[row] in preferred]
    return [*forced, *free[:room], *liked, *(row for row in rest if pool.ids[row] not in preferred)]


def winners(rows: Pool, scores: npt.NDArray[np.int64], pinned: Collection[str], k: int) -> list[int]:
    """Positions of the result among ranked rows, in their order: pinned ones, and the best others that fill ``k``.

    A row that shares nothing with the query is no result unless it is pinned, or the ranker gave it a score.
    """
    scored = np.maximum(scores, rows.scores).tolist()
    if not pinned:
        return [row for row, best in enumerate(scored) if best > 0][:k]
    forced = [row for row, record_id in enumerate(rows.ids) if record_id in pinned][:k]
    free = [row for row, record_id in enumerate(rows.ids) if record_id not in pinned and scored[row] > 0]
    return sorted([*forced, *free[: k - len(forced)]])
