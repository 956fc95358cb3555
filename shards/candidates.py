"""Candidates of one part: its best authorized rows by words, mentions and likeness, from a scan or from a graph.

A scan is exact. With a graph, likeness counts for the rows that the graph or the words propose, exactly for each of
them; what neither proposes is left out, and the answer says so.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shards import graph, kernel, pruned
from shards.authorization import AuthorizedRows
from shards.deadline import Expired, stop_if
from shards.messages import ScoreMix, VectorQuery
from shards.part import Part
from shards.topk import Top
from shards.vectors import Vectors


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A part's vectors, and the query of the same embedder that they are compared with."""

    vectors: Vectors
    query: VectorQuery


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """One part as one principal sees it, with the query looked up in it.

    Attributes:
        terms: int64[n_terms], dictionary rows, -1 where absent.
        bonus: int32[rows], or int32[0] where no record has one.
        compared: None for a query by words alone and where the part has no vectors of its embedder.
    """

    part: Part
    authorized: AuthorizedRows
    terms: npt.NDArray[np.int64]
    bonus: npt.NDArray[np.int32]
    compared: Compared | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """What is asked of every part: its best ``n`` rows under these weights (int64[n_terms]) and this mix."""

    weights: npt.NDArray[np.int64]
    mix: ScoreMix
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """The best rows of a part, as many as were asked for or all that score at least the floor.

    Attributes:
        matched: authorized rows that score above 0; where ``approximate``, every one that has a vector counts.
        embedded: authorized rows with a vector of the query's embedder; 0 for a query by words alone.
        approximate: a graph proposed rows.
    """

    top: Top
    matched: int
    embedded: int
    approximate: bool


def candidates(view: View, asked: Asked, floor: int, expired: Expired) -> Candidates:
    """The best rows of a part, and what was found on the way.

    Args:
        view: of the part.
        asked: of every part.
        floor: what so many rows of other parts reach already; a row below it may be left out.
        expired: whether the time has run out.

    Raises:
        OutOfTimeError: if the time runs out.
    """
    stop_if(expired)
    compared = view.compared
    if compared is None:
        top, matched = _pruned(view, asked, view.bonus, floor)
        return Candidates(top=top, matched=matched, embedded=0, approximate=False)
    by_graph = _asks_a_graph(compared, view.authorized, asked.n)
    if by_graph and (near := _near(compared, view.authorized, asked.n)) is not None:
        return _proposed(view, compared, asked, near)
    likenesses, embedded = compared.vectors.likenesses(compared.query, view.authorized.mask, expired)
    alike = np.int32(asked.mix.similarity) * likenesses
    base = view.bonus + alike if len(view.bonus) else alike
    top, matched = _pruned(view, asked, base, floor)
    return Candidates(top=top, matched=matched, embedded=embedded, approximate=by_graph)


def _asks_a_graph(compared: Compared, authorized: AuthorizedRows, wanted: int) -> bool:
    """Whether the answer counts as a graph's, whoever finds it in the end: decided by the authorized rows alone.

    How many hidden rows there are, and how near to the query, must not show.
    """
    if compared.vectors.graph is None:
        return False
    return graph.rows_to_ask(wanted, authorized.count, authorized.count, compared.vectors.dims) > 0


def _near(compared: Compared, authorized: AuthorizedRows, wanted: int) -> npt.NDArray[np.bool_] | None:
    """bool[rows]: authorized rows that may be the nearest; None where a scan is cheaper or the graph finds too few."""
    vectors = compared.vectors
    if vectors.graph is None:
        return None
    asked = graph.rows_to_ask(wanted, authorized.count, vectors.graph.count, vectors.dims)
    if asked == 0:
        return None
    mask = authorized.mask
    near = np.zeros(len(mask), np.bool_)
    near[vectors.graph.nearest(compared.query.values, asked)] = True
    near &= mask
    if np.count_nonzero(near) < wanted:
        return None
    # Rows whose vector came after the graph are few; all of them are looked at.
    near |= mask & vectors.present & ~vectors.graph.held
    return near


def _proposed(view: View, compared: Compared, asked: Asked, near: npt.NDArray[np.bool_]) -> Candidates:
    """The best of the near rows and of the best rows by words, all of them scored in full."""
    mask, vectors = view.authorized.mask, compared.vectors
    scores = _scores(view, asked, view.bonus)
    by_words, _, matched = kernel.top_rows(scores, mask, asked.n)
    proposed = near.copy()
    proposed[by_words] = True
    rows = np.flatnonzero(proposed).astype(np.uint16)
    before = scores[rows]
    full = before + np.int32(asked.mix.similarity) * vectors.likenesses_at(compared.query, rows)
    # Rows are ascending and the sort is stable, so that equal scores stay in the order of ids.
    order = np.argsort(-full, kind="stable")[: asked.n]
    best = order[full[order] > 0]
    return Candidates(
        top=Top(rows=rows[best], scores=full[best]),
        # Not those that happened to be proposed: a count must not tell what lies near.
        matched=matched + int(np.count_nonzero(mask & vectors.present & (scores == 0))),
        embedded=int(np.count_nonzero(mask & vectors.present)),
        approximate=True,
    )


def _scores(view: View, asked: Asked, base: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """int32[rows]: ``base`` (int32[rows], or int32[0] for nothing) and what the words add, hidden rows included."""
    segment = view.part.segment
    start = base if len(base) else np.zeros(len(segment), np.int32)
    return kernel.added_up(segment.postings, view.terms, weights=asked.weights, mix=asked.mix, base=start)


def _pruned(view: View, asked: Asked, base: npt.NDArray[np.int32], floor: int) -> tuple[Top, int]:
    """The best rows from ``floor`` on, ``base`` (as in ``_scores``) included, and how many rows score above 0."""
    rows, scores, matched = pruned.top_rows(
        view.part.segment.postings,
        view.terms,
        weights=asked.weights,
        mix=asked.mix,
        base=base,
        allowed=view.authorized.bits,
        count=view.authorized.count,
        n=asked.n,
        floor=floor,
    )
    return Top(rows=rows, scores=scores), matched
