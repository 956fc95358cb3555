"""A router's map follows the supervisor's: a copy keeps its client while the map names it, and no longer."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from cluster.copies import CopyHandle
from cluster.map_watch import MapWatch
from cluster.roster import MapView
from cluster.shard_map import ShardMap
from cluster.shard_socket import ShardSocket
from shards.door_protocol import DoorAddress
from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery

if TYPE_CHECKING:
    from cluster.ray_control import RayControlPlane


class Control:
    """Hands out the views it is given, one after the other, and then nothing new."""

    def __init__(self, *views: MapView) -> None:
        self._views = list(views)
        self.suspected: list[int] = []

    async def map_after(self, version: int, timeout_s: float) -> MapView:  # noqa: ARG002 -- as RayControlPlane
        if not self._views:
            await asyncio.Event().wait()
        return self._views.pop(0)

    async def suspect(self, shard: int) -> None:
        self.suspected.append(shard)


class Client:
    """Remembers what it is for and whether it was closed."""

    def __init__(self, shard: int, handle: CopyHandle, on_lost: Callable[[int], None]) -> None:
        self.shard = shard
        self.handle = handle
        self.lost = on_lost
        self.closed = False

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        raise NotImplementedError

    async def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        raise NotImplementedError

    def close(self) -> None:
        self.closed = True


def handle(number: int) -> CopyHandle:
    # Ray hands out another object for the same actor each time.
    return CopyHandle(door=DoorAddress(host="127.0.0.1", port=9, key=bytes([number]), proof=b""), actor=object())


def view(version: int, *numbers: int | None) -> MapView:
    handles = tuple(None if number is None else handle(number) for number in numbers)
    return MapView(version=version, handles=handles)


def watch_of(control: Control) -> MapWatch:
    return MapWatch(cast("RayControlPlane", control), Client)


def clients(shard_map: ShardMap) -> list[Client | None]:
    assert all(copy.client is None or isinstance(copy.client, Client) for copy in shard_map.copies)
    return [copy.client if isinstance(copy.client, Client) else None for copy in shard_map.copies]


def test_a_copy_that_stays_keeps_its_client_and_one_that_goes_has_it_closed() -> None:
    async def story() -> None:
        maps: list[ShardMap] = []
        control = Control(view(1, 10, 20), view(2, 10, None), view(3, 10, 21), view(3, 11, 21))
        watch = watch_of(control)
        first, second = clients(await watch.first())
        following = asyncio.create_task(watch.run(maps.append))
        async with asyncio.timeout(10):
            while len(maps) < 2:  # noqa: ASYNC110 -- the watch tells nobody else
                await asyncio.sleep(0)
        following.cancel()
        assert first is not None
        assert second is not None
        assert [shard_map.version for shard_map in maps] == [2, 3]
        assert clients(maps[0]) == [first, None]
        kept, new = clients(maps[1])
        assert kept is first
        assert new is not None
        assert new is not second
        assert (first.closed, second.closed, new.closed) == (False, True, False)
        assert (new.shard, new.handle) == (1, handle(21))

    asyncio.run(story())


def test_a_loss_is_told_to_the_supervisor_once_for_all_who_meet_it() -> None:
    async def story() -> None:
        control = Control(view(1, 10, 20))
        _, client = clients(await watch_of(control).first())
        assert client is not None
        for _ in range(5):
            client.lost(1)
        await asyncio.sleep(0.01)
        assert control.suspected == [1]

    asyncio.run(story())


def test_routers_that_serve_go_by_the_door() -> None:
    async def story() -> None:
        watch = MapWatch(cast("RayControlPlane", Control(view(1, 10, None))))
        shard_map = await watch.first()
        assert isinstance(shard_map.copies[0].client, ShardSocket)
        assert shard_map.copies[1].client is None

    asyncio.run(story())
