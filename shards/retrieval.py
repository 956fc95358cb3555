"""Retrieval: queries over the parts of one index state, several in one call of a kernel.

It reads only; authorization has come first and nothing here looks at a hidden row.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shards.bundle import Bundle, Question
from shards.bundle_kernel import COUNT, gather_all
from shards.deadline import OutOfTimeError
from shards.messages import NearTerm, Outcome, ShardHits, ShardQuery
from shards.near.search import near_terms
from shards.part import Part
from shards.scoring import index_scores
from shards.selection import NO_SCORE, Chosen, Selection, select
from shards.sight import Sight
from shards.text_table import parted
from shards.topk import Ranked

_ID_BYTES: Final = 64
"""Room for an id; where longer ones come, the kernel takes more."""


def retrieve(questions: Sequence[Question], parts: Sequence[Part], seq: int) -> list[ShardHits]:
    """Answer queries, at least one, whose callers see some of ``parts`` each, as ``ShardHits`` describes.

    Raises:
        InvalidVector: if the vector of a query cannot be compared with those of its embedder here.
    """
    bundle = Bundle.of(questions, parts)
    selection = select(bundle)
    gathered = _gathered(bundle, selection)
    answers, start, first = [], 0, 0
    for question, chosen, span in zip(questions, selection.chosen, bundle.spans, strict=True):
        if chosen is None:
            answers.append(nothing(question.query, Outcome.EXPIRED, seq))
            continue
        query, count = question.query, chosen.shown
        end, last = start + count, first + 2 * count * len(query.terms)
        values = gathered.values[first:last].reshape(count, len(query.terms), 2)
        scores = selection.best.scores[chosen.start : chosen.start + count]
        bonuses = likenesses = gathered.zeros[:count]
        if chosen.views:
            bonuses, likenesses = _beside_words(chosen, selection.best)
        if chosen.extra:
            # The index score is the same sum as the kernels', so that only rows they were not asked for need it.
            effective = selection.effective[span]
            scores = index_scores(values, bonuses, likenesses, effective, query.mix).astype(np.int32)
        frequencies = selection.frequencies[span]
        near = _near(question, frequencies)
        answers.append(
            ShardHits(
                outcome=Outcome.COMPLETE,
                ids=gathered.ids[start:end],
                versions=gathered.versions[start:end],
                scores=scores,
                values=values,
                bonuses=bonuses,
                likenesses=likenesses,
                frequencies=frequencies,
                authorized=question.sight.authorized,
                matched=chosen.matched,
                threshold=chosen.threshold,
                weights=selection.weights[span],
                seq=seq,
                unembedded=chosen.unembedded,
                approximate=chosen.approximate,
                near=near or (),
                near_expired=near is None,
                bodies=_bodies(min(query.bodies, count), chosen.start, selection.best, question.sight),
            )
        )
        start, first = end, last
    return answers


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


class _Gathered(NamedTuple):
    """What stands in the rows of all answers, those of one behind those of the other.

    Attributes:
        zeros: int32, as many as rows.
    """

    ids: tuple[str, ...]
    versions: npt.NDArray[np.int64]
    values: npt.NDArray[np.uint8]
    zeros: npt.NDArray[np.int32]


def _gathered(bundle: Bundle, selection: Selection) -> _Gathered:
    """From one call of a kernel."""
    counts = [0 if chosen is None else chosen.shown for chosen in selection.chosen]
    octets = sum([2 * count * len(one.query.terms) for count, one in zip(counts, bundle.questions, strict=True)])
    total = sum(counts)
    bundle.plans[:, COUNT] = counts
    values, versions, bounds = np.zeros(octets, np.uint8), np.empty(total, np.int64), np.empty(total + 1, np.int64)
    texts = gather_all(
        np.empty(_ID_BYTES * total, np.uint8), bounds, values, versions, selection.best.parts, selection.best.rows,
        bundle.plans, bundle.tables, bundle.rows, bundle.terms,
    )  # fmt: skip
    zeros = np.zeros(total, np.int32)
    # Bonuses and likenesses of many answers are slices of it.
    zeros.setflags(write=False)
    return _Gathered(ids=parted(texts[: bounds[-1]], bounds), versions=versions, values=values, zeros=zeros)


def _beside_words(chosen: Chosen, best: Ranked) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Bonus and likeness of each row (int32[count] each)."""
    parts = best.parts[chosen.start : chosen.start + chosen.shown]
    rows = best.rows[chosen.start : chosen.start + chosen.shown]
    bonuses, likenesses = np.zeros(chosen.shown, np.int32), np.zeros(chosen.shown, np.int32)
    for position, view in enumerate(chosen.views):
        at = np.flatnonzero(parts == position)
        if len(view.bonus):
            bonuses[at] = view.bonus[rows[at]]
        if view.compared is not None:
            likenesses[at] = view.compared.vectors.likenesses_at(view.compared.query, rows[at])
    return bonuses, likenesses


def _near(question: Question, frequencies: npt.NDArray[np.int64]) -> tuple[NearTerm, ...] | None:
    """What unknown words may have meant; None where the time ran out over it: the rows are complete without."""
    query, sight, expired = question
    if query.weights is not None:
        return ()
    try:
        return near_terms(query.terms, frequencies, sight, expired)
    except OutOfTimeError:
        return None


def _bodies(count: int, start: int, best: Ranked, sight: Sight) -> tuple[bytes, ...]:
    """Documents of the first rows of an answer."""
    rows = slice(start, start + count)
    places = zip(best.parts[rows].tolist(), best.rows[rows].tolist(), strict=True)
    return tuple([sight.parts[part][0].segment.documents.body(row) for part, row in places])
