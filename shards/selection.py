"""Selection: the best authorized rows of each query of a bundle, and what its terms weigh.

It knows rows and integers; what stands in a row is the knowledge of ``shards.retrieval``. It looks at no hidden row.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shards.addresses import addresses_of
from shards.authorization import AuthorizedRows
from shards.bundle import Bundle, Question
from shards.bundle_kernel import (
    COLUMNS,
    COUNT,
    FOUND,
    MATCHED,
    MENTIONED,
    PARTS_AT,
    ROOM_AT,
    STEPS,
    THRESHOLD,
    choose_all,
)
from shards.candidates import Asked, Candidates, Compared, View, candidates
from shards.deadline import OutOfTimeError
from shards.messages import ShardQuery
from shards.names import NO_BONUS
from shards.part import Part
from shards.pruned import SCRATCH
from shards.sight_kernel import PLACE
from shards.topk import Ranked, merge

NO_SCORE: Final = -1
"""The threshold where no row was left out."""


class Chosen(NamedTuple):
    """The rows of one answer, and what ``ShardHits`` says of the way to them.

    Attributes:
        start: where its rows begin among those of all answers, the best first.
        found: how many the kernels found, one more than are shown at least where there are so many.
        shown: how many are in the answer.
        extra: the last of these, pinned or preferred ones, whose scores are not known yet.
        views: of the parts of the sight; none where words alone gave the scores.
    """

    start: int
    found: int
    shown: int
    matched: int
    threshold: int
    extra: int = 0
    views: Sequence[View] = ()
    unembedded: int = 0
    approximate: bool = False


class Selection(NamedTuple):
    """What was chosen for the queries of a bundle, and what their terms weigh.

    Attributes:
        chosen: of each query, None where its time ran out.
        best: the rows of all of them, with gaps.
        frequencies: int64[all terms], how many authorized records hold each.
        weights: int64[all terms].
        effective: int64[all terms], ``weights``, but 0 where no authorized record here holds the term, whatever it
            weighs elsewhere.
    """

    chosen: Sequence[Chosen | None]
    best: Ranked
    frequencies: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    effective: npt.NDArray[np.int64]


def select(bundle: Bundle) -> Selection:
    """The rows of each answer and their scores: frequencies, weights, kernels and merge.

    Raises:
        InvalidVector: if the vector of a query cannot be compared with those of its embedder here.
    """
    best = Ranked(
        parts=np.empty(bundle.room, np.int64),
        rows=np.empty(bundle.room, np.uint16),
        scores=np.empty(bundle.room, np.int32),
    )
    weighed = np.empty(bundle.terms.shape, np.int64)
    bases = np.zeros((len(bundle.tables), 2), np.int64)
    _choose(bundle, weighed, best, bases)
    plans = bundle.plans.tolist()
    views = _views(bundle, plans)
    if views:
        for place, seen in views.items():
            start = plans[place][PARTS_AT]
            for at, view in enumerate(seen or (), start):
                bases[at] = addresses_of((view.bonus,))
        _choose(bundle, weighed, best, bases)
        plans = bundle.plans.tolist()
    frequencies, weights, effective = weighed
    chosen = [
        _chosen(question, plan, views.get(place, ()), effective[span], best)
        for place, (question, plan, span) in enumerate(zip(bundle.questions, plans, bundle.spans, strict=True))
    ]
    return Selection(chosen=chosen, best=best, frequencies=frequencies, weights=weights, effective=effective)


def _choose(bundle: Bundle, weighed: npt.NDArray[np.int64], best: Ranked, bases: npt.NDArray[np.int64]) -> None:
    choose_all(
        bundle.plans, weighed, best.parts, best.rows, best.scores, SCRATCH.scores, SCRATCH.rows, bundle.tables, bases,
        bundle.rows, bundle.terms, bundle.hashes,
    )  # fmt: skip


def _views(bundle: Bundle, plans: Sequence[Sequence[int]]) -> dict[int, list[View] | None]:
    """Of the queries whose scores come from more than words; None where the time ran out, and nothing is to do then."""
    views: dict[int, list[View] | None] = {}
    for place, (question, plan) in enumerate(zip(bundle.questions, plans, strict=True)):
        if not plan[MENTIONED] and question.query.vector is None:
            continue
        if question.expired():
            bundle.plans[place, STEPS] = 0
            views[place] = None
            continue
        columns, sight = bundle.terms[COLUMNS, bundle.spans[place]], question.sight
        views[place] = [
            _view(question.query, part, rows, bundle.rows[number, columns], mentioned=bool(plan[MENTIONED]))
            for (part, rows), number in zip(sight.parts, sight.table[:, PLACE].tolist(), strict=True)
        ]
    return views


def _view(
    query: ShardQuery, part: Part, authorized: AuthorizedRows, terms: npt.NDArray[np.int64], *, mentioned: bool
) -> View:
    segment = part.segment
    # Of most queries, no part holds any mention: that must cost next to nothing.
    bonus = segment.names.bonuses(query.mentions, segment.columns, len(segment)) if mentioned else NO_BONUS
    return View(part=part, authorized=authorized, terms=terms, bonus=bonus, compared=_compared(query, part))


def _compared(query: ShardQuery, part: Part) -> Compared | None:
    vector, vectors = query.vector, part.vectors
    if vector is None or vectors is None or vectors.embedder != vector.embedder:
        return None
    vectors.require(vector)
    return Compared(vectors=vectors, query=vector)


def _chosen(
    question: Question, plan: Sequence[int], views: Sequence[View] | None, weights: npt.NDArray[np.int64], best: Ranked
) -> Chosen | None:
    query = question.query
    if views is None:
        return None
    chosen: Chosen | None = Chosen(
        start=plan[ROOM_AT],
        found=plan[FOUND],
        shown=plan[COUNT],
        matched=plan[MATCHED],
        threshold=plan[THRESHOLD],
        views=views,
    )
    if query.vector is not None:
        chosen = _compared_too(question, plan[ROOM_AT], views, weights, best)
    if chosen is not None and (query.pinned or query.preferred):
        chosen = _with_extras(chosen, question, best)
    return chosen


def _compared_too(
    question: Question, start: int, views: Sequence[View], weights: npt.NDArray[np.int64], best: Ranked
) -> Chosen | None:
    """Part by part, None where the time runs out; what the parts before it have found spares one its weaker rows."""
    query, sight, expired = question
    asked = Asked(weights=weights, mix=query.mix, n=query.n + 1 + len(query.pinned) + len(query.preferred))
    proposed: list[Candidates] = []
    floor = 0
    for view in views:
        try:
            one = candidates(view, asked, floor, expired)
        except OutOfTimeError:
            return None
        if len(one.top.scores) == asked.n:
            floor = max(floor, int(one.top.scores[-1]))
        proposed.append(one)
    merged = merge([one.top for one in proposed], asked.n, lambda part, row: views[part].part.segment.ids[row])
    found = len(merged.scores)
    rows = slice(start, start + found)
    best.parts[rows], best.rows[rows], best.scores[rows] = merged.parts, merged.rows, merged.scores
    return Chosen(
        start=start,
        found=found,
        shown=min(found, query.n),
        matched=sum(one.matched for one in proposed),
        threshold=int(merged.scores[query.n]) if found > query.n else NO_SCORE,
        views=views,
        unembedded=sight.authorized - sum(one.embedded for one in proposed),
        approximate=any(one.approximate for one in proposed),
    )


def _with_extras(chosen: Chosen, question: Question, best: Ranked) -> Chosen:
    """The same rows and behind them the authorized extras among the others, whose scores are not known yet."""
    query, sight, _ = question
    placed = dict.fromkeys(place for place in map(sight.place, (*query.pinned, *query.preferred)) if place is not None)
    end, rows = chosen.start + chosen.shown, slice(chosen.start, chosen.start + chosen.found)
    found = list(zip(best.parts[rows].tolist(), best.rows[rows].tolist(), best.scores[rows].tolist(), strict=True))
    shown = frozenset((part, row) for part, row, _ in found[: chosen.shown])
    left_out = (score for part, row, score in found[chosen.shown :] if (part, row) not in placed)
    appended = [place for place in placed if place not in shown]
    if appended:
        best.parts[end : end + len(appended)], best.rows[end : end + len(appended)] = zip(*appended, strict=True)
    return chosen._replace(
        shown=chosen.shown + len(appended),
        threshold=next(left_out, NO_SCORE),
        extra=len(appended),
    )
