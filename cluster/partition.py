"""Which shard owns a record: a contiguous range of the registry's hash buckets each."""

from shards.record import BUCKETS


def bucket_range(shard: int, shards: int) -> range:
    """The buckets of one of ``shards`` shards; ranges are contiguous, disjoint, complete, and differ by at most 1."""
    return range(shard * BUCKETS // shards, (shard + 1) * BUCKETS // shards)


def shard_of(bucket: int, shards: int) -> int:
    """The shard that owns ``bucket``; the inverse of ``bucket_range``."""
    return ((bucket + 1) * shards - 1) // BUCKETS
