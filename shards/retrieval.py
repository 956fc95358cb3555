"""Retrieval: one query over the parts of one index state.

It reads only; authorization has come first and nothing here looks at a hidden row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shards.candidates import View
from shards.deadline import Expired, OutOfTimeError
from shards.messages import NearTerm, Outcome, ShardHits, ShardQuery
from shards.near.search import near_terms
from shards.scoring import index_scores
from shards.selection import NO_SCORE, Selection, select
from shards.sight import Sight
from shards.sight_kernel import gather
from shards.text_table import parted
from shards.topk import Ranked


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gathered:
    """What stands in ``ShardHits`` row by row."""

    ids: tuple[str, ...]
    scores: npt.NDArray[np.int32]
    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    likenesses: npt.NDArray[np.int32]
    versions: npt.NDArray[np.int64]


def retrieve(query: ShardQuery, sight: Sight, seq: int, expired: Expired) -> ShardHits:
    """Answer ``query`` from what its caller sees, as ``ShardHits`` describes.

    Raises:
        InvalidVector: if the query's vector cannot be compared with those of its embedder here.
    """
    if sight.authorized == 0:
        return nothing(query, Outcome.COMPLETE, seq)
    try:
        selection = select(query, sight, expired)
    except OutOfTimeError:
        return nothing(query, Outcome.EXPIRED, seq)
    near = _near(query, selection, expired)
    rows = _gathered(query, selection)
    return ShardHits(
        outcome=Outcome.COMPLETE,
        ids=rows.ids,
        versions=rows.versions,
        scores=rows.scores,
        values=rows.values,
        bonuses=rows.bonuses,
        likenesses=rows.likenesses,
        frequencies=selection.weighting.frequencies,
        authorized=sight.authorized,
        matched=selection.matched,
        threshold=selection.threshold,
        weights=selection.weighting.weights,
        seq=seq,
        unembedded=selection.unembedded,
        approximate=selection.approximate,
        near=near or (),
        near_expired=near is None,
        bodies=_bodies(query.bodies, selection.rows, selection.views),
    )


def nothing(query: ShardQuery, outcome: Outcome, seq: int) -> ShardHits:
    """An answer without rows and with zero counts."""
    n_terms = len(query.terms)
    return ShardHits(
        outcome=outcome,
        ids=(),
        versions=np.zeros(0, np.int64),
        scores=np.zeros(0, np.int32),
        values=np.zeros((0, n_terms, 2), np.uint8),
        bonuses=np.zeros(0, np.int32),
        likenesses=np.zeros(0, np.int32),
        frequencies=np.zeros(n_terms, np.int64),
        authorized=0,
        matched=0,
        threshold=NO_SCORE,
        weights=np.zeros(n_terms, np.int64),
        seq=seq,
    )


def _near(query: ShardQuery, selection: Selection, expired: Expired) -> tuple[NearTerm, ...] | None:
    """What unknown words may have meant; None where the time ran out over it: the selection is complete without."""
    if query.weights is not None:
        return ()
    try:
        return near_terms(query.terms, selection.weighting.frequencies, selection.sight.parts, expired)
    except OutOfTimeError:
        return None


def _gathered(query: ShardQuery, selection: Selection) -> _Gathered:
    rows = selection.rows
    count = len(rows.rows)
    values, versions = np.zeros((count, len(query.terms), 2), np.uint8), np.empty(count, np.int64)
    texts, bounds = gather(values, versions, selection.sight.table, selection.terms, rows.parts, rows.rows)
    bonuses, likenesses = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for position, view in enumerate(selection.views):
        if not len(view.bonus) and view.compared is None:
            continue
        at = np.flatnonzero(rows.parts == position)
        ordinals = rows.rows[at]
        if len(view.bonus):
            bonuses[at] = view.bonus[ordinals]
        if view.compared is not None:
            likenesses[at] = view.compared.vectors.likenesses_at(view.compared.query, ordinals)
    scores = rows.scores
    if selection.extra:
        # The index score is the same sum as the kernels', so that only rows they were not asked for need it.
        scores = index_scores(values, bonuses, likenesses, selection.weighting.effective, query.mix).astype(np.int32)
    return _Gathered(
        ids=parted(texts, bounds),
        scores=scores,
        values=values,
        bonuses=bonuses,
        likenesses=likenesses,
        versions=versions,
    )


def _bodies(count: int, rows: Ranked, views: Sequence[View]) -> tuple[bytes, ...]:
    """Documents of the first rows."""
    places = zip(rows.parts[:count].tolist(), rows.rows[:count].tolist(), strict=True)
    return tuple([views[part].part.segment.documents.body(row) for part, row in places])
