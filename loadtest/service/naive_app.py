"""The naive fan-out: the real endpoint with one actor call per shard per query instead of micro-batches.

A baseline for the benchmark only. Everything else, shards included, is what ``serve_app.app`` serves.
"""

import asyncio
from functools import partial
from typing import Any

from cluster import fleet
from cluster.budget import Deadline
from cluster.config import Settings
from cluster.errors import ShardUnavailable
from cluster.fanout import Lane
from cluster.map_watch import MapWatch
from loadtest.service.actor_client import ActorClient
from loadtest.service.prefix import behind_prefix
from loadtest.service.systems import NAIVE
from serve_app import app
from serve_app.app import Edge, deployment_of
from serve_app.exchange import ASGIApp
from shards.messages import Document, DocumentRequest, ShardHits, ShardQuery


class DirectLane(Lane):
    """Calls the shard at once for each query, as many calls in flight as there are queries."""

    def search(self, query: ShardQuery, deadline: Deadline) -> "asyncio.Future[ShardHits]":  # noqa: ARG002 -- as Lane
        """See ``Lane.search``."""
        return asyncio.ensure_future(self._search_at_once(query))

    def documents(self, request: DocumentRequest, deadline: Deadline) -> "asyncio.Future[tuple[Document, ...]]":  # noqa: ARG002
        """See ``Lane.documents``."""
        return asyncio.ensure_future(self._documents_at_once(request))

    async def _search_at_once(self, query: ShardQuery) -> ShardHits:
        if self.client is None:
            raise ShardUnavailable(self.shard, "no copy is alive")
        return (await self.client.search((query,)))[0]

    async def _documents_at_once(self, request: DocumentRequest) -> tuple[Document, ...]:
        if self.client is None:
            raise ShardUnavailable(self.shard, "no copy is alive")
        return (await self.client.documents((request,)))[0]


class NaiveEdge(Edge):
    """``Edge`` whose router, alone in its process, gets direct lanes of actor calls."""

    async def __init__(self, settings: Settings, supervisor: Any) -> None:  # type: ignore[misc]  # noqa: ANN401 -- as Edge
        vars(fleet)["Lane"] = DirectLane
        vars(app)["MapWatch"] = partial(MapWatch, reach=ActorClient)
        await super().__init__(settings, supervisor)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The real app, which knows no prefix, behind one."""
        return behind_prefix(super().__serve_build_asgi_app__(), NAIVE.prefix)


def build_naive(settings: Settings, supervisor: Any) -> Any:  # noqa: ANN401 -- untyped in Ray
    """The Serve application, with the limits of the real one."""
    return deployment_of(NaiveEdge, NAIVE.name, settings).bind(settings, supervisor)
