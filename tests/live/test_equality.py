"""The Ray path answers what the in-process path answers, byte for byte."""

import asyncio

import httpx
import orjson
import pytest

from cluster.config import load_settings
from cluster.local import LocalCluster
from cluster.ranker import AdditiveRanker
from cluster.registry import Registry
from serve_app.ingress import build_asgi
from serve_app.services import Services
from tests.endpoint import services_of
from tests.live.instance import CEILING_MS, THINGS, VERBS, Instance, configure, wait_for

pytestmark = pytest.mark.live

SEARCHES: tuple[dict[str, object], ...] = (
    {"query": "create a bucket", "explain": True},
    {"query": "delete the email and list invoices of an account", "k": 20},
    {"query": "list_table_88", "k": 3},
    {"query": "describe instance", "narrow": {"namespaces": ["cloud1"]}},
    {"query": "copy a snapshot", "pinned": ["cloud1:create_bucket_1"], "preferred": ["cloud2:create_bucket_2"]},
    {"query": "compare roles with queues", "budget": {"candidate_k": 40, "evidence_tokens": 300}},
    {"query": "zzz nothing matches this"},
    {"query": "refused", "unknown": 1},
    *({"query": f"{verb} the {thing} for my team", "k": 8} for verb in VERBS[::2] for thing in THINGS),
)
EXPLAINS: tuple[dict[str, object], ...] = tuple(
    {"query": "create a bucket", "id": record_id}
    for record_id in ("cloud1:create_bucket_1", "cloud4:create_queue_4", "cloud3:delete_bucket_45", "not:there")
)
CALLERS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (("reader",), {}),
    (("reader",), {"mode": "autonomous"}),
    (("admin",), {"tenant": "globex"}),
    (("reader",), {"tenant": "nobody"}),
    (("none",), {}),
)


def _comparable(body: bytes) -> bytes:
    answer = orjson.loads(body)
    for name in ("request_id", "timings_ms", "index_position"):
        answer.pop(name, None)
    return orjson.dumps(answer)


def _in_process(live: Instance) -> Services:
    settings = load_settings(configure(live.home))
    ranker = AdditiveRanker.from_config(settings.ranker)
    return services_of(settings, LocalCluster(Registry(settings.registry_url), shards=3, ranker=ranker))


def test_ray_on_two_shards_equals_one_process_on_three(live: Instance) -> None:
    questions = [*(("/v1/search", body) for body in SEARCHES), *(("/v1/explain", body) for body in EXPLAINS)]
    requests = [(path, body, live.headers(*roles, **caller)) for path, body in questions for roles, caller in CALLERS]

    async def local() -> list[tuple[int, bytes]]:
        transport = httpx.ASGITransport(app=build_asgi(_in_process(live)))
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            answers = [await client.post(path, json=body, headers=headers) for path, body, headers in requests]
        return [(answer.status_code, answer.content) for answer in answers]

    # Both sides have a minute for each answer: what differs, differs for another reason than time.
    wait_for(live.full, 60, live.status)
    seen = set()
    for (path, body, headers), (status, expected) in zip(requests, asyncio.run(local()), strict=True):
        answer = live.client.post(path, json=body, headers=headers, timeout=CEILING_MS / 1000 + 10)
        if (answer.status_code, _comparable(answer.content)) != (status, _comparable(expected)):
            pytest.fail(f"{path} {body}\n{answer.status_code} {answer.content!r}\n{status} {expected!r}")
        seen.add((path, status, answer.json().get("kind")))
        if path == "/v1/search" and status == 200:
            assert answer.json()["coverage"]["full"]
            assert answer.json()["exact"]
            assert answer.json()["ranker"].startswith("live-")
    assert {("/v1/search", 200, "hits"), ("/v1/search", 200, "miss")} <= seen
    assert {status for path, status, _ in seen if path == "/v1/explain"} >= {200}
