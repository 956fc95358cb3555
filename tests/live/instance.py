"""A real instance: ``shortlist serve`` in a process of its own, with its registry, tokens and a clean end."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import httpx

from cluster.config import Settings
from cluster.registry import Registry
from cluster.scope import Principal
from serve_app.keys import read_secret
from serve_app.launch import free_ports
from serve_app.local_key import ensure_local_key, mint_token
from serve_app.record_wire import parse_record
from tests.endpoint import tool

START_TIMEOUT_S = 240
STOP_TIMEOUT_S = 60

BUDGET_MS: Final = 800
"""What ``Instance.search`` gives a search; the shipped ceiling."""

CEILING_MS: Final = 60_000
"""The live instance's own ceiling: who asks for no less compares answers in which time has no part."""

VERBS = ("create", "delete", "list", "update", "describe", "copy")
THINGS = ("bucket", "queue", "table", "instance", "role", "snapshot", "key pair", "invoice", "calendar event", "email")
PLACES = ("in a region", "of an account", "for a team", "with tags")


def catalogue() -> list[dict[str, object]]:
    """240 tools: a fifth shared, a fifth of another tenant, some that only an autonomous caller may see."""
    rows = []
    for number, (verb, thing, place) in enumerate((v, t, p) for v in VERBS for t in THINGS for p in PLACES):
        tenant = ("acme", "acme", "acme", "*", "globex")[number % 5]
        effect = {"create": "write", "delete": "destructive"}.get(verb, "read") if number % 3 == 0 else "read"
        name = f"{verb}_{thing.replace(' ', '_')}_{number}"
        text, access = f"{verb} a {thing} {place}", {"side_effect": effect}
        rows.append(tool(f"cloud{number % 7}:{name}", text, tenant=tenant, access=access))
    return rows


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A running ``shortlist serve``; ``ready`` is what it printed."""

    process: subprocess.Popen[str]
    client: httpx.Client
    home: Path
    ready: dict[str, Any]

    def headers(self, *roles: str, tenant: str = "acme", mode: str = "analyzer") -> dict[str, str]:
        principal = Principal(subject="live", tenant=tenant, roles=frozenset(roles), mode=mode)
        secret = read_secret(ensure_local_key(self.home))
        return {"authorization": f"Bearer {mint_token(secret, principal, Settings().auth.jwt, 600).token}"}

    def search(self, query: str, *, role: str = "reader", mode: str = "analyzer", **body: object) -> httpx.Response:
        asked = {"query": query, "budget": {"timeout_ms": BUDGET_MS}, **body}
        return self.client.post("/v1/search", json=asked, headers=self.headers(role, mode=mode))

    def put(self, *rows: dict[str, object]) -> dict[str, Any]:
        lines = "\n".join(json.dumps(row) for row in rows)
        answer = self.client.put("/v1/records", content=lines, headers=self.headers("writer"))
        assert answer.status_code == 200, answer.text
        report: dict[str, Any] = answer.json()
        return report

    def status(self) -> dict[str, Any]:
        answer = self.client.get("/v1/status", headers=self.headers("admin"))
        assert answer.status_code == 200, answer.text
        status: dict[str, Any] = answer.json()
        return status

    def shard_pids(self) -> list[int]:
        return [copy["detail"]["pid"] for copy in self.status()["copies"]]

    def full(self) -> bool:
        answer = self.search("create a bucket").json()
        return bool(answer["coverage"]["full"]) and self.status()["health"] == "ready"


def wait_for(condition: Callable[[], bool], timeout_s: float, state: Callable[[], object]) -> None:
    ends_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends_s, f"not within {timeout_s} s: {state()}"
        time.sleep(0.1)


@contextmanager
def running(home: Path, *options: str) -> Iterator[Instance]:
    """Start an instance over ``home`` and stop it as a user does; its end must be clean and its port free again."""
    port = free_ports().statistics
    program = "from serve_app.cli.main import cli; cli()"
    command = (sys.executable, "-c", program, "serve", "--home", str(home), "--port", str(port), "--json", *options)
    errors = home / "serve.err"
    with errors.open("w") as stderr:
        process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=home, start_new_session=True
        )
    try:
        ready = _first_line(process, errors)
        with httpx.Client(base_url=ready["url"], timeout=10, trust_env=False) as client:
            yield Instance(process=process, client=client, home=home, ready=ready)
    finally:
        # To the whole group, as a terminal does it.
        os.killpg(process.pid, signal.SIGINT)
        try:
            code = process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert code == 0, errors.read_text()
    assert errors.read_text() == ""
    with socket.create_server(("127.0.0.1", port)):
        pass


def _first_line(process: subprocess.Popen[str], errors: Path) -> dict[str, Any]:
    assert process.stdout is not None
    # Ends a process that never becomes ready, so that reading its output ends too.
    alarm = threading.Timer(START_TIMEOUT_S, process.terminate)
    alarm.daemon = True
    alarm.start()
    line = process.stdout.readline()
    alarm.cancel()
    assert line, f"it ended with {process.wait()}: {errors.read_text()}"
    ready: dict[str, Any] = json.loads(line)
    return ready


def configure(home: Path) -> Path:
    """A settings file in ``home``: no time limit that a busy machine could reach, and a ranker file of its own."""
    shipped = (files("configs") / "ranker.yaml").read_text("utf-8")
    (home / "ranker.yaml").write_text(shipped.replace("name: additive", "name: live"), "utf-8")
    config = home / "settings.yaml"
    config.write_text(
        f"home: .\nranker: ranker.yaml\nbudgets: {{tool: {{timeout_ms: {CEILING_MS}}}}}\n", encoding="utf-8"
    )
    return config


def fill(home: Path, rows: list[dict[str, object]]) -> None:
    registry = Registry(Settings(home=home).registry_url)
    registry.upsert_many([parse_record(row) for row in rows])
    registry.close()
