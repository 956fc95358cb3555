"""The time budget starts when a request arrives, not when its body is complete or its turn has come."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from cluster.contract import Answer, SearchRequest
from cluster.dispatcher import RuleDispatcher
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from serve_app.exchange import Message
from serve_app.ingress import build_asgi
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key
from tests.endpoint import Endpoint, services_over
from tests.serve_app.catalogue import SEEN

BODY: Final = b'{"query": "send an email", "budget": {"timeout_ms": 700}}'


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class WatchedRouter(Router):
    """A router that remembers what it was asked."""

    asked: list[SearchRequest]

    async def search(self, request: SearchRequest) -> Answer:
        self.asked.append(request)
        return await super().search(request)


@pytest.mark.parametrize(("waited_s", "left_ms"), [(0.0, 700), (0.3, 400), (0.9, 0)])
def test_time_spent_on_the_body_is_taken_from_the_search(tmp_path: Path, waited_s: float, left_ms: int) -> None:
    clock = Clock()
    services = services_over(tmp_path, SEEN)
    router = WatchedRouter(services.router.shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
    router.asked = []
    services = replace(services, router=router, clock=clock)

    async def receive() -> Message:
        clock.now_s += waited_s
        return {"type": "http.request", "body": BODY}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    secret = read_secret(ensure_local_key(tmp_path))
    token = Endpoint(services=services, client=None, home=tmp_path, secret=secret).headers("reader")  # type: ignore[arg-type]
    headers = [(name.encode(), value.encode()) for name, value in token.items()]
    scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": headers}
    asyncio.run(build_asgi(services)(scope, receive, send))
    assert router.asked[0].deadline.at_s == pytest.approx(1000.7)
    assert router.asked[0].deadline.remaining_ms() == pytest.approx(left_ms, abs=1e-6)
    assert sent[0]["status"] == 200


def test_a_web_socket_is_closed(tmp_path: Path) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    app = build_asgi(services_over(tmp_path, SEEN))
    asyncio.run(app({"type": "websocket", "path": "/v1/search", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
