"""MapWatch: a router's side of the shard map: it waits for the supervisor's next map and hands it to the router.

Nothing of it is on the path of a request, and it decides nothing: a shard without a handle has no copy to ask.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, Protocol

from cluster.copies import CopyHandle
from cluster.errors import ClusterError
from cluster.partition import bucket_range
from cluster.ray_control import RayControlPlane
from cluster.roster import MapView
from cluster.shard_client import ShardClient
from cluster.shard_map import ShardCopy, ShardMap
from cluster.shard_socket import ShardSocket

LONG_POLL_S: Final = 10.0
"""How long one question to the supervisor waits for news."""

_RETRY_S: Final = 0.2

_log = logging.getLogger(__name__)


class RemoteClient(ShardClient, Protocol):
    """A ``ShardClient`` that has something to let go of."""

    def close(self) -> None:
        """The map no longer names its copy; requests that still hold it may go on for their time."""


Reach = Callable[[int, CopyHandle, Callable[[int], None]], RemoteClient]
"""Makes the client of a numbered shard; the last argument is to be told of a copy that cannot be reached."""


def reach_door(shard: int, handle: CopyHandle, on_lost: Callable[[int], None]) -> RemoteClient:
    """The way of every router but those of baselines."""
    return ShardSocket(shard, handle.door, on_lost)


class MapWatch:
    """Keeps one router's map fresh. A copy that stays keeps its client, and so the batches under way to it."""

    def __init__(self, control: RayControlPlane, reach: Reach = reach_door) -> None:
        self._control = control
        self._reach = reach
        self._clients: dict[tuple[int, CopyHandle], RemoteClient] = {}
        self._suspicions: dict[int, asyncio.Task[None]] = {}
        self._version = 0

    async def first(self) -> ShardMap:
        """The map of now, for the router's constructor.

        Raises:
            RegistryUnavailable: while the supervisor cannot be reached.
        """
        return self._to_map(await self._control.map_after(0, 0.0))

    async def run(self, replace: Callable[[ShardMap], None]) -> None:
        """Hand every newer map to ``replace``, for ever."""
        while True:
            try:
                view = await self._control.map_after(self._version, LONG_POLL_S)
            except ClusterError as exc:
                _log.warning("map_not_refreshed", extra={"reason": str(exc)})
                await asyncio.sleep(_RETRY_S)
            else:
                if view.version > self._version:
                    replace(self._to_map(view))

    def lost(self, shard: int) -> None:
        """A copy could not be reached: have the supervisor look at once, unless it was asked a moment ago."""
        if shard not in self._suspicions:
            task = asyncio.get_running_loop().create_task(self._suspect(shard))
            self._suspicions[shard] = task
            task.add_done_callback(lambda _: self._suspicions.pop(shard))

    async def _suspect(self, shard: int) -> None:
        try:
            await self._control.suspect(shard)
        except ClusterError as exc:
            _log.warning("suspicion_not_told", extra={"shard": shard, "reason": str(exc)})
        # Until then the task stands in the table: while a shard is away every batch of searches suspects it.
        await asyncio.sleep(_RETRY_S)

    def _to_map(self, view: MapView) -> ShardMap:
        shards = len(view.handles)
        clients: dict[tuple[int, CopyHandle], RemoteClient] = {}
        copies = []
        for shard, handle in enumerate(view.handles):
            client = None
            if handle is not None:
                key = (shard, handle)
                client = clients[key] = self._clients.get(key) or self._reach(shard, handle, self.lost)
            copies.append(ShardCopy(shard=shard, buckets=len(bucket_range(shard, shards)), client=client))
        for key in self._clients.keys() - clients.keys():
            self._clients[key].close()
        self._clients = clients
        self._version = view.version
        return ShardMap(version=view.version, copies=tuple(copies))
