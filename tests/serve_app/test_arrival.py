"""The time budget starts when a request arrives, not when its body is complete or its turn has come."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
import pytest

from cluster.contract import Answer, SearchRequest
from cluster.dispatcher import RuleDispatcher
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from serve_app.arrival import arrival_of
from serve_app.exchange import ASGIScope, Message
from serve_app.haproxy import ARRIVAL_HEADER
from serve_app.ingress import build_asgi
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key
from serve_app.services import Services
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


def search_of_a_reader(services: Services, *more: tuple[bytes, bytes]) -> ASGIScope:
    """The ASGI scope of a search by a caller of a local key, with more headers."""
    home = services.settings.home
    secret = read_secret(ensure_local_key(home))
    token = Endpoint(services=services, client=None, home=home, secret=secret).headers("reader")  # type: ignore[arg-type]
    headers = [*((name.encode(), value.encode()) for name, value in token.items()), *more]
    return {"type": "http", "method": "POST", "path": "/v1/search", "headers": headers}


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

    asyncio.run(build_asgi(services)(search_of_a_reader(services), receive, send))
    assert router.asked[0].deadline.at_s == pytest.approx(1000.7)
    assert router.asked[0].deadline.remaining_ms() == pytest.approx(left_ms, abs=1e-6)
    assert sent[0]["status"] == 200


def stamp(ago_s: float) -> tuple[bytes, bytes]:
    """What HAProxy says of a request that came so long ago."""
    return ARRIVAL_HEADER.encode(), str(int((time.time() - ago_s) * 1e6)).encode()


def test_time_spent_in_the_proxys_queue_is_taken_from_the_search(tmp_path: Path) -> None:
    clock = Clock()
    services = services_over(tmp_path, SEEN)
    router = WatchedRouter(services.router.shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
    router.asked = []
    services = replace(services, router=router, clock=clock)

    async def receive() -> Message:
        return {"type": "http.request", "body": BODY}

    async def send(message: Message) -> None:
        pass

    asyncio.run(build_asgi(services)(search_of_a_reader(services, stamp(0.3)), receive, send))
    assert router.asked[0].deadline.remaining_ms() == pytest.approx(400, abs=50)


def test_a_request_whose_time_went_by_in_the_proxys_queue_is_refused_before_anything_is_done_for_it(
    tmp_path: Path,
) -> None:
    services = services_over(tmp_path, SEEN)
    router = WatchedRouter(services.router.shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
    router.asked = []
    services = replace(services, router=router)

    async def receive() -> Message:
        raise AssertionError("nobody may wait for its body")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(build_asgi(services)(search_of_a_reader(services, stamp(1.0)), receive, send))
    assert router.asked == []
    assert sent[0]["status"] == 429
    assert dict(sent[0]["headers"])[b"retry-after"] == b"1"
    assert orjson.loads(sent[1]["body"])["code"] == "overloaded"


@pytest.mark.parametrize(
    ("value", "arrived_s"),
    [
        (b"1700000000000000", 50.0),
        (b"1699999999750000", 49.75),
        (b"1600000000000000", 49.2),  # a wall clock that is wrong takes no more than the longest budget …
        (b"1800000000000000", 50.0),  # … and gives nothing
        (b"0", 49.2),
        (b"", 50.0),
        (b"-1", 50.0),
        (b"soon", 50.0),
        ("١٢٣".encode(), 50.0),
        (b"9" * 5_000, 50.0),
    ],
)
def test_a_stamp_is_believed_within_the_longest_budget(value: bytes, arrived_s: float) -> None:
    headers = [(b"host", b"here"), (ARRIVAL_HEADER.encode(), value)]
    arrived = arrival_of(headers, lambda: 50.0, longest_s=0.8, wall_clock=lambda: 1_700_000_000.0)
    assert arrived == pytest.approx(arrived_s)


def test_a_request_without_a_stamp_arrives_now() -> None:
    assert arrival_of([(b"host", b"here")], lambda: 50.0, longest_s=0.8) == 50.0


def test_a_web_socket_is_closed(tmp_path: Path) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    app = build_asgi(services_over(tmp_path, SEEN))
    asyncio.run(app({"type": "websocket", "path": "/v1/search", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
