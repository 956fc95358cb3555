"""Bundle: some queries of a batch as flat arrays, one behind the other, as one call of a kernel takes them all.

Terms that several of them share are looked up once. Nothing is counted, weighed or chosen here.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from shards.bundle_kernel import CHOOSE, WEIGH
from shards.deadline import Expired
from shards.messages import ShardQuery
from shards.part import Part
from shards.sight import Sight
from shards.term_rows import rows_of

_Number = TypeVar("_Number", np.int64, np.uint64)

MOST: Final = 16
"""Queries of a bundle: their deadlines are looked at between two bundles only, and 32 would save a twentieth more."""

MOST_ROWS: Final = 4_000_000
"""Authorized rows of a bundle together, unless one query alone has more: some four milliseconds of work."""


class Question(NamedTuple):
    """One query, what its caller sees, and whether its time has run out."""

    query: ShardQuery
    sight: Sight
    expired: Expired


def is_full(queries: int, rows: int, question: Question) -> bool:
    """Whether a bundle of so many queries, who see so many rows together, has no room for one more."""
    return queries == MOST or (queries > 0 and rows + question.sight.authorized > MOST_ROWS)


class Bundle(NamedTuple):
    """Some queries over the same parts.

    Attributes:
        questions: the queries.
        spans: where in the flat arrays the terms of each stand.
        plans: int64[queries, numbers of a query] (``shards.bundle_kernel``), which the kernels go on writing.
        tables: int64[all parts, WIDTH], those of the queries' sights.
        rows: int64[parts, columns], dictionary rows of the distinct terms, -1 where a part does not hold one.
        terms: int64[3, all terms], what is known of them.
        hashes: uint64[...], of all mentions.
        room: how many rows all answers together have at most.
    """

    questions: Sequence[Question]
    spans: Sequence[slice]
    plans: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int64]
    hashes: npt.NDArray[np.uint64]
    room: int

    @classmethod
    def of(cls, questions: Sequence[Question], parts: Sequence[Part]) -> "Bundle":
        """These queries, at least one, whose callers see some of ``parts`` each."""
        column_of: dict[str, int] = {}
        columns: list[int] = []
        term_weights: list[int] = []
        given: list[int] = []
        spans, plans = [], []
        part = digest = room = 0
        for query, sight, _ in questions:
            first, mix = len(columns), query.mix
            columns += [column_of.setdefault(term, len(column_of)) for term in query.terms]
            term_weights += query.term_weights
            given += query.weights or query.term_weights
            spans.append(slice(first, len(columns)))
            # One row more than is shown tells the threshold, and each extra may be that row. Whoever wants everything
            # asks for more rows than there are.
            most = min(query.n + 1 + len(query.pinned) + len(query.preferred), sight.authorized)
            _, names, capabilities, domains = query.mentions.bounds
            plans.append((
                part, len(sight.parts), sight.authorized, first, len(query.terms), query.weights is not None,
                digest, names, capabilities, domains, mix.impact, mix.name, mix.presence, room, most, query.n,
                WEIGH if query.vector is not None else WEIGH | CHOOSE, 0, 0, 0, 0, 0,
            ))  # fmt: skip
            part, digest, room = part + len(sight.parts), digest + domains, room + most
        return cls(
            questions=questions,
            spans=spans,
            plans=np.array(plans, np.int64),
            tables=_joined([question.sight.table for question in questions]),
            rows=rows_of([one.segment.postings.rows for one in parts], tuple(column_of)),
            terms=np.array((columns, term_weights, given), np.int64),
            hashes=_joined([question.query.mentions.hashes for question in questions]),
            room=room,
        )


def _joined(arrays: Sequence[npt.NDArray[_Number]]) -> npt.NDArray[_Number]:
    """One behind the other; where there is one alone, itself."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
