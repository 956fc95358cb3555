"""Selection: the best authorized rows of one query over the parts of one index state, and what their terms weigh.

It knows rows and integers; what stands in a row is the knowledge of ``shards.retrieval``. It looks at no hidden row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.authorization import AuthorizedRows
from shards.candidates import Asked, Candidates, Compared, View, candidates
from shards.deadline import Expired, stop_if
from shards.messages import ShardQuery
from shards.part import Part
from shards.statistics import frequency_weights
from shards.topk import Ranked, merge

NO_SCORE: Final = -1
"""The threshold where no row was left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighting:
    """What the terms weigh, and the authorized frequencies behind it (int64[n_terms] each).

    Attributes:
        effective: ``weights``, but 0 where no authorized record here holds the term, whatever it weighs elsewhere.
    """

    weights: npt.NDArray[np.int64]
    effective: npt.NDArray[np.int64]
    frequencies: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """The rows of an answer, and what ``ShardHits`` says of the way to them.

    Attributes:
        views: the parts with an authorized row, to which ``rows.parts`` counts.
        rows: the best, then ``extra`` pinned or preferred ones, whose scores are still 0.
    """

    views: list[View]
    weighting: Weighting
    rows: Ranked
    extra: int
    matched: int
    threshold: int
    unembedded: int
    approximate: bool


def select(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]], expired: Expired) -> Selection:
    """The rows of the answer and their scores: dictionary, frequencies, weights, kernels and merge.

    Raises:
        InvalidVector: if the query's vector cannot be compared with those of its embedder here.
        OutOfTimeError: if the time runs out.
    """
    views = _views(query, parts)
    authorized = sum(rows.count for _, rows in parts)
    return _selected(query, views, _weighting(query, views, authorized, expired), expired)


def _views(query: ShardQuery, parts: Sequence[tuple[Part, AuthorizedRows]]) -> list[View]:
    """The parts that hold an authorized row."""
    return [_view(query, part, rows) for part, rows in parts if rows.count > 0]


def _view(query: ShardQuery, part: Part, rows: AuthorizedRows) -> View:
    segment = part.segment
    return View(
        part=part,
        authorized=rows,
        terms=segment.postings.rows.of(query.terms),
        bonus=segment.names.bonuses(query.mentions, segment.columns, len(segment)),
        compared=_compared(query, part),
    )


def _compared(query: ShardQuery, part: Part) -> Compared | None:
    vector, vectors = query.vector, part.vectors
    if vector is None or vectors is None or vectors.embedder != vector.embedder:
        return None
    vectors.require(vector)
    return Compared(vectors=vectors, query=vector)


def _weighting(query: ShardQuery, views: Sequence[View], authorized: int, expired: Expired) -> Weighting:
    frequencies = np.zeros(len(query.terms), np.int64)
    for view in views:
        stop_if(expired)
        view.authorized.add_frequencies(frequencies, view.part.segment.postings, view.terms)
    if query.weights is None:
        own = frequency_weights(authorized, frequencies, query.term_weights)
        return Weighting(weights=own, effective=own, frequencies=frequencies)
    weights = np.array(query.weights, np.int64)
    return Weighting(weights=weights, effective=np.where(frequencies > 0, weights, 0), frequencies=frequencies)


def _selected(query: ShardQuery, views: list[View], weighting: Weighting, expired: Expired) -> Selection:
    extras = tuple(dict.fromkeys((*query.pinned, *query.preferred)))
    # One row more than is shown tells the threshold, and each extra may be that row.
    asked = Asked(weights=weighting.effective, mix=query.mix, n=query.n + 1 + len(extras))
    found = _found(views, asked, expired)
    best = merge([one.top for one in found], asked.n, lambda part, row: views[part].part.segment.ids[row])
    rows, threshold = _shown(query.n, best), next(iter(best.scores[query.n :].tolist()), NO_SCORE)
    extra = 0
    if extras:
        placed = dict.fromkeys(place for place in (_placed(one, views) for one in extras) if place is not None)
        known = dict(zip(_places(best), best.scores.tolist(), strict=True))
        shown = frozenset(_places(rows))
        left_out = (score for place, score in known.items() if place not in shown and place not in placed)
        threshold = next(left_out, NO_SCORE)
        appended = [place for place in placed if place not in shown]
        rows, extra = _with_extras(rows, appended), len(appended)
    unembedded = sum(view.authorized.count - one.embedded for view, one in zip(views, found, strict=True))
    return Selection(
        views=views,
        weighting=weighting,
        rows=rows,
        extra=extra,
        matched=sum(one.matched for one in found),
        threshold=threshold,
        unembedded=0 if query.vector is None else unembedded,
        approximate=any(one.approximate for one in found),
    )


def _found(views: Sequence[View], asked: Asked, expired: Expired) -> list[Candidates]:
    """The candidates of each part; what the parts before it have found spares one its weaker rows."""
    found = []
    floor = 0
    for view in views:
        one = candidates(view, asked, floor, expired)
        if len(one.top.scores) == asked.n:
            floor = max(floor, int(one.top.scores[-1]))
        found.append(one)
    return found


def _shown(n: int, best: Ranked) -> Ranked:
    return Ranked(parts=best.parts[:n], rows=best.rows[:n], scores=best.scores[:n])


def _places(rows: Ranked) -> Iterable[tuple[int, int]]:
    """Position of its part, and ordinal, of each row."""
    return zip(rows.parts.tolist(), rows.rows.tolist(), strict=True)


def _placed(record_id: str, views: Sequence[View]) -> tuple[int, int] | None:
    """The place of an authorized record."""
    for position, view in enumerate(views):
        ordinal = view.place(record_id)
        if ordinal >= 0:
            return position, ordinal
    return None


def _with_extras(shown: Ranked, places: Sequence[tuple[int, int]]) -> Ranked:
    """The rows shown, and behind them those of ``places``, whose scores are not known yet."""
    return Ranked(
        parts=np.append(shown.parts, np.array([part for part, _ in places], np.int64)),
        rows=np.append(shown.rows, np.array([row for _, row in places], np.uint16)),
        scores=np.append(shown.scores, np.zeros(len(places), np.int32)),
    )
