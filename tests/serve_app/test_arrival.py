"""The time budget starts when a request arrives, not when its body is complete or its turn has come."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson
import pytest

from cluster.contract import Answer, SearchRequest
from cluster.dispatcher import RuleDispatcher
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from serve_app.arrival import ENOUGH, WINDOW_S, Arrivals
from serve_app.exchange import ASGIScope, Message
from serve_app.haproxy import ARRIVAL_HEADER
from serve_app.ingress import build_asgi
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key
from serve_app.services import Services
from tests.endpoint import PATIENCE_MS, Endpoint, services_over
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
        return {"type": "http.request", "body": b'{"query": "send an email"}'}

    async def send(message: Message) -> None:
        pass

    stamped_s = time.time()
    asyncio.run(build_asgi(services)(search_of_a_reader(services, stamp(10)), receive, send))
    since_ms = (time.time() - stamped_s) * 1000
    assert PATIENCE_MS - 10_001 - since_ms <= router.asked[0].deadline.remaining_ms() <= PATIENCE_MS - 10_000


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

    asyncio.run(build_asgi(services)(search_of_a_reader(services, stamp(PATIENCE_MS / 1000 + 1)), receive, send))
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
    arrivals = Arrivals(lambda: 50.0, longest_s=0.8, wall_clock=lambda: 1_700_000_000.0)
    assert arrivals.of(headers) == pytest.approx(arrived_s)


def test_a_request_without_a_stamp_arrives_now() -> None:
    assert Arrivals(lambda: 50.0, longest_s=0.8).of([(b"host", b"here")]) == 50.0


class Clocks:
    """This replica's monotonic clock, its wall clock, which is ``ahead_s`` of HAProxy's, and requests between them."""

    def __init__(self, ahead_s: float) -> None:
        self.ahead_s = ahead_s
        self.now_s = 50.0
        self.arrivals = Arrivals(lambda: self.now_s, 0.8, lambda: 1_700_000_000.0 + self.now_s + self.ahead_s)

    def waits_s(self, waits_s: Iterable[float], every_s: float = 0.1) -> list[float]:
        """What each request is taken to have waited, one every so often."""
        found = []
        for waited_s in waits_s:
            self.now_s += every_s
            stamped = str(int((1_700_000_000.0 + self.now_s - waited_s) * 1e6)).encode()
            found.append(self.now_s - self.arrivals.of([(ARRIVAL_HEADER.encode(), stamped)]))
        return found


def events(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.message.startswith("clocks_")]


@pytest.mark.parametrize("ahead_s", [0.85, 1.0, 3600.0, -0.5, -1.0, -3600.0])
def test_a_clock_that_is_wrong_is_found_out_within_seconds_and_told_once(
    ahead_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    clocks = Clocks(ahead_s)
    waits_s = [0.001, 0.05, 0.3] * 40
    clocks.waits_s(waits_s)
    assert clocks.waits_s(waits_s) == pytest.approx([0.0, 0.049, 0.299] * 40, abs=0.002)
    assert events(caplog) == ["clocks_differ"]
    (told,) = [record for record in caplog.records if record.message == "clocks_differ"]
    assert told.__dict__["ahead_s"] == pytest.approx(ahead_s, abs=0.002)


def test_a_clock_that_is_set_right_is_believed_at_once(caplog: pytest.LogCaptureFixture) -> None:
    clocks = Clocks(2.0)
    clocks.waits_s([0.001] * 200)
    clocks.ahead_s = 0.0
    assert clocks.waits_s([0.25, 0.25]) == pytest.approx([0.25, 0.25], abs=0.002)
    assert events(caplog) == ["clocks_differ", "clocks_agree"]


def test_long_waits_are_believed_while_some_are_short(caplog: pytest.LogCaptureFixture) -> None:
    clocks = Clocks(0.0)
    waits_s = [0.7] * 49 + [0.3]
    assert clocks.waits_s(waits_s * 6) == pytest.approx(waits_s * 6, abs=0.002)
    assert events(caplog) == []


@pytest.mark.parametrize("ahead_s", [-3600.0, 3600.0])
def test_a_clock_that_jumps_while_a_request_is_under_way_harms_that_request_alone(
    ahead_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    clocks = Clocks(0.0)
    clocks.waits_s([0.1] * 100)
    clocks.ahead_s = ahead_s
    clocks.waits_s([0.1])
    clocks.ahead_s = 0.0
    assert clocks.waits_s([0.1] * 200) == pytest.approx([0.1] * 200, abs=0.002)
    assert events(caplog) == []


def test_a_few_requests_in_a_long_time_find_it_out_too() -> None:
    clocks = Clocks(5.0)
    assert clocks.waits_s([0.0] * ENOUGH, every_s=100) == pytest.approx([0.8] * ENOUGH)
    assert clocks.waits_s([0.0] * ENOUGH, every_s=100) == pytest.approx([0.0] * ENOUGH, abs=0.002)


def test_a_queue_that_stays_long_is_no_difference_of_clocks(caplog: pytest.LogCaptureFixture) -> None:
    clocks = Clocks(0.0)
    waits_s = [0.5, 0.6, 0.79] * 100
    assert clocks.waits_s(waits_s) == pytest.approx(waits_s, abs=0.002)
    assert events(caplog) == []


def test_a_stall_at_the_start_is_no_difference_of_clocks() -> None:
    clocks = Clocks(0.0)
    assert clocks.waits_s([0.7] * 300, every_s=WINDOW_S / 301) == pytest.approx([0.7] * 300, abs=0.002)


def test_a_web_socket_is_closed(tmp_path: Path) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    app = build_asgi(services_over(tmp_path, SEEN))
    asyncio.run(app({"type": "websocket", "path": "/v1/search", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
