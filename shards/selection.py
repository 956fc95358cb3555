"""Selection: the best authorized rows of one query over the parts of one index state, and what their terms weigh.

It knows rows and integers; what stands in a row is the knowledge of ``shards.retrieval``. It looks at no hidden row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from shards import sight_kernel
from shards.addresses import addresses_of
from shards.candidates import Asked, Candidates, Compared, View, candidates
from shards.deadline import Expired, stop_if
from shards.messages import ShardQuery
from shards.names import NO_BONUS
from shards.part import Part
from shards.pruned import SCRATCH
from shards.sight import Sight
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
        sight: of the caller; ``rows.parts`` counts to its parts.
        views: of the same parts.
        terms: int64[parts, n_terms], dictionary rows of the query's terms.
        rows: the best, then ``extra`` pinned or preferred ones, whose scores are still 0.
    """

    sight: Sight
    views: list[View]
    terms: npt.NDArray[np.int64]
    weighting: Weighting
    rows: Ranked
    extra: int
    matched: int
    threshold: int
    unembedded: int
    approximate: bool


def select(query: ShardQuery, sight: Sight, expired: Expired) -> Selection:
    """The rows of the answer and their scores: dictionary, frequencies, weights, kernels and merge.

    Raises:
        InvalidVector: if the query's vector cannot be compared with those of its embedder here.
        OutOfTimeError: if the time runs out.
    """
    terms = _terms(query, sight)
    views = _views(query, sight, terms)
    stop_if(expired)
    weighting = _weighting(query, sight, terms)
    # One row more than is shown tells the threshold, and each extra may be that row.
    extras = tuple(dict.fromkeys((*query.pinned, *query.preferred)))
    asked = Asked(weights=weighting.effective, mix=query.mix, n=query.n + 1 + len(extras))
    if query.vector is None:
        stop_if(expired)
        found = best_by_words(sight, terms, [view.bonus for view in views], asked)
    else:
        found = _compared_too(views, asked, expired)
    rows, extra, threshold = _with_extras(query.n, found.best, extras, views)
    return Selection(
        sight=sight,
        views=views,
        terms=terms,
        weighting=weighting,
        rows=rows,
        extra=extra,
        matched=found.matched,
        threshold=threshold,
        unembedded=found.unembedded,
        approximate=found.approximate,
    )


def _terms(query: ShardQuery, sight: Sight) -> npt.NDArray[np.int64]:
    """int64[parts, n_terms]: dictionary rows of the query's terms in each part, -1 where it does not hold one."""
    terms = np.empty((len(sight.parts), len(query.terms)), np.int64)
    for place, (part, _) in enumerate(sight.parts):
        terms[place] = part.segment.postings.rows.of(query.terms)
    return terms


def _views(query: ShardQuery, sight: Sight, terms: npt.NDArray[np.int64]) -> list[View]:
    mentions = query.mentions
    # Of most queries, no part holds any mention: that must cost next to nothing.
    mentioned = sight_kernel.any_mentioned(sight.table, mentions.hashes, *mentions.bounds[1:3])
    return [
        View(
            part=part,
            authorized=rows,
            terms=terms[place],
            bonus=part.segment.names.bonuses(mentions, part.segment.columns, len(part.segment))
            if mentioned
            else NO_BONUS,
            compared=None if query.vector is None else _compared(query, part),
        )
        for place, (part, rows) in enumerate(sight.parts)
    ]


def _compared(query: ShardQuery, part: Part) -> Compared | None:
    vector, vectors = query.vector, part.vectors
    if vector is None or vectors is None or vectors.embedder != vector.embedder:
        return None
    vectors.require(vector)
    return Compared(vectors=vectors, query=vector)


def _weighting(query: ShardQuery, sight: Sight, terms: npt.NDArray[np.int64]) -> Weighting:
    frequencies, own = np.empty(len(query.terms), np.int64), np.empty(len(query.terms), np.int64)
    full = np.array(query.term_weights, np.int64)
    sight_kernel.count_and_weigh(frequencies, own, sight.table, terms, sight.authorized, full)
    if query.weights is None:
        return Weighting(weights=own, effective=own, frequencies=frequencies)
    weights = np.array(query.weights, np.int64)
    return Weighting(weights=weights, effective=np.where(frequencies > 0, weights, 0), frequencies=frequencies)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The best rows of all parts, and the counts of ``Selection``."""

    best: Ranked
    matched: int
    unembedded: int = 0
    approximate: bool = False


def best_by_words(
    sight: Sight, terms: npt.NDArray[np.int64], bonuses: Sequence[npt.NDArray[np.int32]], asked: Asked
) -> Found:
    """The best rows of all parts by words and mentions, in one call of a kernel.

    Args:
        sight: of the caller.
        terms: int64[parts, n_terms], dictionary rows in each part, -1 where it does not hold one.
        bonuses: of each part int32[rows], or int32[0] where no record has one; none for no bonus at all.
        asked: of every part.
    """
    if any(map(len, bonuses)):
        bases = np.array([addresses_of((bonus,)) for bonus in bonuses], np.int64)
    else:
        bases = np.zeros((len(sight.parts), 2), np.int64)
    # Whoever wants everything asks for more rows than there are.
    n = max(1, min(asked.n, sight.authorized))
    # Given to the kernel, because an array that a kernel returns costs more than one it gets.
    parts, rows, scores = np.empty(n, np.int64), np.empty(n, np.uint16), np.empty(n, np.int32)
    mix = asked.mix
    count, matched = sight_kernel.best_rows(
        parts, rows, scores, SCRATCH.scores, SCRATCH.rows, sight.table, bases, terms,
        asked.weights, mix.impact, mix.name, mix.presence,
    )  # fmt: skip
    return Found(best=Ranked(parts=parts[:count], rows=rows[:count], scores=scores[:count]), matched=matched)


def _compared_too(views: Sequence[View], asked: Asked, expired: Expired) -> Found:
    """Part by part; what the parts before it have found spares one its weaker rows."""
    found: list[Candidates] = []
    floor = 0
    for view in views:
        one = candidates(view, asked, floor, expired)
        if len(one.top.scores) == asked.n:
            floor = max(floor, int(one.top.scores[-1]))
        found.append(one)
    return Found(
        best=merge([one.top for one in found], asked.n, lambda part, row: views[part].part.segment.ids[row]),
        matched=sum(one.matched for one in found),
        unembedded=sum(view.authorized.count - one.embedded for view, one in zip(views, found, strict=True)),
        approximate=any(one.approximate for one in found),
    )


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


def _with_extras(n: int, best: Ranked, extras: Sequence[str], views: Sequence[View]) -> tuple[Ranked, int, int]:
    """The best ``n`` rows and behind them the authorized extras among the others, whose scores are not known yet.

    Also how many these are, and the best score that is left out.
    """
    rows, threshold = _shown(n, best), next(iter(best.scores[n:].tolist()), NO_SCORE)
    if not extras:
        return rows, 0, threshold
    placed = dict.fromkeys(place for place in (_placed(one, views) for one in extras) if place is not None)
    known = dict(zip(_places(best), best.scores.tolist(), strict=True))
    shown = frozenset(_places(rows))
    left_out = (score for place, score in known.items() if place not in shown and place not in placed)
    appended = [place for place in placed if place not in shown]
    rows = Ranked(
        parts=np.append(rows.parts, np.array([part for part, _ in appended], np.int64)),
        rows=np.append(rows.rows, np.array([row for _, row in appended], np.uint16)),
        scores=np.append(rows.scores, np.zeros(len(appended), np.int32)),
    )
    return rows, len(appended), next(left_out, NO_SCORE)
