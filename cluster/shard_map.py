"""ShardMap: which client reaches which shard, as a router holds it. Replaced whole, never edited.

It places and watches nothing; the supervisor does, and hands routers a new map.
"""

from dataclasses import dataclass

from cluster.errors import InvalidShardMap
from cluster.shard_client import ShardClient


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCopy:
    """One shard as a router reaches it; ``client`` is None while no copy of it is alive.

    ``buckets`` is how many of the registry's hash buckets it owns (``len(bucket_range(shard, shards))``).
    """

    shard: int
    buckets: int
    client: ShardClient | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardMap:
    """All shards of a cluster, by number from 0, each once; a shard that is lost stays listed without a client.

    Raises:
        InvalidShardMap: if numbers are missing, repeated or out of order, or there is no shard.
    """

    version: int
    copies: tuple[ShardCopy, ...]

    def __post_init__(self) -> None:
        numbers = [copy.shard for copy in self.copies]
        if not numbers or numbers != list(range(len(numbers))):
            raise InvalidShardMap(self.version, str(numbers))

    @property
    def layout(self) -> tuple[int, ...]:
        """Buckets of each shard; equal layouts mean that a shard number names the same part of the records."""
        return tuple(copy.buckets for copy in self.copies)
