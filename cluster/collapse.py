"""Collapse: of records that somebody confirmed to say the same, an answer shows one, and cites the others by id.

It ranks, fetches and authorizes nothing, and knows of no record that is not among the ranked rows. A pair counts only
where both of its records are among the rows that would be shown, so that nobody loses a record for one that they may
not see, and nothing tells that there is such a one. Which one is cited: one whose release, product or language the
query asks for, else one that ranks clearly higher, as one that is named does, else the record that stands for the rest.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from cluster.contract import SearchRequest
from cluster.language import language_of
from cluster.merge import winners
from cluster.ranking import Ranking
from shards.analysis.scripts import normalise
from shards.messages import ShardHits, Twin

CLEARLY: Final = (3, 2)
"""A duplicate ranks clearly higher with more than 3/2 of its canonical's score: by its name, or by words of its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Collapsed:
    """A ranking without the rows that another one stands for.

    Attributes:
        cited: ids of the rows left out, ascending, by the id of the row that stands for them.
    """

    ranking: Ranking
    cited: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def places_of(places: int, n: int, ids: Collection[str], replies: Iterable[ShardHits]) -> int:
    """How many of ``n`` places have to be proved, so that ``places`` are left whatever is collapsed."""
    twins = [twin for hits in replies for twin in hits.twins]
    if not twins:
        return places
    known = frozenset(ids)
    return min(n, places + sum(twin.duplicate in known and twin.canonical in known for twin in twins))


def collapsed(request: SearchRequest, ranking: Ranking, replies: Iterable[ShardHits]) -> Collapsed:
    """Leave out what another row stands for, among the rows to show; the next ones take the free places.

    These rows are the best ``evidence_k``, and as many more as it takes until that many are left.
    """
    said = [twin for hits in replies for twin in hits.twins]
    if not said:
        return Collapsed(ranking=ranking)
    ids, asked = frozenset(ranking.rows.ids), _Asked.of(request.query)
    twins = {
        twin.duplicate: twin
        for twin in said
        if twin.duplicate in ids and twin.canonical in ids and not _both_asked(asked, twin)
    }
    if not twins:
        return Collapsed(ranking=ranking)
    window = _window(request, ranking, twins)
    dropped = _dropped(request, asked, ranking, window, twins)
    if not dropped:
        return Collapsed(ranking=ranking)
    cited: dict[str, list[str]] = {}
    for row, shown in dropped.items():
        cited.setdefault(ranking.rows.ids[shown], []).append(ranking.rows.ids[row])
    left = [row for row in range(len(ranking.rows.ids)) if row not in dropped]
    shorter = replace(ranking, rows=ranking.rows.rows(left), scores=ranking.scores[np.array(left, np.intp)])
    return Collapsed(ranking=shorter, cited={one: tuple(sorted(others)) for one, others in cited.items()})


def _window(request: SearchRequest, ranking: Ranking, twins: Mapping[str, Twin]) -> list[int]:
    """The rows to show or leave out, best first: the fewest of which ``evidence_k`` are left, or all there are.

    One pass. Of rows that pairs join one is left, or all that are pinned, whatever was joined to what before.
    """
    ids, k = ranking.rows.ids, request.budget.evidence_k
    ranked = winners(ranking.rows, ranking.scores, request.pinned, len(ids))
    # As ``winners`` fills its places: pinned rows first.
    order = sorted(ranked, key=lambda row: ids[row] not in request.pinned)
    joined = _Joined(twins)
    for places, row in enumerate(order, start=1):
        joined.add(ids[row], pinned=ids[row] in request.pinned)
        if places >= k and joined.left >= k:
            return sorted(order[:places])
    return ranked


class _Joined:
    """Which rows of a growing window pairs join, and how many would be left of them."""

    def __init__(self, twins: Mapping[str, Twin]) -> None:
        self.left = 0
        self._beside: dict[str, list[str]] = {}
        for twin in twins.values():
            self._beside.setdefault(twin.duplicate, []).append(twin.canonical)
            self._beside.setdefault(twin.canonical, []).append(twin.duplicate)
        self._above: dict[str, str] = {}
        self._pinned: dict[str, int] = {}
        """Pinned rows of each group, by the row that stands for it here."""

    def add(self, record_id: str, *, pinned: bool) -> None:
        """Let one more row into the window."""
        self._above[record_id] = record_id
        self._pinned[record_id] = int(pinned)
        self.left += 1
        for other in self._beside.get(record_id, ()):
            if other in self._above:
                self._join(self._top(record_id), self._top(other))

    def _join(self, one: str, other: str) -> None:
        if one == other:
            return
        apart = max(1, self._pinned[one]) + max(1, self._pinned[other])
        self._above[one] = other
        self._pinned[other] += self._pinned[one]
        self.left += max(1, self._pinned[other]) - apart

    def _top(self, record_id: str) -> str:
        top = record_id
        while self._above[top] != top:
            self._above[top] = top = self._above[self._above[top]]
        return top


def _dropped(
    request: SearchRequest, asked: "_Asked", ranking: Ranking, window: Sequence[int], twins: Mapping[str, Twin]
) -> dict[int, int]:
    """The rows of the window that are not shown, each with the row that is shown for it."""
    ids = ranking.rows.ids
    row_of = {ids[row]: row for row in window}
    # Row of a duplicate -> row of its canonical.
    upward = {
        row: row_of[twin.canonical]
        for row in window
        if (twin := twins.get(ids[row])) is not None and twin.canonical in row_of
    }
    roots = _roots(window, upward)
    groups: dict[int, list[int]] = {}
    for row in window:
        groups.setdefault(roots[row], []).append(row)
    dropped: dict[int, int] = {}
    for root, members in groups.items():
        if len(members) == 1:
            continue
        pinned = [row for row in members if ids[row] in request.pinned]
        shown = _most_specific(asked, ranking, root, members, twins)
        if pinned and shown not in pinned:
            shown = pinned[0]
        dropped |= {row: shown for row in members if row not in {shown, *pinned}}
    return dropped


def _roots(window: Sequence[int], upward: Mapping[int, int]) -> dict[int, int]:
    """The row that stands for each; of a ring, which two writers at once can close, the best row. No step twice."""
    roots: dict[int, int] = {}
    for first in window:
        row, place = first, dict[int, int]()
        while row not in roots and row not in place and row in upward:
            place[row] = len(place)
            row = upward[row]
        root = roots.get(row, row)
        if row in place:
            root = min(one for one, at in place.items() if at >= place[row])
        roots |= dict.fromkeys((*place, row), root)
    return roots


def _most_specific(
    asked: "_Asked", ranking: Ranking, root: int, members: Sequence[int], twins: Mapping[str, Twin]
) -> int:
    """Of rows that say the same, best first, the one to cite."""
    ids, scores = ranking.rows.ids, ranking.scores
    for row in members:
        twin = twins.get(ids[row])
        if row != root and twin is not None and asked.names(twin.own, twin.its):
            return row
    best = members[0]
    more, less = CLEARLY
    return best if int(scores[best]) * less > int(scores[root]) * more else root


def _both_asked(asked: "_Asked", twin: Twin) -> bool:
    """Whether a query asks for what one has and for what the other has: a comparison needs both."""
    return asked.names(twin.own, twin.its) and asked.names(twin.its, twin.own)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a query says, made ready once for all pairs."""

    text: str
    language: str

    @classmethod
    def of(cls, query: str) -> "_Asked":
        return cls(_plain(query), language_of(query))

    def names(self, has: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
        """Whether it asks for a locale, a release or a product that a record has and the other one has not."""
        (locale, *named), (other_locale, *others) = has, other
        if locale and _language(locale) != _language(other_locale) and _language(locale) == self.language:
            return True
        return any(_says(self.text, _plain(one), _plain(another)) for one, another in zip(named, others, strict=True))


def _language(locale: str) -> str:
    return re.split("[-_]", locale.casefold(), maxsplit=1)[0]


def _plain(text: str) -> str:
    return normalise(text).casefold()


def _says(text: str, label: str, other: str) -> bool:
    """Whether a label stands in a text as words of its own, and not as a part of the other one that holds it.

    So ``3.1`` is neither in ``3.10`` nor in ``13.1`` or ``3.1.2``.
    """
    # Looked for as it is first: each label would be compiled to a pattern of its own.
    if not label or label == other or label not in text:
        return False
    rest = text.replace(other, " ") if label in other else text
    return re.search(rf"(?<![\w.])v?{re.escape(label)}(?!\.?\w)", rest) is not None
