"""What an answer says of the search behind it: which part of the authorized set was seen, and why there is no hit.

Counts are the caller's own authorized records, never the shard's; it decides nothing about retrieval.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from cluster.contract import Coverage, Gap, Miss, MissReason
from cluster.fanout import Replies

REMEMBERED: Final = 65_536
"""(scope, shard) counts kept: a few hundred bytes each."""

_ADVICE: Final = {
    MissReason.NO_MATCH: "Nothing you may see shares a term with the query: name the action and its object.",
    MissReason.TIMEOUT: "Time ran out before everything was searched: narrow the request, or allow more time.",
    MissReason.UNAVAILABLE: "A part of the index does not answer: retry shortly.",
    MissReason.NOTHING_AUTHORIZED: "No record is open to you under these filters: drop filters or ask for access.",
    MissReason.BUDGET: "Records matched, but none fits evidence_tokens and evidence_bytes: raise them.",
}

_TALK_ADVICE: Final = "This reads like talk that no record you may see is for: name the action and its object."


class KnownCounts:
    """The last authorized count of each (scope fingerprint, shard), least recently used first out."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._counts: OrderedDict[tuple[str, int], int] = OrderedDict()

    def learn(self, fingerprint: str, replies: Replies) -> None:
        """Remember what the shards that answered counted."""
        for shard, hits in replies.hits.items():
            self._counts[fingerprint, shard] = hits.authorized
            self._counts.move_to_end((fingerprint, shard))
        while len(self._counts) > self._limit:
            self._counts.popitem(last=False)

    def of(self, fingerprint: str, shard: int) -> int | None:
        """The last count, None if this shard never answered for this scope (or it was long ago)."""
        return self._counts.get((fingerprint, shard))


def coverage_of(replies: Replies, buckets: Mapping[int, int], fingerprint: str, known: KnownCounts) -> Coverage:
    """The coverage of these replies; shards with a gap count by what they last said. ``buckets`` holds every shard."""
    searched = sum(hits.authorized for hits in replies.hits.values())
    missing = [known.of(fingerprint, shard) for shard in replies.gaps]
    counted = [count for count in missing if count is not None]
    return Coverage(
        searched=searched,
        authorized=searched + sum(counted) if len(counted) == len(missing) else None,
        buckets_searched=sum(buckets[shard] for shard in replies.hits),
        gaps=tuple(sorted(set(replies.gaps.values()))),
    )


def miss_of(coverage: Coverage, *, dropped: int, abstained: bool = False) -> Miss:
    """Why an answer without hits has none.

    Args:
        coverage: of the answer.
        dropped: hits that were ranked but fit no evidence ceiling.
        abstained: the request was taken for talk.
    """
    if dropped:
        reason = MissReason.BUDGET
    elif coverage.gaps:
        # A part was not searched: "no match" would claim more than is known.
        only_unavailable = coverage.gaps == (Gap.UNAVAILABLE,)
        reason = MissReason.UNAVAILABLE if only_unavailable else MissReason.TIMEOUT
    else:
        reason = MissReason.NO_MATCH if coverage.authorized else MissReason.NOTHING_AUTHORIZED
        if abstained and reason is MissReason.NO_MATCH:
            return Miss(reason=reason, advice=_TALK_ADVICE)
    return Miss(reason=reason, advice=_ADVICE[reason])
