"""The door: a raw ASGI app that times, names and authenticates every request, then hands it to its handler.

Questions are answered by hand, because FastAPI doubles their cost; all else goes to ``serve_app.rest``.
Nothing of a body is read before its caller is known. This is the process edge: the only broad ``except`` of the app.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from serve_app import audit
from serve_app.access import OPEN_PATHS, demand, route_of
from serve_app.answering.route import answer
from serve_app.arrival import Arrivals
from serve_app.asking import CALL, Call
from serve_app.auth import authorization_of
from serve_app.exchange import EXCHANGE, ASGIApp, ASGIScope, ClientGone, Exchange, Receive, Send
from serve_app.problems import Code, Refused, method_not_allowed, problem_of
from serve_app.questions import explain, search
from serve_app.rest import build_rest
from serve_app.services import Services

Handler = Callable[[Services, Call, Exchange], Awaitable[None]]

BY_HAND: Final[dict[str, Handler]] = {"/v1/search": search, "/v1/explain": explain, "/v1/answer": answer}
"""Answered by POST, without FastAPI."""


def build_asgi(services: Services) -> ASGIApp:
    """The whole HTTP surface of one replica."""
    return Ingress(services, build_rest(services))


class Ingress:
    """See the module. ``rest`` answers what is not in ``BY_HAND``."""

    def __init__(self, services: Services, rest: ASGIApp) -> None:
        self._services = services
        self._rest = rest
        self._arrivals = Arrivals(services.clock, services.longest_s)

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        """Answer one request; every one that got this far gets a typed answer."""
        if scope["type"] == "lifespan":
            await self._rest(scope, receive, send)
        elif scope["type"] == "http":
            await self._timed(scope, Exchange(scope, receive, send, self._arrivals.of(scope["headers"])), receive)
        else:
            # There are no web sockets here; 1008 is "policy violation".
            await send({"type": "websocket.close", "code": 1008})

    async def _timed(self, scope: ASGIScope, exchange: Exchange, receive: Receive) -> None:
        try:
            await self._answer(scope, exchange, receive)
        except ClientGone:
            exchange.outcome = "client_gone"
        except asyncio.CancelledError:
            # Serve breaks a request off as soon as its caller has gone.
            exchange.outcome = "client_gone"
            self._ended(scope, exchange)
            raise
        except Exception as error:  # noqa: BLE001 -- the process edge: nothing may leave here untyped
            await self._refuse(exchange, error)
        self._ended(scope, exchange)

    def _ended(self, scope: ASGIScope, exchange: Exchange) -> None:
        """Count one request and log it."""
        seconds = self._services.clock() - exchange.arrived_s
        route = _route(scope)
        self._services.metrics.request(route, exchange.outcome, seconds)
        if (log := self._services.request_log) is not None:
            log.ended(exchange, route, seconds)

    async def _answer(self, scope: ASGIScope, exchange: Exchange, receive: Receive) -> None:
        path: str = scope["path"]
        if path not in OPEN_PATHS:
            principal = self._services.authenticator.authenticate(authorization_of(exchange.headers))
            exchange.trail.principal = principal
            call = Call(
                principal=principal,
                request_id=exchange.request_id,
                arrived_s=exchange.arrived_s,
                trail=exchange.trail,
            )
            if (handler := BY_HAND.get(path)) is not None:
                if scope["method"] != "POST":
                    raise Refused(method_not_allowed("POST"))
                demand(self._services.policy, principal, "POST", path)
                await handler(self._services, call, exchange)
                return
            scope[CALL] = call
        scope[EXCHANGE] = exchange
        await self._rest(scope, receive, exchange.send)

    async def _refuse(self, exchange: Exchange, error: Exception) -> None:
        audit.refused(exchange.request_id, error, self._services.pseudonyms.caller(exchange.trail.principal))
        problem = problem_of(error)
        if problem.code is Code.INTERNAL:
            audit.failed(exchange.request_id, error)
        if not exchange.status or exchange.streaming:
            await exchange.refuse(problem)


def _route(scope: ASGIScope) -> str:
    """The template of the route, from a closed set: never the path, which a caller chose."""
    if scope["path"] in BY_HAND:
        return str(scope["path"])
    route = scope.get("route")
    # Where FastAPI was not asked, because the credential was refused, the table tells.
    return route_of(scope["path"]) if route is None else str(route.path)
