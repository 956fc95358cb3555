"""Five times more requests than an instance can answer, from a generator that waits for nobody, at shipped limits."""

import resource
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from typing import Final

import httpx
import numpy as np
import orjson
import pytest

from loadtest.service.open_loop import OpenLoop
from loadtest.service.schedule import ACCEPTED, Outcome, Reply, arrivals
from serve_app.request_log import FILE_NAME as REQUESTS
from tests.live.instance import BUDGET_MS, Instance, catalogue, fill, running, wait_for
from tests.pauses import Pauses

pytestmark = pytest.mark.live

SECONDS: Final = 4.0
PROBE_RATE: Final = 300.0
MOST_RATE: Final = 1_500.0
"""What the generator can send on a machine that it shares with the instance."""

CALLERS: Final = 50
FILES: Final = 4_096

SLACK_MS: Final = 250
"""The promise is 50 ms; here generator, endpoint and shards share two busy cores."""

REFUSED: Final = frozenset({Outcome.REFUSED_429, Outcome.REFUSED_503})
TYPED: Final = ACCEPTED | REFUSED | {Outcome.TIMED_OUT}


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    home = tmp_path_factory.mktemp("overload")
    fill(home, catalogue())
    with running(home, "--shards", "1", "--no-embedded") as instance:
        yield instance


def flood(instance: Instance, rate: float, seed: int) -> list[Reply]:
    """Heavy searches at ``rate`` a second, so that a generator beside the instance can send several times too many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(FILES, hard)), hard))
    due_s = arrivals(rate, SECONDS, seed)
    tokens = [instance.headers("reader", tenant=f"tenant-{n}", mode="autonomous") for n in range(CALLERS)]
    url = instance.client.base_url
    requests = [_request(url, number, token) for number, token in zip(range(len(due_s)), cycle(tokens), strict=False)]
    return OpenLoop((url.host, url.port or 0), requests, due_s).run()


def _request(url: httpx.URL, number: int, token: dict[str, str]) -> bytes:
    body = orjson.dumps({"query": f"list a bucket or create a table {number}", "k": 48, "explain": True})
    headers = {"host": url.host, **token, "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /v1/search HTTP/1.1\r\n{head}\r\n".encode() + body


def test_beyond_capacity_refusals_are_typed_and_early_and_the_accepted_are_answered_inside_their_budget(
    shipped: Instance,
) -> None:
    with Pauses() as pauses:
        probe = flood(shipped, PROBE_RATE, seed=1)
        able = sum(reply.outcome in ACCEPTED for reply in probe) / SECONDS
        replies = flood(shipped, min(MOST_RATE, 5 * able), seed=2)
    outcomes = Counter(reply.outcome for reply in replies)
    # Whom the generator gives up on has waited for it, not for the instance: see its own times below.
    assert set(outcomes) <= TYPED | {Outcome.NO_ANSWER}, outcomes
    refused = [reply for reply in replies if reply.outcome in REFUSED]
    assert refused
    assert all(reply.retry_after for reply in refused)

    after = flood(shipped, able / 4, seed=3)
    assert {reply.outcome for reply in after} <= ACCEPTED, Counter(reply.outcome for reply in after)

    # By the instance's own clock, which starts when a request reaches HAProxy.
    log = shipped.home / REQUESTS
    answered = sum(reply.outcome in ACCEPTED for reply in (*probe, *replies, *after))
    wait_for(lambda: log.read_bytes().count(b"\n") >= answered, 10, log.read_text)
    lines = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    assert {line["status"] for line in lines if line["route"] == "/v1/search"} <= {0, 200, 429}
    accepted_ms = np.array([line["ms"] for line in lines if line["outcome"] in {"hits", "miss"}])
    assert np.quantile(accepted_ms, 0.99) <= BUDGET_MS + SLACK_MS + pauses.longest_ms
