"""The generator against a real server in a thread: it sends when it is due, and a slow answer delays no other one."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from loadtest.service import open_loop
from loadtest.service.open_loop import OpenLoop
from loadtest.service.schedule import Outcome

HELD = 999_999
"""The pause of an answer that waits until ``QUICK`` others were sent."""
QUICK = 20


class Answering(socketserver.StreamRequestHandler):
    """Answers each line ``GET /pause`` after that many milliseconds; 0 closes the connection instead."""

    server: "Server"

    def handle(self) -> None:
        while line := self.rfile.readline():
            self.rfile.readline()
            pause_ms = int(line.split()[1][1:])
            if not pause_ms:
                return
            if pause_ms == HELD:
                self.server.all_sent.wait(30)
            else:
                time.sleep(pause_ms / 1_000)
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            self.server.sent()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.all_sent = threading.Event()
        self._sent = 0
        self._lock = threading.Lock()

    def sent(self) -> None:
        """Count an answer."""
        with self._lock:
            self._sent += 1
            if self._sent == QUICK:
                self.all_sent.set()


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[0], server.server_address[1]  # type: ignore[misc]
        server.shutdown()


def request(pause_ms: int) -> bytes:
    return b"GET /%d HTTP/1.1\r\n\r\n" % pause_ms


def test_every_request_gets_its_reply() -> None:
    due_s = np.linspace(0.0, 0.3, 60)
    with serving() as address:
        replies = OpenLoop(address, [request(1)] * 60, due_s).run()
    assert [reply.outcome for reply in replies] == [Outcome.HITS] * 60
    assert all(reply.latency_ms >= 1 for reply in replies)


def test_a_slow_answer_delays_no_other_request() -> None:
    with serving() as address:
        replies = OpenLoop(address, [request(HELD), *[request(1)] * QUICK], np.linspace(0.0, 0.1, QUICK + 1)).run()
    assert [reply.outcome for reply in replies] == [Outcome.HITS] * (QUICK + 1)


def test_latency_counts_from_the_time_a_request_was_due(monkeypatch: pytest.MonkeyPatch) -> None:
    # With one connection the second request has to wait for the first one's answer.
    monkeypatch.setattr(open_loop, "MOST_CONNECTIONS", 1)
    with serving() as address:
        replies = OpenLoop(address, [request(200), request(1)], np.array([0.0, 0.01])).run()
    assert replies[1].late_ms >= 150
    assert replies[1].latency_ms >= replies[1].late_ms


def test_a_broken_connection_is_an_error_of_that_request_only() -> None:
    with serving() as address:
        replies = OpenLoop(address, [request(0), request(1)], np.array([0.0, 0.05])).run()
    assert {reply.outcome for reply in replies} == {Outcome.ERROR, Outcome.HITS}


def test_nobody_listening_is_an_error_and_no_hang() -> None:
    with serving() as address:
        pass
    replies = OpenLoop(address, [request(1)], np.array([0.0])).run()
    assert [reply.outcome for reply in replies] == [Outcome.ERROR]
