"""Ours as contenders: the kernels alone, the whole of a shard's part, and the whole search in one process.

Nothing about a question's terms is known beforehand, authorized frequencies least of all; which records its caller may
see is known, as peers know which documents hold the term of a filter.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from cluster.query import plan_query
from cluster.ranker import AdditiveRanker
from loadtest.in_process import InProcess
from loadtest.kernel.contender import HITS, Question, Search, timed
from loadtest.tiers import Share, scope_of
from shards import snapshot
from shards.authorization import AuthorizedRows
from shards.candidates import Asked, View, candidates
from shards.messages import ScoreMix
from shards.names import NO_BONUS
from shards.part import Part
from shards.shard import Shard
from shards.statistics import frequency_weights
from shards.topk import Ranked, merge


class Kernels:
    """What the peers do, too: terms looked up, frequencies counted, every posting of an admitted record considered.

    It asks for the very hits that the whole search ranks by its words; names, near words and values are left out.
    """

    name = "shortlist, kernels"

    def __init__(self, place: Path) -> None:
        self._index = snapshot.read(place, 0)
        self._ranker = AdditiveRanker.from_config()

    def prepared(self, question: Question, share: Share) -> Search:
        """See ``Contender``."""
        plan, scope = plan_query(question.text), scope_of(share)
        admitted = [
            (part, self._index.authorizer.authorize(scope, part, self._index.lists)) for part in self._index.parts
        ]
        mix = self._ranker.mix(plan)
        return timed(lambda: best_rows(admitted, plan.terms, plan.term_weights, mix))


def best_rows(
    admitted: Sequence[tuple[Part, AuthorizedRows]], terms: tuple[str, ...], weights: tuple[int, ...], mix: ScoreMix
) -> Ranked:
    """The best rows of all parts by words alone, as ``shards.retrieval`` finds them."""
    views = [
        View(part=part, authorized=rows, terms=part.segment.postings.rows.of(terms), bonus=NO_BONUS, compared=None)
        for part, rows in admitted
        if rows.count
    ]
    frequencies = np.zeros(len(terms), np.int64)
    for view in views:
        frequencies += view.authorized.frequencies(view.part.segment.postings, view.terms)
    authorized = sum(view.authorized.count for view in views)
    asked = Asked(weights=frequency_weights(authorized, frequencies, weights), mix=mix, n=HITS)
    tops, floor = [], 0
    for view in views:
        top = candidates(view, asked, floor, _never).top
        if len(top.scores) == HITS:
            floor = max(floor, int(top.scores[-1]))
        tops.append(top)
    return merge(tops, HITS, lambda part, row: views[part].part.segment.ids[row])


def _never() -> bool:
    return False


class ShardPart:
    """All that a shard's searches do for one question, every round; no peer looks up names or near words."""

    name = "shortlist, shard"

    def __init__(self, place: Path) -> None:
        self._index = InProcess((Shard.open(0, place),))
        self._callers: Final = count()

    def prepared(self, question: Question, share: Share) -> Search:
        """See ``Contender``."""
        scope = scope_of(share, f"caller-{next(self._callers)}")
        self._index.admit(scope)
        return lambda: self._index.search(question.text, scope)[1].shards_s[0]


class WholeSearch(ShardPart):
    """The same with the router's part: analysis, merge, documents, evidence."""

    name = "shortlist, whole search"

    def prepared(self, question: Question, share: Share) -> Search:
        """See ``Contender``."""
        scope = scope_of(share, f"caller-{next(self._callers)}")
        self._index.admit(scope)
        return lambda: self._index.search(question.text, scope)[1].whole_s
