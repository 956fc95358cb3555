"""Target: one system of a running instance, and single requests to it. It makes no load."""

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import orjson

from loadtest.service.systems import System

_PATIENCE_S: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a system listens; ``k`` is how many hits are asked for."""

    host: str
    port: int
    system: System
    k: int

    @property
    def url(self) -> str:
        """Without a path."""
        return f"http://{self.host}:{self.port}"

    @property
    def path(self) -> str:
        """Of searches."""
        return f"{self.system.prefix}/v1/search"

    def body(self, query: str) -> bytes:
        """The JSON of one search."""
        return orjson.dumps({"query": query, "k": self.k})

    def request(self, query: str, token: str) -> bytes:
        """The bytes of one whole HTTP request."""
        body = self.body(query)
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def first_answer(url: str, token: str, body: bytes) -> bytes:
    """The answer to one search, which must be hits: a benchmark of misses would show nothing.

    Raises:
        ValueError: if it is anything else.
    """
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(f"{url}/v1/search", data=body, headers=headers)  # noqa: S310 -- loopback http
    try:
        with urlopen(request, timeout=_PATIENCE_S) as response:  # noqa: S310 -- as above
            answer: bytes = response.read()
    except HTTPError as exc:
        raise ValueError(f"the first search was refused: {exc.code} {exc.read()!r}") from exc
    found: dict[str, Any] = json.loads(answer)
    if found["kind"] != "hits":
        raise ValueError(f"the first search found nothing: {body!r}")
    return answer
