"""Callers who leave without waiting for their answer cost what a search costs, and nothing once its time is over."""

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from loadtest.service.processes import memory_of
from serve_app.listening import descendants_of
from serve_app.request_log import FILE_NAME
from tests.live.instance import BUDGET_MS, Instance, wait_for
from tests.pauses import Pauses

pytestmark = pytest.mark.live

CALLERS: Final = 500
SLACK_S: Final = 0.5
"""The promise is 50 ms; here HAProxy, replica, shards and five hundred callers share two busy cores."""

LEAVING_S: Final = 0.1
WATCHED_S: Final = 2.0
CPU_AFTER_S: Final = 0.2
"""Of the replica and both shards in ``WATCHED_S``, beyond what they take when nobody asks: 0.4 ms a caller."""

GROWTH_MB: Final = 16.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
RESET: Final = struct.pack("ii", 1, 0)


def working(live: Instance) -> list[int]:
    """The replica and the shards."""
    names = {pid: Path(f"/proc/{pid}/comm").read_text() for pid in descendants_of(live.process.pid)}
    found = [pid for pid, name in names.items() if name.startswith(("ray::ServeRepl", "ray::ShardActor"))]
    assert len(found) >= 3, names
    return found


def cpu_s(pids: list[int]) -> float:
    """User and system time of them all so far."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(user) + int(system) for *_, user, system in (stat[:13] for stat in stats)) / TICKS


def spent_s(pids: list[int]) -> float:
    """CPU time that they take in the next ``WATCHED_S``."""
    before_s = cpu_s(pids)
    time.sleep(WATCHED_S)
    return cpu_s(pids) - before_s


def leave(live: Instance, name: str) -> None:
    """Five hundred connections that ask; half are reset at once, half are closed a little later."""
    address = ("127.0.0.1", live.client.base_url.port or 0)
    token = live.headers("reader")["authorization"]
    body = json.dumps({"query": "list a bucket", "k": 5, "budget": {"timeout_ms": BUDGET_MS}})
    callers = [socket.create_connection(address, timeout=5) for _ in range(CALLERS)]
    for number, caller in enumerate(callers):
        head = f"POST /v1/search HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nX-Request-Id: {name}-{number}\r\n"
        caller.sendall(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        if number % 2:
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            caller.close()
    # HAProxy takes whole requests of callers who are there only: these reach the replica.
    time.sleep(LEAVING_S)
    for caller in callers:
        caller.close()


def lines_of(live: Instance, name: str) -> list[dict[str, Any]]:
    """What the request log has of the callers of one round."""
    lines = map(json.loads, (live.home / FILE_NAME).read_text().splitlines())
    return [line for line in lines if line["request_id"].startswith(f"{name}-")]


@contextmanager
def stopped(pid: int | None) -> Iterator[None]:
    """Inside, one process does not move."""
    if pid is not None:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        if pid is not None:
            # A shard that hangs for long is replaced.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("hanging", [0, 1])
def test_nothing_works_for_callers_who_left_once_their_time_is_over(live: Instance, hanging: int) -> None:
    whole = live.search("list a bucket", k=5).json()
    leave(live, "first")
    time.sleep(BUDGET_MS / 1000)
    pids = working(live)
    idle_s = spent_s(pids)
    replica, *_ = (pid for pid in pids if pid not in live.shard_pids())
    before_mb = memory_of(replica).rss_mb

    with Pauses() as pauses, stopped(live.shard_pids()[0] if hanging else None):
        leave(live, f"left{hanging}")
        over_s = time.time() + BUDGET_MS / 1000 + SLACK_S
        time.sleep(BUDGET_MS / 1000 + SLACK_S)
        after_s = spent_s([replica] if hanging else pids)
    wait_for(live.full, 60, live.status)

    assert after_s <= idle_s + CPU_AFTER_S
    lines = lines_of(live, f"left{hanging}")
    assert {line["outcome"] for line in lines} <= {"hits", "client_gone", "overloaded"}
    # Some are broken off at any rate while a shard hangs; else most of them may be answered before they leave.
    assert not hanging or any(line["outcome"] == "client_gone" for line in lines)
    assert max(line["time"] for line in lines) <= over_s + pauses.longest_s
    assert memory_of(replica).rss_mb <= before_mb + GROWTH_MB
    answer = live.search("list a bucket", k=5).json()
    assert (answer["hits"], answer["coverage"]["full"]) == (whole["hits"], True)
