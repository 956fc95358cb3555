"""Twins of the endpoint that differ in one thing: whether a request gets a line in the request log.

For the benchmark only. They share the instance and its shards, and each is a replica of its own.
"""

from typing import Any

from cluster.config import Settings
from loadtest.service.prefix import behind_prefix
from loadtest.service.systems import LOGGED, QUIET, System
from serve_app.app import Edge, deployment_of
from serve_app.exchange import ASGIApp


class TwinEdge(Edge):
    """``Edge`` behind the prefix of a system."""

    async def __init__(self, settings: Settings, supervisor: Any, system: System) -> None:  # type: ignore[misc]  # noqa: ANN401 -- as Edge
        self._prefix = system.prefix
        log = settings.log.model_copy(update={"requests": system != QUIET})
        await super().__init__(settings.model_copy(update={"log": log}), supervisor)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The real app, which knows no prefix, behind one."""
        return behind_prefix(super().__serve_build_asgi_app__(), self._prefix)


def build_twins(settings: Settings, supervisor: Any) -> dict[System, Any]:  # noqa: ANN401 -- untyped in Ray
    """The Serve applications, with the limits of the real one."""
    return {
        system: deployment_of(TwinEdge, system.name, settings).bind(settings, supervisor, system)
        for system in (LOGGED, QUIET)
    }
