"""No-ops behind the real door: what a search costs when nothing is searched. They know no record."""

import time
from typing import Any

from cluster.config import Settings
from cluster.scope import Policy
from loadtest.service.systems import BARE, DRESSED
from serve_app.app import deployment_of
from serve_app.auth import Authenticator, authorization_of
from serve_app.exchange import ASGIApp, ASGIScope, Exchange, Receive, Send
from serve_app.json_body import parse_body
from serve_app.wire import SearchBody


async def live(receive: Receive, send: Send) -> None:
    """Answer Serve's questions whether the app is up."""
    while (message := await receive())["type"] == "lifespan.startup":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": f"{message['type']}.complete"})


async def reply_nothing(send: Send) -> None:
    """An empty 200; Serve adds headers to the very list that it gets."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


class DressedNoop:
    """Authenticates, parses, and replies with ``canned``."""

    def __init__(self, settings: Settings, canned: bytes) -> None:
        self._authenticator = Authenticator.from_settings(settings, Policy.load(settings.policy))
        self._max_body_bytes = settings.http.max_body_bytes
        self._canned = canned

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await live(receive, send)
            return
        exchange = Exchange(scope, receive, send, time.monotonic())
        self._authenticator.authenticate(authorization_of(exchange.headers))
        parse_body(SearchBody, await exchange.body(self._max_body_bytes, 1.0))
        await exchange.reply(200, self._canned)


async def bare(scope: ASGIScope, receive: Receive, send: Send) -> None:
    """Read the request, reply with an empty 200."""
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    await receive()
    await reply_nothing(send)


class DressedEdge:
    """The deployment of ``DressedNoop``."""

    def __init__(self, settings: Settings, canned: bytes) -> None:
        self._app = DressedNoop(settings, canned)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """The app that Serve hands every request to."""
        return self._app


class BareEdge:
    """The deployment of ``bare``."""

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """As above."""
        return bare


def build_dressed(settings: Settings, canned: bytes) -> Any:  # noqa: ANN401 -- Serve's application type is untyped
    """The Serve application, with the limits of the real one."""
    return deployment_of(DressedEdge, DRESSED.name, settings).bind(settings, canned)


def build_bare(settings: Settings) -> Any:  # noqa: ANN401 -- as above
    """The Serve application, with the limits of the real one."""
    return deployment_of(BareEdge, BARE.name, settings).bind()
