"""Five times more questions than a replica can answer, at its ASGI door, on a clock that moves only while all wait."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import orjson
import pytest

from cluster.config import Settings
from cluster.contract import Answer, SearchRequest
from cluster.dispatcher import RuleDispatcher
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from cluster.shard_map import ShardMap
from serve_app.admission import FILLED
from serve_app.exchange import ASGIApp, Message
from serve_app.haproxy import ROOM_HEADER
from serve_app.ingress import build_asgi
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key
from serve_app.services import Services
from tests.endpoint import Endpoint, services_over
from tests.quick_time import QuickLoop
from tests.serve_app.catalogue import SEEN

SERVICE_S: Final = 0.01
BUDGET_S: Final = 0.8


class SlowRouter(Router):
    """A router that answers one question after the other, each in ``SERVICE_S``."""

    def __init__(self, shard_map: ShardMap) -> None:
        super().__init__(shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
        self.turn = asyncio.Lock()

    async def search(self, request: SearchRequest) -> Answer:
        async with self.turn:
            await asyncio.sleep(SERVICE_S)
            return await super().search(request)


@dataclass(kw_only=True)
class Response:
    """What one caller saw, and when."""

    came_s: float
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    took_s: float = 0.0
    body_was_read: bool = False


@dataclass(kw_only=True)
class Door:
    """The app of some services, called as a server calls it."""

    loop: QuickLoop
    services: Services
    app: ASGIApp
    token: dict[str, str]

    async def ask(self, *, timeout_ms: int = 800, token: dict[str, str] | None = None) -> Response:
        """One search."""
        response = Response(came_s=self.loop.time())
        body = orjson.dumps({"query": "send an email", "budget": {"timeout_ms": timeout_ms}})

        async def receive() -> Message:
            response.body_was_read = True
            return {"type": "http.request", "body": body}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                response.status = message["status"]
                response.headers = dict(message["headers"])
            else:
                response.body = message["body"]
                response.took_s = self.loop.time() - response.came_s

        sent = self.token if token is None else token
        headers = [(name.encode(), value.encode()) for name, value in sent.items()]
        scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": headers}
        await self.app(scope, receive, send)
        return response

    async def flood(self, per_s: float, seconds: float) -> list[Response]:
        """So many callers a second, whether earlier ones were answered or not."""
        asked: list[asyncio.Task[Response]] = []
        for _ in range(round(per_s * seconds)):
            asked.append(self.loop.create_task(self.ask()))
            await asyncio.sleep(1 / per_s)
        return [await task for task in asked]


@contextmanager
def door(home: Path) -> Iterator[Door]:
    loop = QuickLoop()
    services = services_over(home, SEEN, settings=Settings(home=home))
    services = replace(services, router=SlowRouter(services.router.shard_map), clock=loop.time)
    secret = read_secret(ensure_local_key(home))
    token = Endpoint(services=services, client=None, home=home, secret=secret).headers("reader")  # type: ignore[arg-type]
    yield Door(loop=loop, services=services, app=build_asgi(services), token=token)
    loop.close()


def test_refusals_are_early_and_typed_and_the_accepted_are_answered_inside_their_budget(tmp_path: Path) -> None:
    with door(tmp_path) as one:
        responses = one.loop.run_until_complete(one.flood(per_s=5 / SERVICE_S, seconds=4))
        refused = [response for response in responses if response.status == 429]
        accepted = [response for response in responses if response.status == 200]
        assert len(refused) + len(accepted) == len(responses)
        assert len(accepted) >= 0.9 * 4 / SERVICE_S
        for response in accepted:
            assert response.took_s <= BUDGET_S
            assert orjson.loads(response.body)["kind"] == "hits"
        # From the first refusal on HAProxy is told with answers, too, how many may come.
        rooms = [int(told) for response in accepted if (told := response.headers.get(ROOM_HEADER.encode()))]
        assert rooms == pytest.approx([BUDGET_S * FILLED / SERVICE_S] * len(rooms), rel=0.1)
        assert len(rooms) >= len(accepted) / 2
        for response in refused:
            problem = orjson.loads(response.body)
            assert (problem["code"], problem["status"]) == ("overloaded", 429)
            assert response.headers[b"content-type"] == b"application/problem+json"
            assert int(response.headers[b"retry-after"]) >= 1
            assert response.took_s == 0
            assert not response.body_was_read
        counted = one.services.metrics.exposition().decode()
        assert f'shortlist_requests_total{{outcome="overloaded",route="/v1/search"}} {len(refused)}.0' in counted
        # Once the flood is over, the next caller is let in.
        assert one.loop.run_until_complete(one.ask()).status == 200


def test_a_caller_with_a_smaller_budget_of_its_own_is_refused_by_that(tmp_path: Path) -> None:
    async def ask(one: Door) -> tuple[Response, Response]:
        crowd = [one.loop.create_task(one.ask()) for _ in range(40)]
        await asyncio.sleep(20.5 * SERVICE_S)
        patient, hasty = await asyncio.gather(one.ask(), one.ask(timeout_ms=50))
        await asyncio.gather(*crowd)
        return patient, hasty

    with door(tmp_path) as one:
        patient, hasty = one.loop.run_until_complete(ask(one))
        assert (patient.status, hasty.status) == (200, 429)
        assert hasty.body_was_read


@pytest.mark.parametrize("clients", [1, 10, 50])
def test_callers_that_wait_for_their_answers_are_never_refused(tmp_path: Path, clients: int) -> None:
    async def client(one: Door) -> list[int]:
        return [(await one.ask()).status for _ in range(6)]

    async def all_clients(one: Door) -> list[list[int]]:
        return await asyncio.gather(*(client(one) for _ in range(clients)))

    with door(tmp_path) as one:
        statuses = one.loop.run_until_complete(all_clients(one))
        assert {status for own in statuses for status in own} == {200}


def test_who_is_not_known_is_told_so_whatever_the_load(tmp_path: Path) -> None:
    async def ask(one: Door) -> Response:
        crowd = one.loop.create_task(one.flood(per_s=5 / SERVICE_S, seconds=2))
        await asyncio.sleep(1)
        unknown = await one.ask(token={})
        await crowd
        return unknown

    with door(tmp_path) as one:
        assert one.loop.run_until_complete(ask(one)).status == 401
