"""The empty fan-out: a bare no-op that makes one actor call to every shard with nothing to do. It searches nothing."""

import asyncio
from collections.abc import Sequence
from typing import Any

from cluster.config import Settings
from cluster.map_watch import MapWatch
from cluster.ray_control import RayControlPlane
from cluster.shard_client import ShardClient
from loadtest.service.actor_client import ActorClient
from loadtest.service.noop_app import live, reply_nothing
from loadtest.service.systems import EMPTY
from serve_app.app import deployment_of
from serve_app.exchange import ASGIApp, ASGIScope, Receive, Send


class EmptyFanout:
    """Calls each shard with an empty batch, then replies with an empty 200."""

    def __init__(self, clients: Sequence[ShardClient]) -> None:
        self._clients = tuple(clients)

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        await receive()
        await asyncio.gather(*(client.search(()) for client in self._clients))
        await reply_nothing(send)


class FanoutEdge:
    """The deployment of ``EmptyFanout``; its shards are those that it finds when it starts."""

    # Serve awaits a constructor that is a coroutine function; to mypy there is no such thing.
    async def __init__(self, supervisor: Any) -> None:  # type: ignore[misc]  # noqa: ANN401 -- untyped handle
        copies = (await MapWatch(RayControlPlane(supervisor), ActorClient).first()).copies
        self._app = EmptyFanout([copy.client for copy in copies if copy.client is not None])

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The app that Serve hands every request to."""
        return self._app


def build_fanout(settings: Settings, supervisor: Any) -> Any:  # noqa: ANN401 -- untyped in Ray
    """The Serve application, with the limits of the real one."""
    return deployment_of(FanoutEdge, EMPTY.name, settings).bind(supervisor)
