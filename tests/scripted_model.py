"""A scripted endpoint that speaks the chat-completions protocol over real HTTP on loopback, faults included.

What it does next is a list of turns; it keeps every request that it got.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

Turn = Callable[["Request"], "Reply"]
"""What the endpoint does with one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def asked(self) -> dict[str, Any]:
        """The data of the first user message."""
        data: dict[str, Any] = json.loads(self.body["messages"][1]["content"])
        return data

    @property
    def labels(self) -> list[str]:
        """The ids of the evidence that was sent."""
        return [piece["id"] for piece in self.asked["evidence"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What to send, after ``wait_s``; with ``drip_s`` one byte at a time."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    drip_s: float = 0.0


def says(text: object, usage: dict[str, int] | None = None) -> Turn:
    """A completion with this text, or with this value as JSON."""
    content = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return lambda _: completion(content, usage)


def finds(answer: str, ids: Sequence[str] | None = None, *, complete: bool = True) -> Turn:
    """A completion of the contract; ``ids`` are those of all evidence that was sent, unless given."""

    def turn(request: Request) -> Reply:
        cited = list(request.labels if ids is None else ids)
        return completion(json.dumps(verdict(answer, cited, complete=complete), ensure_ascii=False))

    return turn


def finds_nothing() -> Turn:
    """A completion of the contract that says that the evidence does not answer."""
    return says({"answer": "", "answer_found": False, "complete_answer_found": False, "evidence_ids": []})


def fails(status: int, **headers: str) -> Turn:
    """An error of the endpoint."""
    return lambda _: Reply(status=status, body=b'{"error": {"message": "scripted"}}', headers=headers)


def hangs(seconds: float) -> Turn:
    """Nothing for so long."""
    return lambda _: Reply(body=b"", wait_s=seconds)


def drips(seconds: float) -> Turn:
    """A byte now and then, so that no time-out between two bytes ends it."""
    return lambda _: Reply(body=b" " * 2000, drip_s=seconds)


def raw(body: bytes, status: int = 200) -> Turn:
    """These bytes as they are."""
    return lambda _: Reply(status=status, body=body)


def verdict(answer: str, ids: Sequence[str], *, complete: bool = True) -> dict[str, object]:
    """A value of the contract where something was found."""
    return {"answer": answer, "answer_found": True, "complete_answer_found": complete, "evidence_ids": list(ids)}


def completion(content: str, usage: dict[str, int] | None = None) -> Reply:
    """A whole chat completion."""
    message = {"role": "assistant", "content": content}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage or {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    return Reply(body=json.dumps(body).encode())


class ScriptedModel:
    """See the module. ``turns`` are taken one per request; the last one stays."""

    def __init__(self, url: str) -> None:
        self.url: Final = url
        self.turns: list[Turn] = []
        self.requests: list[Request] = []
        self.broken_off = 0
        self._lock = threading.Lock()

    def script(self, *turns: Turn) -> None:
        """Start anew with these turns."""
        with self._lock:
            self.turns, self.requests, self.broken_off = list(turns), [], 0

    def take(self, request: Request) -> Reply:
        """The reply to a request, by its turn."""
        with self._lock:
            self.requests.append(request)
            turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        return turn(request)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """A running endpoint."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = model.take(Request(path=self.path, headers=headers, body=json.loads(body)))
            try:
                self._send(reply)
            except (BrokenPipeError, ConnectionResetError):
                model.broken_off += 1

        def _send(self, reply: Reply) -> None:
            end_s = time.monotonic() + reply.wait_s
            while time.monotonic() < end_s:
                time.sleep(0.02)
            self.send_response(reply.status)
            self.send_header("content-type", "application/json")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if not reply.drip_s:
                self.wfile.write(reply.body)
            for byte in reply.body if reply.drip_s else b"":
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(reply.drip_s)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = ScriptedModel(f"http://127.0.0.1:{server.server_address[1]}/v1")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
