"""Ours as contenders: the kernels alone, the whole of a shard's part, and the whole search in one process.

Nothing about a question's terms is known beforehand, authorized frequencies least of all; which records its caller may
see is known, as peers know which documents hold the term of a filter.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

from cluster.query import plan_query
from cluster.ranker import AdditiveRanker
from loadtest.in_process import PATIENCE_MS, InProcess
from loadtest.kernel.contender import HITS, Question, Search, timed
from loadtest.tiers import Share, scope_of
from shards import bundle, snapshot
from shards.mentions import NO_MENTIONS
from shards.messages import ShardQuery
from shards.part import Part
from shards.selection import select
from shards.shard import Shard
from shards.sight import Sight
from shards.topk import Ranked


class Kernels:
    """What the peers do, too: terms looked up, frequencies counted, every posting of an admitted record considered.

    It asks for the very hits that the whole search ranks by its words; names, near words and values are left out.
    """

    name = "shortlist, kernels"
    at_once = 1

    def __init__(self, place: Path) -> None:
        self._index = snapshot.read(place, 0)
        self._ranker = AdditiveRanker.from_config()

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        asked, parts = [self._asked(question, share) for question in questions], self._index.parts
        return timed(lambda: best_rows(asked, parts))

    def _asked(self, question: Question, share: Share) -> bundle.Question:
        plan, scope = plan_query(question.text), scope_of(share)
        sight = Sight.of(
            [(part, self._index.authorizer.authorize(scope, part, self._index.lists)) for part in self._index.parts]
        )
        query = ShardQuery(
            scope=scope,
            terms=plan.terms,
            term_weights=plan.term_weights,
            mix=self._ranker.mix(plan),
            mentions=NO_MENTIONS,
            pinned=(),
            preferred=(),
            n=HITS,
            weights=None,
            remaining_ms=PATIENCE_MS,
            min_seq=0,
        )
        return bundle.Question(query, sight, lambda: False)


class KernelsTogether(Kernels):
    """The same, as a shard asks them when many clients wait: several questions in one call."""

    name = f"shortlist, kernels, {bundle.MOST} a call"
    at_once = bundle.MOST


def best_rows(asked: Sequence[bundle.Question], parts: Sequence[Part]) -> Ranked:
    """The best rows of all parts by words alone, question after question, as ``shards.retrieval`` finds them."""
    return select(bundle.Bundle.of(asked, parts)).best


class ShardPart:
    """All that a shard's searches do for one question, every round; no peer looks up names or near words."""

    name = "shortlist, shard"
    at_once = 1

    def __init__(self, place: Path) -> None:
        self._index = InProcess((Shard.open(0, place),))
        self._callers: Final = count()

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        (question,) = questions
        scope = scope_of(share, f"caller-{next(self._callers)}")
        self._index.admit(scope)
        return lambda: self._index.search(question.text, scope)[1].shards_s[0]


class WholeSearch(ShardPart):
    """The same with the router's part: analysis, merge, documents, evidence."""

    name = "shortlist, whole search"

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """See ``Contender``."""
        (question,) = questions
        scope = scope_of(share, f"caller-{next(self._callers)}")
        self._index.admit(scope)
        return lambda: self._index.search(question.text, scope)[1].whole_s
