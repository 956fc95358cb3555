"""No generated request breaks a ceiling, its own or the server's; ``SHORTLIST_DEEP=1`` tries 100,000 of them.

From the body's bytes to the answer, as the endpoint does it: ceilings of several operators, what JSON can hold in place
of a number, callers of both modes, pins, narrowings, records from a few words to many kilobytes.
"""

import asyncio
import json
from collections import Counter
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from cluster.budget import Budget
from cluster.config import Settings
from cluster.contract import Answer
from cluster.errors import InvalidRequest
from cluster.scope import Principal
from serve_app.asking import Call
from serve_app.json_body import parse_body
from serve_app.problems import Refused
from serve_app.questions import answer_search
from serve_app.services import Services
from serve_app.wire import SearchBody
from shards.record import Kind
from tests.depth import DEEP
from tests.endpoint import services_over, tool

REQUESTS: Final = 111_000 if DEEP else 1500
ODDLY: Final = 0.08
"""Share of requests that hold something else than a number; more than 100,000 of a deep run do not."""
WORDS: Final = (
    *("send", "read", "delete", "create", "list"),
    *("email", "invoice", "calendar", "event", "file", "folder", "user", "team", "report", "queue"),
)
CEILINGS: Final = tuple(spec.name for spec in fields(Budget))
ODD: Final = (
    *("1e309", "-1e309", "1e2", "2.0", "0.5", "-0", "-0.0", "NaN", "Infinity", "true", "false"),
    *('"5"', '""', "[5]", "[]", "{}", '{"value": 5}', "1" + "0" * 400, "-" + "9" * 40, "9223372036854775808"),
)
"""What JSON, or what passes for it, can hold where a whole number above 0 belongs."""

SMALL: Final = {"candidate_k": 12, "rerank_k": 7, "evidence_k": 3, "evidence_tokens": 300, "evidence_bytes": 2000}
LARGE: Final = {"candidate_k": 130, "rerank_k": 130, "evidence_k": 20, "evidence_tokens": 20_000}
OPERATORS: Final[tuple[tuple[dict[str, dict[str, int]], dict[str, int]], ...]] = (
    ({}, {}),
    ({"tool": SMALL, "passage": LARGE}, {"tool": 7, "passage": 130}),
    ({"tool": LARGE, "passage": {**SMALL, "candidate_k": 7}}, {"tool": 130, "passage": 7}),
    ({"tool": {**SMALL, "most_k": 40}, "passage": {"most_k": 20}}, {"tool": 40, "passage": 20}),
)
"""What operators set of ``budgets``, and the most hits that a request may name then where that is another number."""

K_CEILINGS: Final = {"analyzer": 48, "autonomous": 128}


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
        body["k"] = ceiling(draw.choice((12, 48, 128)))
    body["budget"] = {name: ceiling(getattr(budget, name)) for name in CEILINGS if draw.random() < 0.4}
    if draw.random() < 0.1:
        # As good as not named.
        body["budget"][draw.choice(CEILINGS)] = None
    if draw.random() < 0.3:
        body["pinned"] = [f"app{number % 5}:tool_{number}" for number in draw.sample(range(90), draw.randint(1, 12))]
    if draw.random() < 0.3:
        body["preferred"] = [f"kb:{number}" for number in draw.sample(range(40), draw.randint(1, 12))]
    return body


def allowed(body: dict[str, Any], own: Budget, most_k: int) -> dict[str, int] | None:
    """The ceilings that must hold, None where the body asks for what it may not have."""
    caps = {name: getattr(own, name) for name in CEILINGS}
    caps["evidence_k"] = body.get("k", min(own.evidence_k, most_k))
    if not 1 <= caps["evidence_k"] <= most_k:
        return None
    # As many hits as somebody may name, the stages before them let through.
    caps |= {name: max(caps[name], caps["evidence_k"]) for name in ("candidate_k", "rerank_k")}
    for name, value in body["budget"].items():
        if value is None:
            continue
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


def with_oddity(draw: Random, body: dict[str, Any]) -> bytes:
    """The body with something else in place of one of its numbers."""
    place = draw.choice(("k", *CEILINGS))
    marker = "what JSON can hold"
    odd = {"k": marker} if place == "k" else {"budget": {**body["budget"], place: marker}}
    return json.dumps(body | odd).replace(json.dumps(marker), draw.choice(ODD)).encode()


async def ask_odd(services: Services, call: Call, content: bytes) -> None:
    """A body that must be refused before anything is searched."""
    with pytest.raises((Refused, InvalidRequest)):
        await answer_search(services, call, parse_body(SearchBody, content))
    assert call.trail.answer is None


async def ask_all(services: Services, most_k: dict[str, int], draw: Random) -> Counter[str]:
    came_of = Counter[str]()
    for _ in range(REQUESTS // len(OPERATORS)):
        passages, mode = draw.random() < 0.3, draw.choice(("analyzer", "autonomous"))
        own = services.budgets[Kind.PASSAGE if passages else Kind.TOOL]
        body = asked(draw, own) | ({"narrow": {"kinds": "passage"}} if passages else {})
        principal = Principal(subject="s", tenant="acme", roles=frozenset({"reader"}), mode=mode)
        call = Call(principal=principal, request_id="r", arrived_s=services.clock())
        if draw.random() < ODDLY:
            await ask_odd(services, call, with_oddity(draw, body))
            came_of["odd"] += 1
            continue
        caps = allowed(body, own, min(K_CEILINGS[mode], most_k["passage" if passages else "tool"]))
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


@pytest.mark.parametrize(("budgets", "most_k"), OPERATORS)
def test_no_generated_request_breaks_a_ceiling(
    tmp_path: Path, budgets: dict[str, dict[str, int]], most_k: dict[str, int]
) -> None:
    draw = Random(5)  # noqa: S311 -- the same requests every time
    settings = Settings.model_validate({"home": tmp_path, "budgets": budgets})
    services = services_over(tmp_path, catalogue(draw), shards=3, settings=settings)
    came_of = asyncio.run(ask_all(services, {"tool": 128, "passage": 12} | most_k, draw))
    asked_for = came_of.total()
    assert asked_for == REQUESTS // len(OPERATORS)
    assert came_of["hits"] > asked_for // 4
    assert came_of["refused"] > asked_for // 20
    assert came_of["odd"] > asked_for // 20
