"""No generated request breaks a ceiling, its own or the server's; ``SHORTLIST_DEEP=1`` tries 100,000 of them.

From the body's bytes to the answer, as the endpoint does it: the ceilings that were asked, callers of both modes, pins,
narrowings, records from a few words to many kilobytes.
"""

import asyncio
import json
from collections import Counter
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any, Final

from cluster.budget import Budget
from cluster.contract import Answer
from cluster.errors import InvalidRequest
from cluster.scope import Principal
from serve_app.asking import Call
from serve_app.json_body import parse_body
from serve_app.questions import answer_search
from serve_app.services import Services
from serve_app.wire import SearchBody
from shards.record import Kind
from tests.depth import DEEP
from tests.endpoint import services_over, tool

REQUESTS: Final = 100_000 if DEEP else 1500
WORDS: Final = (
    *("send", "read", "delete", "create", "list"),
    *("email", "invoice", "calendar", "event", "file", "folder", "user", "team", "report", "queue"),
)
CEILINGS: Final = tuple(spec.name for spec in fields(Budget))


def catalogue(draw: Random) -> list[dict[str, object]]:
    """90 tools, shared and of one tenant, and 40 passages."""
    rows: list[dict[str, object]] = []
    for number in range(90):
        text = " ".join(draw.choices(WORDS, k=draw.choice((3, 20, 200, 1500))))
        names = {
            f"{draw.choice(WORDS)}_{at}": {"type": "string", "description": text[:80]} for at in range(number % 12)
        }
        schema = {"type": "object", "properties": names}
        effect = draw.choice(("read", "write", "destructive"))
        tenant = draw.choice(("*", "acme"))
        rows.append(
            tool(
                f"app{number % 5}:tool_{number}", text, tenant=tenant, parameters=schema, access={"side_effect": effect}
            )
        )
    for number in range(40):
        text = " ".join(draw.choices(WORDS, k=draw.choice((10, 400))))
        row = {"id": f"kb:{number}", "kind": "passage", "title": text[:40], "text": text, "namespace": "kb"}
        rows.append({**row, "source_url": f"https://example.com/{number}", "access": {"tenant": "*"}})
    return rows


def asked(draw: Random, budget: Budget) -> dict[str, Any]:
    """A body; one ceiling in twenty is above the server's, or below the least."""

    def ceiling(most: int) -> int:
        return (
            draw.choice((0, -1, most + 1, 2**40))
            if draw.random() < 0.05
            else draw.choice((1, draw.randint(1, most), most))
        )

    body: dict[str, Any] = {"query": " ".join(draw.choices(WORDS, k=draw.randint(1, 6)))}
    if draw.random() < 0.5:
        body["k"] = ceiling(48)
    body["budget"] = {name: ceiling(getattr(budget, name)) for name in CEILINGS if draw.random() < 0.4}
    if draw.random() < 0.3:
        body["pinned"] = [f"app{number % 5}:tool_{number}" for number in draw.sample(range(90), draw.randint(1, 12))]
    if draw.random() < 0.3:
        body["preferred"] = [f"kb:{number}" for number in draw.sample(range(40), draw.randint(1, 12))]
    return body


def allowed(body: dict[str, Any], own: Budget, k_ceiling: int) -> dict[str, int] | None:
    """The ceilings that must hold, None where the body asks for what it may not have."""
    caps = {name: getattr(own, name) for name in CEILINGS}
    most = min(k_ceiling, own.rerank_k)
    caps["evidence_k"] = body.get("k", min(own.evidence_k, most))
    if not 1 <= caps["evidence_k"] <= most:
        return None
    for name, value in body["budget"].items():
        if not 1 <= value <= caps[name]:
            return None
        caps[name] = value
    caps["rerank_k"] = min(caps["rerank_k"], caps["candidate_k"])
    caps["evidence_k"] = min(caps["evidence_k"], caps["rerank_k"])
    if len(body.get("pinned", ())) > caps["evidence_k"] or len(body.get("preferred", ())) > caps["candidate_k"]:
        return None
    return caps


def check(answer: Answer, caps: dict[str, int]) -> None:
    assert {name: getattr(answer.budget, name) for name in CEILINGS} == caps
    spent = answer.spent
    assert spent.candidates <= caps["candidate_k"]
    assert spent.reranked <= caps["rerank_k"]
    assert spent.evidence == len(answer.hits) <= caps["evidence_k"]
    assert spent.evidence_tokens == sum(hit.evidence.tokens for hit in answer.hits) <= caps["evidence_tokens"]
    assert spent.evidence_bytes == sum(len(hit.evidence.json) for hit in answer.hits) <= caps["evidence_bytes"]
    assert bool(answer.hits) != (answer.miss is not None)


async def ask_all(services: Services, draw: Random) -> Counter[str]:
    came_of = Counter[str]()
    for _ in range(REQUESTS):
        passages, mode = draw.random() < 0.3, draw.choice(("analyzer", "autonomous"))
        own = services.budgets[Kind.PASSAGE if passages else Kind.TOOL]
        body = asked(draw, own) | ({"narrow": {"kinds": "passage"}} if passages else {})
        principal = Principal(subject="s", tenant="acme", roles=frozenset({"reader"}), mode=mode)
        call = Call(principal=principal, request_id="r", arrived_s=services.clock())
        caps = allowed(body, own, services.policy.k_ceiling(mode))
        try:
            answer = await answer_search(services, call, parse_body(SearchBody, json.dumps(body).encode()))
        except InvalidRequest:
            assert caps is None, body
            came_of["refused"] += 1
            continue
        assert caps is not None, body
        check(answer, caps)
        came_of[answer.miss.reason.value if answer.miss else "hits"] += 1
    return came_of


def test_no_generated_request_breaks_a_ceiling(tmp_path: Path) -> None:
    draw = Random(5)  # noqa: S311 -- the same requests every time
    services = services_over(tmp_path, catalogue(draw), shards=3)
    came_of = asyncio.run(ask_all(services, draw))
    assert came_of.total() == REQUESTS
    assert came_of["hits"] > REQUESTS // 3
    assert came_of["refused"] > REQUESTS // 20
