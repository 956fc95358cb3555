"""The routes that read: one record, the status, health, metrics and the OpenAPI document.

They change nothing; who may call them stands in ``serve_app.access``.
"""

from dataclasses import asdict
from typing import Annotated, Final

import orjson
from fastapi import FastAPI, Query, Request, Response

from cluster.budget import Deadline
from cluster.control import ClusterStatus
from cluster.health import Health
from cluster.record_json import evidence_json
from serve_app.asking import CALL, Call
from serve_app.exchange import JSON
from serve_app.flag_view import flag_figures, flags_view
from serve_app.formats.formatting import Format, formatted_record
from serve_app.metrics import CONTENT_TYPE
from serve_app.openapi import document
from serve_app.patience import LOOK_TIMEOUT_S, within
from serve_app.problems import NOT_FOUND, NOT_READY, Refused
from serve_app.record_view import stored_view
from serve_app.services import Services
from shards.record import Kind, Record

READY_FOR_S: Final = 0.5
"""How long a replica takes the cluster's word that it is ready: anybody may ask, and each look counts the registry."""


class ReadRoutes:
    """Handlers over one replica's services."""

    def __init__(self, app: FastAPI, services: Services) -> None:
        self._app = app
        self._services = services
        self._ready_until_s = 0.0

    async def record(
        self, request: Request, record_id: str, form: Annotated[Format, Query(alias="format")] = "native"
    ) -> Response:
        """One record, if the caller may see it; unknown, hidden, disabled and removed ones are the same 404.

        In a provider's format it is what an answer in that format shows of it.
        """
        call: Call = request.scope[CALL]
        found = await visible_record(self._services, call, record_id, from_s=call.arrived_s)
        if found is None:
            self._services.inquiries.missing(call.request_id, call.principal, "get", record_id)
            raise Refused(NOT_FOUND)
        if form == "native":
            return json_response(stored_view(found))
        evidence = evidence_json(orjson.loads(found.to_json()))
        return json_response(formatted_record(form, evidence))

    async def status(self) -> Response:
        """How the cluster is: every shard copy, counts over all tenants, the index position, the vectors.

        Under ``flags`` those of the replica that answers, and how its answers compare with those the other way round.
        """
        services = self._services
        flags = flags_view(services.flags, services.shadow)
        return json_response({**asdict(await cluster_status(services)), "flags": flags})

    async def healthz(self) -> Response:
        """This process answers."""
        return json_response({"status": "alive"})

    async def readyz(self) -> Response:
        """Every shard is loaded and this replica reaches it; otherwise a 503 problem."""
        if any(copy.client is None for copy in self._services.router.shard_map.copies):
            raise Refused(NOT_READY)
        if self._services.clock() >= self._ready_until_s:
            status = await cluster_status(self._services)
            if status.health not in {Health.READY, Health.DEGRADED}:
                raise Refused(NOT_READY)
            self._ready_until_s = self._services.clock() + READY_FOR_S
        return json_response({"status": "ready"})

    async def metrics(self) -> Response:
        """This replica's figures in the Prometheus text format."""
        services = self._services
        figures = services.metrics.exposition() + flag_figures(services.flags, services.shadow)
        return Response(figures, media_type=CONTENT_TYPE)

    async def root(self) -> Response:
        """What answers here, and where it says more."""
        name, version = self._app.title, self._app.version
        return json_response({"name": name, "version": version, "openapi": "/openapi.json", "readyz": "/readyz"})

    async def openapi(self) -> Response:
        """This document."""
        return json_response(document(self._app))


async def visible_record(services: Services, call: Call, record_id: str, *, from_s: float) -> Record | None:
    """The record if the caller may see it now; the time for that counts from ``from_s``.

    Raises:
        ShardUnavailable: if its shard did not answer in time.
    """
    deadline = Deadline.of(from_s, services.budgets[Kind.TOOL].timeout_ms / 1000, services.clock)
    found = await services.router.documents(services.policy.compile(call.principal), (record_id,), deadline)
    return found[0] if found else None


async def cluster_status(services: Services) -> ClusterStatus:
    """The status, or a typed error in bounded time."""
    return await within(LOOK_TIMEOUT_S, services.control.status())


def json_response(value: object) -> Response:
    """A response whose bytes follow the order of the value's keys."""
    return Response(orjson.dumps(value), media_type=JSON)


def add_read_routes(app: FastAPI, services: Services) -> None:
    """Put the routes on ``app``."""
    routes = ReadRoutes(app, services)
    for path, handler in (
        ("/", routes.root),
        ("/healthz", routes.healthz),
        ("/readyz", routes.readyz),
        ("/metrics", routes.metrics),
        ("/openapi.json", routes.openapi),
        ("/v1/status", routes.status),
        ("/v1/records/{record_id:path}", routes.record),
    ):
        app.add_api_route(path, handler, methods=["GET"], response_class=Response)
