"""The dressed no-op: what one search costs when nothing is searched.

The same ingress, authentication, body parsing and answer size as the real endpoint, and a canned answer in between.
"""

import time
from typing import Any, Final

from cluster.config import Settings
from cluster.scope import Policy
from serve_app.app import deployment_of
from serve_app.auth import Authenticator, authorization_of
from serve_app.exchange import ASGIApp, ASGIScope, Exchange, Receive, Send
from serve_app.json_body import parse_body
from serve_app.wire import SearchBody

APP: Final = "noop"
PREFIX: Final = "/noop"


class DressedNoop:
    """Authenticates, parses, and replies with ``canned``."""

    def __init__(self, settings: Settings, canned: bytes) -> None:
        self._authenticator = Authenticator.from_settings(settings, Policy.load(settings.policy))
        self._max_body_bytes = settings.http.max_body_bytes
        self._canned = canned

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        """Answer one request, or Serve's question whether the app is up."""
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": f"{message['type']}.complete"})
            return
        exchange = Exchange(scope, receive, send, time.monotonic())
        self._authenticator.authenticate(authorization_of(exchange.headers))
        parse_body(SearchBody, await exchange.body(self._max_body_bytes, 1.0))
        await exchange.reply(200, self._canned)


class NoopEdge:
    """The deployment of ``DressedNoop``."""

    def __init__(self, settings: Settings, canned: bytes) -> None:
        self._app = DressedNoop(settings, canned)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The app that Serve hands every request to."""
        return self._app


def build_noop(settings: Settings, canned: bytes) -> Any:  # noqa: ANN401 -- Serve's application type is untyped
    """The Serve application, with the limits of the real one."""
    return deployment_of(NoopEdge, APP, settings).bind(settings, canned)
