"""The change feed: what the registry changed after a seq, cut into one batch per shard.

It reads no database and calls no shard; whoever owns both hands the changes in and the batches out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.errors import BrokenFeed
from cluster.partition import shard_of
from shards.messages import Change
from shards.record import bucket_of

STEP_BYTES: Final = 128 * 2**10
"""Text that a copy analyses in one go, some 0.3 s of the most expensive kind; searches get their turn in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedBatch:
    """What one shard has to apply to go from ``after_seq`` to ``upto_seq``; empty where nothing concerns it.

    Attributes:
        changes: in order of seq, at most one per record, per grant list and per confirmed duplicate: the last.
    """

    shard: int
    after_seq: int
    upto_seq: int
    changes: tuple[Change, ...]


def batches(changes: Sequence[Change], after_seq: int, shards: int) -> tuple[FeedBatch, ...]:
    """One batch per shard, in order of shard number, all ending at the same seq.

    Args:
        changes: all that the registry changed, without gaps, from ``after_seq + 1`` on.
        after_seq: the seq that every shard has applied.
        shards: how many shards there are.

    Raises:
        BrokenFeed: if a seq is missing or out of order, so that applying the rest could lose a change for ever.
    """
    upto_seq = after_seq
    last: dict[tuple[str, str, str], Change] = {}
    for change in changes:
        if change.seq != upto_seq + 1:
            raise BrokenFeed(upto_seq + 1, change.seq)
        upto_seq = change.seq
        # Taken out first, so that the dict stays in order of the last change.
        last.pop(_subject(change), None)
        last[_subject(change)] = change
    parts: list[list[Change]] = [[] for _ in range(shards)]
    for change in last.values():
        for shard in _shards_of(change, shards):
            parts[shard].append(change)
    return tuple(
        FeedBatch(shard=shard, after_seq=after_seq, upto_seq=upto_seq, changes=tuple(part))
        for shard, part in enumerate(parts)
    )


def steps(changes: Sequence[Change], most_bytes: int = STEP_BYTES) -> Iterator[Sequence[Change]]:
    """The changes in runs of at most ``most_bytes``, or of one change: what a copy costs grows with bytes, not changes.

    Without it, one writer's few megabytes would keep every copy from answering until it is taken for hung.
    """
    start = size = 0
    for position, change in enumerate(changes):
        if position > start and size + _size(change) > most_bytes:
            yield changes[start:position]
            start, size = position, 0
        size += _size(change)
    if start < len(changes):
        yield changes[start:]


def _size(change: Change) -> int:
    return len(change.body or b"") + sum(map(len, change.grant_ids or ()))


def _subject(change: Change) -> tuple[str, str, str]:
    return (change.record_id, change.grant_list, change.duplicate)


def _shards_of(change: Change, shards: int) -> range:
    """The shards that a change concerns: the owner of a record or duplicate, every shard for a grant list."""
    if change.grant_list:
        return range(shards)
    owner = shard_of(bucket_of(change.record_id or change.duplicate), shards)
    return range(owner, owner + 1)
