"""Closed loop by wrk: lean enough to share a machine with the server. It decides neither targets nor rounds."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from loadtest.service.target import Target

_SCRIPT: Final = Path(__file__).parent / "search.lua"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run of wrk against one system: completed requests, latencies in ms (exact), and failures of any kind.

    Attributes:
        requests: completed.
        rps: of them in a second, without those that failed: a refusal is quick, and its caller asks again at once.
        errors: no 2xx, or no answer within ``patience``.
    """

    requests: int
    rps: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    errors: int

    def figures(self) -> dict[str, float]:
        """As plain JSON."""
        return asdict(self)


def closed_loop(
    target: Target, *, clients: int, seconds: int, tokens: Sequence[str], queries: Iterable[str], patience_s: int = 5
) -> Sample:
    """One sample: ``clients`` connections, each with one request in flight.

    Queries and tokens are used in their order, one of each a request, and again from the first when they are used up.
    """
    with tempfile.TemporaryDirectory(prefix="wrk-") as folder:
        bodies, bearers = Path(folder) / "bodies", Path(folder) / "tokens"
        bodies.write_bytes(b"\n".join(map(target.body, queries)))
        bearers.write_text("\n".join(tokens))
        finished = subprocess.run(  # noqa: S603 -- a fixed program
            (  # noqa: S607 -- from PATH, as installed
                "wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", f"{patience_s}s", "-s", str(_SCRIPT),
                target.url,
            ),
            check=True,
            capture_output=True,
            env={
                **os.environ,
                "SEARCH_BODIES": str(bodies),
                "SEARCH_TOKENS": str(bearers),
                "SEARCH_PATH": target.path,
            },
        )  # fmt: skip
    result = json.loads(finished.stdout.splitlines()[-1])
    return Sample(
        requests=result["requests"],
        rps=round(max(0, result["requests"] - result["errors"]) / result["seconds"], 2),
        **{name: result[name] for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms", "errors")},
    )
