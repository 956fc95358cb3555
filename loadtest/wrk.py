"""wrk as the generator: lean enough to share a machine with the server. It decides neither targets nor rounds."""

import json
import os
import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import orjson

_SCRIPT: Final = Path(__file__).parent / "search.lua"
_SEED: Final = 20261130


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the generator needs to know of the target."""

    url: str
    token: str
    queries: tuple[str, ...]
    k: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of wrk against one system: completed requests a second, latencies in ms, and failures of any kind."""

    rps: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    errors: int


def first_answer(load: Load) -> bytes:
    """The answer to the first query, which must be hits: a benchmark of misses would show nothing."""
    request = Request(  # noqa: S310 -- loopback http
        f"{load.url}/v1/search",
        data=_body(load.queries[0], load.k),
        headers={"Authorization": f"Bearer {load.token}", "Content-Type": "application/json"},
    )
    with urlopen(request, timeout=10) as response:  # noqa: S310 -- as above
        body: bytes = response.read()
    if json.loads(body)["kind"] != "hits":
        raise ValueError(f"the first query found nothing: {load.queries[0]!r}")
    return body


def closed_loop(load: Load, prefix: str, *, clients: int, seed: int) -> Sample:
    """One sample: ``clients`` connections, each with one request in flight, queries in the order of ``seed``."""
    order = random.Random(_SEED + seed).sample(load.queries, len(load.queries))  # noqa: S311 -- a reproducible order
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as bodies:
        bodies.write(b"\n".join(_body(query, load.k) for query in order))
        bodies.flush()
        finished = subprocess.run(  # noqa: S603 -- a fixed program
            ["wrk", "-t1", f"-c{clients}", f"-d{load.seconds}s", "--timeout", "5s", "-s", str(_SCRIPT), load.url],  # noqa: S607 -- from PATH, as installed
            check=True,
            capture_output=True,
            env={
                **os.environ,
                "SEARCH_BODIES": bodies.name,
                "SEARCH_TOKEN": load.token,
                "SEARCH_PATH": f"{prefix}/v1/search",
            },
        )
    result = json.loads(finished.stdout.splitlines()[-1])
    return Sample(
        rps=result["requests"] / result["seconds"],
        **{name: result[name] for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms", "errors")},
    )


def _body(query: str, k: int) -> bytes:
    return orjson.dumps({"query": query, "k": k})
