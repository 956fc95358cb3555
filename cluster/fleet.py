"""Fleet: the lanes to all shards of one map, and what these shards last counted. A request uses one from start to end.

It sends nothing by itself and watches nothing; a new map makes a new fleet.
"""

from collections.abc import Sequence

from cluster.contract import Coverage
from cluster.coverage import KnownCounts, coverage_of
from cluster.fanout import Lane, Replies
from cluster.shard_map import ShardMap
from shards.scope import Scope


class Fleet:
    """Lanes by shard number, for one map."""

    def __init__(self, shard_map: ShardMap, lanes: Sequence[Lane], known: KnownCounts) -> None:
        self.shard_map = shard_map
        self.lanes = tuple(lanes)
        self._known = known
        self._buckets = {copy.shard: copy.buckets for copy in shard_map.copies}

    @classmethod
    def of(cls, shard_map: ShardMap, max_batch: int) -> "Fleet":
        """New lanes to every shard."""
        return cls(shard_map, [Lane(copy, max_batch) for copy in shard_map.copies], KnownCounts())

    def succeeded_by(self, shard_map: ShardMap, max_batch: int) -> "Fleet":
        """The fleet of the next map: lanes to the same client are kept with their queues, the others retire.

        What was counted stays known while a shard number names the same part of the records.
        """
        held = {(lane.shard, id(lane.client)): lane for lane in self.lanes}
        lanes = [held.get((copy.shard, id(copy.client))) or Lane(copy, max_batch) for copy in shard_map.copies]
        for lane in set(self.lanes).difference(lanes):
            lane.retire()
        same_parts = shard_map.layout == self.shard_map.layout
        return Fleet(shard_map, lanes, self._known if same_parts else KnownCounts())

    def retire(self) -> None:
        """Break off every call that nobody waits for."""
        for lane in self.lanes:
            lane.retire()

    def coverage(self, scope: Scope, replies: Replies) -> Coverage:
        """What these replies cover of the scope; what they counted is remembered for later gaps."""
        self._known.learn(scope.fingerprint, replies)
        return coverage_of(replies, self._buckets, scope.fingerprint, self._known)
