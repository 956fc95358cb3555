"""Retrieval: one query over the parts of one index state.

It reads only; authorization has come first and nothing here looks at a hidden row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import kernel
from shards.authorization import AuthorizedRows
from shards.candidates import Asked, Compared, View, candidates
from shards.deadline import Expired, OutOfTimeError, stop_if
from shards.messages import NearTerm, Outcome, ShardHits, ShardQuery
from shards.names import key_hashes
from shards.near.search import near_terms
from shards.part import Part
from shards.scoring import index_scores
from shards.statistics import frequency_weights
from shards.text_table import encoded
from shards.topk import Scored, merge

_NO_SCORE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weighting:
    """What the terms weigh, and the authorized frequencies behind it (int64[n_terms] each).

    Attributes:
        effective: ``weights``, but 0 where no authorized record here holds the term, whatever it weighs elsewhere.
    """

    weights: npt.NDArray[np.int64]
    effective: npt.NDArray[np.int64]
    frequencies: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selection:
    """The rows of an answer, and what ``ShardHits`` says of the way to them."""

    rows: list[Scored]
    matched: int
    threshold: int
    unembedded: int
    approximate: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Gathered:
    """What stands in ``ShardHits`` row by row."""

    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    likenesses: npt.NDArray[np.int32]
    versions: npt.NDArray[np.int64]


def retrieve(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]], seq: int, expired: Expired) -> ShardHits:
    """Answer ``query`` from parts and their authorized rows, as ``ShardHits`` describes.

    Raises:
        InvalidVector: if the query's vector cannot be compared with those of its embedder here.
    """
    authorized = sum(rows.count for _, rows in parts)
    if authorized == 0:
        return nothing(query, Outcome.COMPLETE, seq)
    try:
        views = _views(query, parts)
        weighting = _weighting(query, views, authorized, expired)
        selection = _selection(query, views, weighting, expired)
    except OutOfTimeError:
        return nothing(query, Outcome.EXPIRED, seq)
    near = _near(query, views, weighting, expired)
    rows = _gathered(selection.rows, views, len(query.terms))
    scores = index_scores(rows.values, rows.bonuses, rows.likenesses, weighting.effective, query.mix)
    return ShardHits(
        outcome=Outcome.COMPLETE,
        ids=tuple(scored.id for scored in selection.rows),
        versions=rows.versions,
        scores=scores.astype(np.int32),
        values=rows.values,
        bonuses=rows.bonuses,
        likenesses=rows.likenesses,
        frequencies=weighting.frequencies,
        authorized=authorized,
        matched=selection.matched,
        threshold=selection.threshold,
        weights=weighting.weights,
        seq=seq,
        unembedded=selection.unembedded,
        approximate=selection.approximate,
        near=near or (),
        near_expired=near is None,
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
        threshold=_NO_SCORE,
        weights=np.zeros(n_terms, np.int64),
        seq=seq,
    )


def _views(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]]) -> list[View]:
    """The parts that hold an authorized row."""
    texts = [encoded(term) for term in query.terms]
    hashes = key_hashes(query.mentions)
    return [_view(query, texts, hashes, part, rows) for part, rows in parts if rows.count > 0]


def _view(
    query: ShardQuery, texts: Sequence[bytes], hashes: npt.NDArray[np.uint64], part: Part, rows: AuthorizedRows
) -> View:
    segment = part.segment
    return View(
        part=part,
        authorized=rows,
        terms=segment.postings.terms.find_all(texts),
        bonus=segment.names.bonuses(query.mentions, hashes, segment.columns, len(segment)),
        compared=_compared(query, part),
    )


def _compared(query: ShardQuery, part: Part) -> Compared | None:
    vector, vectors = query.vector, part.vectors
    if vector is None or vectors is None or vectors.embedder != vector.embedder:
        return None
    vectors.require(vector)
    return Compared(vectors=vectors, query=vector)


def _weighting(query: ShardQuery, views: Sequence[View], authorized: int, expired: Expired) -> _Weighting:
    frequencies = np.zeros(len(query.terms), np.int64)
    for view in views:
        stop_if(expired)
        frequencies += view.authorized.frequencies(view.part.segment.postings, view.terms)
    if query.weights is None:
        weights = frequency_weights(authorized, frequencies, query.term_weights)
    else:
        weights = np.array(query.weights, np.int64)
    return _Weighting(weights=weights, effective=np.where(frequencies > 0, weights, 0), frequencies=frequencies)


def _selection(query: ShardQuery, views: Sequence[View], weighting: _Weighting, expired: Expired) -> _Selection:
    extras = tuple(dict.fromkeys((*query.pinned, *query.preferred)))
    # One row more than is shown tells the threshold, and each extra may be that row.
    asked = Asked(weights=weighting.effective, mix=query.mix, n=query.n + 1 + len(extras))
    found = [candidates(view, asked, expired) for view in views]
    best = merge([one.top for one in found], asked.n, lambda part, row: views[part].part.segment.ids[row])
    shown = best[: query.n]
    appended = list(_appended(extras, frozenset(scored.id for scored in shown), views))
    kept = frozenset(scored.id for scored in appended)
    left_out = (scored.score for scored in best[query.n :] if scored.id not in kept)
    unembedded = sum(view.authorized.count - one.embedded for view, one in zip(views, found, strict=True))
    return _Selection(
        rows=[*shown, *appended],
        matched=sum(one.matched for one in found),
        threshold=next(left_out, _NO_SCORE),
        unembedded=0 if query.vector is None else unembedded,
        approximate=any(one.approximate for one in found),
    )


def _near(
    query: ShardQuery, views: Sequence[View], weighting: _Weighting, expired: Expired
) -> tuple[NearTerm, ...] | None:
    """What unknown words may have meant; None where the time ran out over it: the selection is complete without."""
    if query.weights is not None:
        return ()
    try:
        return near_terms(query.terms, weighting.frequencies, views, expired)
    except OutOfTimeError:
        return None


def _appended(extras: Sequence[str], shown: frozenset[str], views: Sequence[View]) -> Iterator[Scored]:
    """The authorized extras that did not make it, in the order they were asked for; their score is not known yet."""
    for record_id in extras:
        if record_id in shown:
            continue
        for position, view in enumerate(views):
            ordinal = view.place(record_id)
            if ordinal >= 0:
                yield Scored(position, ordinal, record_id, _NO_SCORE)


def _gathered(rows: Sequence[Scored], views: Sequence[View], n_terms: int) -> _Gathered:
    values = np.zeros((len(rows), n_terms, 2), np.uint8)
    bonuses = np.zeros(len(rows), np.int32)
    likenesses = np.zeros(len(rows), np.int32)
    versions = np.zeros(len(rows), np.int64)
    parts = np.array([scored.part for scored in rows], np.int64)
    ordinals = np.array([scored.row for scored in rows], np.uint16)
    for position, view in enumerate(views):
        at = np.flatnonzero(parts == position)
        if len(at) == 0:
            continue
        segment = view.part.segment
        values[at] = kernel.values_of(ordinals[at], segment.postings, view.terms)
        versions[at] = segment.versions[ordinals[at]]
        if len(view.bonus):
            bonuses[at] = view.bonus[ordinals[at]]
        if view.compared is not None:
            likenesses[at] = view.compared.vectors.likenesses_at(view.compared.query, ordinals[at])
    return _Gathered(values=values, bonuses=bonuses, likenesses=likenesses, versions=versions)
