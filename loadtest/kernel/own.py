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
from shards import sight_kernel, snapshot
from shards.authorization import AuthorizedRows
from shards.candidates import Asked
from shards.messages import ScoreMix
from shards.part import Part
from shards.selection import best_by_words
from shards.shard import Shard
from shards.sight import Sight
from shards.topk import Ranked


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
    sight = Sight.of(admitted)
    looked_up = np.array([part.segment.postings.rows.of(terms) for part, _ in sight.parts], np.int64)
    frequencies, weighed = np.empty(len(terms), np.int64), np.empty(len(terms), np.int64)
    full = np.array(weights, np.int64)
    sight_kernel.count_and_weigh(frequencies, weighed, sight.table, looked_up, sight.authorized, full)
    return best_by_words(sight, looked_up, (), Asked(weights=weighed, mix=mix, n=HITS)).best


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
