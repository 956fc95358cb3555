"""The FastAPI application behind the ingress: every route but the two questions, and one shape for their errors.

Callers are authenticated before they get here; this checks the right that the access table asks of each route.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Final

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from cluster.errors import ClusterError
from serve_app import audit
from serve_app.access import ACCESS, Right, demand, methods_of
from serve_app.admin import add_admin_routes
from serve_app.asking import CALL, Call
from serve_app.auth_errors import Forbidden, Unauthenticated
from serve_app.duplicates import add_duplicate_routes
from serve_app.exchange import EXCHANGE, Exchange
from serve_app.exports import add_export_routes
from serve_app.problems import MEDIA_TYPE, Code, Refused, method_not_allowed, problem_of
from serve_app.routes import add_read_routes
from serve_app.services import Services
from shards.errors import ShardError

_TYPED: Final = (Refused, Unauthenticated, Forbidden, ClusterError, ShardError, HTTPException, RequestValidationError)


def build_rest(services: Services) -> FastAPI:
    """The application; each of its routes needs a row in the access table, or it stays closed."""

    async def authorize(request: Request) -> None:
        route = request.scope["route"].path
        call: Call | None = request.scope.get(CALL)
        if call is not None:
            demand(services.policy, call.principal, request.method, route)
        elif ACCESS.get((request.method, route)) is not Right.ANYONE:
            raise Forbidden(route)

    # The document is a route of ours; the pages that FastAPI adds would load scripts from elsewhere.
    app = FastAPI(
        title="Shortlist",
        version=version("shortlist"),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lambda _: _log_closed(services),
        dependencies=[Depends(authorize)],
    )

    async def refuse(request: Request, error: Exception) -> Response:
        exchange: Exchange = request.scope[EXCHANGE]
        audit.refused(exchange.request_id, error, services.pseudonyms.caller(exchange.trail.principal))
        if isinstance(error, _TYPED) and problem_of(error).code is Code.INTERNAL:
            # Whatever else leads there is raised on to the ingress, which tells it.
            audit.failed(exchange.request_id, error)
        return _problem_response(request, exchange, error)

    for kind in (*_TYPED, Exception):
        app.add_exception_handler(kind, refuse)
    add_read_routes(app, services)
    add_admin_routes(app, services)
    add_export_routes(app, services)
    add_duplicate_routes(app, services)
    return app


@asynccontextmanager
async def _log_closed(services: Services) -> AsyncIterator[None]:
    """The lifespan of the endpoint: at its end the lines of all requests are written."""
    yield
    if services.request_log is not None:
        await asyncio.to_thread(services.request_log.close)


def _problem_response(request: Request, exchange: Exchange, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.code is Code.METHOD_NOT_ALLOWED:
        # Starlette names the methods of the first route of this path only.
        problem = method_not_allowed(methods_of(request.scope["route"].path))
    exchange.outcome = problem.code.value
    return Response(
        problem.to_json(exchange.request_id),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers=dict(problem.headers),
    )
