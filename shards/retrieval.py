"""Retrieval: one query over the parts of one index state.

It reads only; authorization has come first and nothing here looks at a hidden row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import kernel
from shards.authorization import AuthorizedRows
from shards.messages import Outcome, ShardHits, ShardQuery
from shards.names import key_hashes
from shards.part import Part
from shards.scoring import index_scores
from shards.statistics import frequency_weights
from shards.text_table import encoded
from shards.topk import Scored, Top, merge

Expired = Callable[[], bool]
"""Whether the time of a query has run out; asked between parts."""

_NO_SCORE: Final = -1


class _OutOfTimeError(Exception):
    """The query's time ran out between two parts; never leaves this module."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _View:
    """One part as one principal sees it, with the query looked up in it.

    Attributes:
        terms: int64[n_terms], dictionary rows, -1 where absent.
        bonus: int32[rows], or int32[0] where no record has one.
    """

    part: Part
    authorized: AuthorizedRows
    terms: npt.NDArray[np.int64]
    bonus: npt.NDArray[np.int32]

    def place(self, record_id: str) -> int:
        """Ordinal of an authorized record, or -1 for any other."""
        ordinal = self.part.segment.ordinal_of(record_id)
        return ordinal if ordinal >= 0 and self.authorized.mask[ordinal] else -1


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
    """The rows of an answer, how many matched, and the best score left out (-1 for none)."""

    rows: list[Scored]
    matched: int
    threshold: int


def retrieve(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]], seq: int, expired: Expired) -> ShardHits:
    """Answer ``query`` from parts and their authorized rows, as ``ShardHits`` describes."""
    authorized = sum(rows.count for _, rows in parts)
    if authorized == 0:
        return nothing(query, Outcome.COMPLETE, seq)
    try:
        views = _views(query, parts)
        weighting = _weighting(query, views, authorized, expired)
        selection = _selection(query, views, weighting, expired)
    except _OutOfTimeError:
        return nothing(query, Outcome.EXPIRED, seq)
    values, bonuses, versions = _gathered(selection.rows, views, len(query.terms))
    return ShardHits(
        outcome=Outcome.COMPLETE,
        ids=tuple(scored.id for scored in selection.rows),
        versions=versions,
        scores=index_scores(values, bonuses, weighting.effective, query.mix).astype(np.int32),
        values=values,
        bonuses=bonuses,
        frequencies=weighting.frequencies,
        authorized=authorized,
        matched=selection.matched,
        threshold=selection.threshold,
        weights=weighting.weights,
        seq=seq,
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
        frequencies=np.zeros(n_terms, np.int64),
        authorized=0,
        matched=0,
        threshold=_NO_SCORE,
        weights=np.zeros(n_terms, np.int64),
        seq=seq,
    )


def _views(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]]) -> list[_View]:
    """The parts that hold an authorized row."""
    texts = [encoded(term) for term in query.terms]
    hashes = key_hashes(query.mentions)
    return [_view(query, texts, hashes, part, rows) for part, rows in parts if rows.count > 0]


def _view(
    query: ShardQuery, texts: Sequence[bytes], hashes: npt.NDArray[np.uint64], part: Part, rows: AuthorizedRows
) -> _View:
    segment = part.segment
    terms = segment.postings.terms.find_all(texts)
    bonus = segment.names.bonuses(query.mentions, hashes, segment.columns, len(segment))
    return _View(part=part, authorized=rows, terms=terms, bonus=bonus)


def _weighting(query: ShardQuery, views: Sequence[_View], authorized: int, expired: Expired) -> _Weighting:
    frequencies = np.zeros(len(query.terms), np.int64)
    for view in views:
        _stop_if(expired)
        frequencies += view.authorized.frequencies(view.part.segment.postings, view.terms)
    if query.weights is None:
        weights = frequency_weights(authorized, frequencies, query.term_weights)
    else:
        weights = np.array(query.weights, np.int64)
    return _Weighting(weights=weights, effective=np.where(frequencies > 0, weights, 0), frequencies=frequencies)


def _selection(query: ShardQuery, views: Sequence[_View], weighting: _Weighting, expired: Expired) -> _Selection:
    extras = tuple(dict.fromkeys((*query.pinned, *query.preferred)))
    # One row more than is shown tells the threshold, and each extra may be that row.
    wanted = query.n + 1 + len(extras)
    tops, matched = [], 0
    for view in views:
        _stop_if(expired)
        rows, scores, found = kernel.top_rows(
            view.part.segment.postings,
            view.terms,
            weights=weighting.effective,
            mix=query.mix,
            mask=view.authorized.mask,
            bonus=view.bonus,
            n=wanted,
        )
        tops.append(Top(rows=rows, scores=scores))
        matched += found
    best = merge(tops, wanted, lambda part, row: views[part].part.segment.ids[row])
    shown = best[: query.n]
    appended = list(_appended(extras, frozenset(scored.id for scored in shown), views))
    kept = frozenset(scored.id for scored in appended)
    left_out = (scored.score for scored in best[query.n :] if scored.id not in kept)
    return _Selection(rows=[*shown, *appended], matched=matched, threshold=next(left_out, _NO_SCORE))


def _appended(extras: Sequence[str], shown: frozenset[str], views: Sequence[_View]) -> Iterator[Scored]:
    """The authorized extras that did not make it, in the order they were asked for; their score is not known yet."""
    for record_id in extras:
        if record_id in shown:
            continue
        for position, view in enumerate(views):
            ordinal = view.place(record_id)
            if ordinal >= 0:
                yield Scored(position, ordinal, record_id, _NO_SCORE)


def _gathered(
    rows: Sequence[Scored], views: Sequence[_View], n_terms: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Values, bonuses and versions of rows (shapes of ``ShardHits``)."""
    values = np.zeros((len(rows), n_terms, 2), np.uint8)
    bonuses = np.zeros(len(rows), np.int32)
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
    return values, bonuses, versions


def _stop_if(expired: Expired) -> None:
    if expired():
        raise _OutOfTimeError
