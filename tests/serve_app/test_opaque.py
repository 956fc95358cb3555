"""Nothing that a caller sent or a record holds comes out by a log, a metric or an error, whatever goes wrong.

A sentinel stands in the query, in names, ids, tenants, tokens and schemas, and in the words of thirty exceptions, one
at each layer below the door.
"""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NoReturn, NotRequired

import httpx
import pytest
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from cluster.budget import Deadline
from cluster.contract import MissReason
from cluster.dispatcher import RuleDispatcher
from cluster.errors import RegistryUnavailable
from cluster.local import LocalCluster
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from cluster.scope import Policy, Principal
from cluster.settings.log import LogSettings
from serve_app import audit
from serve_app.admission import Admission
from serve_app.auth import Authenticator
from serve_app.metrics import Metrics
from serve_app.problems import Code
from serve_app.pseudonyms import Pseudonyms
from serve_app.request_log import RequestLog
from shards.errors import StaleFeed
from shards.shard import Shard
from tests.endpoint import SENTINEL, Endpoint, served, services_over, settings_in, tool

TENANT = f"{SENTINEL.lower()}-tenant"
RECORD = f"{SENTINEL}:send_{SENTINEL}"
RECORDS = (
    tool(
        RECORD,
        f"Send an email {SENTINEL}",
        tenant=TENANT,
        parameters={"type": "object", "properties": {f"{SENTINEL}_to": {"type": "string", "description": SENTINEL}}},
    ),
    tool("mail:send_email", f"Send an email {SENTINEL}", tenant=TENANT),
)
QUERY = f"send an email to {SENTINEL}"


@dataclass(frozen=True, kw_only=True)
class Watched:
    """An endpoint of which every output is kept."""

    endpoint: Endpoint
    home: Path
    library: io.StringIO

    def request(self, method: str, path: str, *, role: str = "reader", **more: object) -> httpx.Response:
        headers = self.endpoint.headers(role, tenant=TENANT)
        return self.endpoint.client.request(method, path, headers=headers, **more)  # type: ignore[arg-type]

    def written(self) -> str:
        """Both logs, whatever any module told the logging library at any level, and the metrics."""
        log = self.endpoint.services.request_log
        assert log is not None
        metrics = self.request("GET", "/metrics", role="admin").text
        log.close()
        files = [(self.home / name).read_text() for name in ("requests.log", "audit.log")]
        assert all(files)
        assert "shortlist_requests_total" in metrics
        return "".join((*files, self.library.getvalue(), metrics))


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    settings = settings_in(tmp_path, log=LogSettings())
    services = services_over(tmp_path, RECORDS, settings=settings)
    pseudonyms = Pseudonyms.in_home(tmp_path)
    log = RequestLog.from_settings(settings, pseudonyms, services.metrics.lines_lost)
    root, events, kept = logging.getLogger(), logging.getLogger(audit.EVENTS), io.StringIO()
    before = (root.level, root.handlers[:], events.level, events.handlers[:], events.propagate)
    audit.write_events(audit.handler_of(settings))
    events.propagate = True
    handler = logging.StreamHandler(kept)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s"))
    # What the client of this test says of its own requests is no log of ours, nor is the access log of its server.
    handler.addFilter(lambda record: not record.name.startswith(("httpx", "httpcore", "uvicorn.access")))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    with served(replace(services, request_log=log, pseudonyms=pseudonyms)) as endpoint:
        yield Watched(endpoint=endpoint, home=tmp_path, library=kept)
    root.level, root.handlers[:], events.level, events.handlers[:], events.propagate = before


def fail(error: Exception) -> object:
    """A function that raises, in place of any other."""

    def failing(*_: object, **__: object) -> NoReturn:
        raise error

    return failing


async def lost(*_: object) -> NoReturn:
    """A control plane that does not answer."""
    raise RegistryUnavailable(SENTINEL)


def clean(text: str) -> bool:
    return SENTINEL not in text and SENTINEL.lower() not in text


def test_nothing_of_a_request_is_in_any_output_whatever_came_of_it(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ask, endpoint = watched.request, watched.endpoint
    line = json.dumps(RECORDS[1] | {"description": f"again {SENTINEL}"}) + "\n" + json.dumps({"id": SENTINEL})
    wrong = {"authorization": f"Bearer {SENTINEL}.{SENTINEL}.{SENTINEL}"}
    statuses = [
        ask("POST", "/v1/search", json={"query": QUERY}).status_code,
        ask("POST", "/v1/search", json={"query": SENTINEL * 3, "narrow": {"namespaces": SENTINEL}}).status_code,
        ask("POST", "/v1/search", json={"query": QUERY, "narrow": {"grant_list": SENTINEL}}).status_code,
        ask("POST", "/v1/search", json={"query": QUERY, SENTINEL: SENTINEL}).status_code,
        ask("POST", "/v1/search", content=f'{{"query": {SENTINEL}').status_code,
        ask("POST", "/v1/explain", json={"query": QUERY, "id": SENTINEL}).status_code,
        ask("GET", f"/v1/records/{RECORD}?q={SENTINEL}").status_code,
        ask("GET", f"/v1/records/{SENTINEL}").status_code,
        ask("GET", f"/{SENTINEL}/{SENTINEL}").status_code,
        # The server in front of the app refuses methods that HTTP does not know.
        ask(SENTINEL, "/v1/search").status_code,
        ask("DELETE", f"/v1/records/{RECORD}").status_code,
        ask("PUT", "/v1/records", content=line, role="writer").status_code,
        ask("DELETE", f"/v1/records/{SENTINEL}", role="writer").status_code,
        ask("PUT", f"/v1/grants/{SENTINEL}", json={"ids": [RECORD, SENTINEL]}, role="admin").status_code,
        endpoint.client.post("/v1/search", json={"query": QUERY}, headers=wrong).status_code,
        endpoint.client.post("/v1/search", json={"query": QUERY}, headers={"cookie": SENTINEL}).status_code,
    ]
    assert statuses == [200, 200, 422, 422, 400, 404, 200, 404, 404, 400, 403, 207, 404, 200, 401, 401]
    for error in (RuntimeError(SENTINEL), OSError(5, SENTINEL, SENTINEL), KeyError(SENTINEL)):
        with monkeypatch.context() as patch:
            patch.setattr(Router, "search", fail(error))
            patch.setattr(LocalCluster, "grant_list", fail(error))
            crashes = (
                ask("POST", "/v1/search", json={"query": QUERY}),
                ask("GET", f"/v1/grants/{SENTINEL}", role="admin"),
            )
        assert [(one.status_code, one.json()["code"]) for one in crashes] == [(500, "internal")] * 2
        assert all(clean(one.text) for one in crashes)
    with monkeypatch.context() as patch:
        patch.setattr(LocalCluster, "remove", lost)
        assert ask("DELETE", f"/v1/records/{RECORD}", role="writer").status_code == 503
    written = watched.written()
    assert not [line for line in written.splitlines() if not clean(line)]
    assert clean("".join(capfd.readouterr()))


def test_the_audit_log_has_a_line_for_every_write_and_denial_with_the_request_id_of_the_answer(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = watched.request
    asked = [
        ask("PUT", "/v1/records", content=json.dumps(RECORDS[1] | {"description": "new"}), role="writer"),
        ask("POST", f"/v1/records/{RECORD}/disable", role="writer"),
        ask("DELETE", f"/v1/records/{RECORD}", role="writer"),
        ask("PUT", "/v1/grants/few", json={"ids": []}, role="admin"),
        ask("DELETE", "/v1/grants/few", role="admin"),
        ask("DELETE", f"/v1/records/{RECORD}"),
    ]
    monkeypatch.setattr(LocalCluster, "remove", lost)
    asked.append(ask("DELETE", "/v1/records/mail:send_email", role="writer"))
    lines = [json.loads(line) for line in (watched.home / "audit.log").read_text().splitlines()]
    assert [line["request_id"] for line in lines] == [one.headers["x-request-id"] for one in asked]
    assert [(line["event"], line.get("verb"), line.get("outcome")) for line in lines] == [
        ("written", "put", "applied"),
        ("written", "disable", "applied"),
        ("written", "delete", "applied"),
        ("written", "put_grant_list", "applied"),
        ("written", "delete_grant_list", "applied"),
        ("forbidden", None, None),
        ("written", "delete", "unconfirmed"),
    ]
    assert [line.get("seq") for line in lines] == [one.json().get("seq") for one in asked]
    pseudonyms = watched.endpoint.services.pseudonyms
    caller = pseudonyms.caller(Principal(subject="someone", tenant=TENANT, roles=frozenset(), mode="analyzer"))
    assert all(line.items() >= caller.items() for line in lines)


class ProblemView(TypedDict):
    """The whole of an error."""

    type: str
    title: str
    status: int
    code: Code
    detail: str
    request_id: str
    errors: NotRequired[list[dict[str, str]]]


SEARCH = ("POST", "/v1/search", {"query": QUERY})
EXPLAIN = ("POST", "/v1/explain", {"query": QUERY, "id": RECORD})
GET = ("GET", f"/v1/records/{RECORD}", None)
LAYERS: Final[tuple[tuple[type | str, str, tuple[str, str, object]], ...]] = (
    (Authenticator, "authenticate", SEARCH),
    (Policy, "compile", SEARCH),
    (Admission, "check", SEARCH),
    (Admission, "place", SEARCH),
    (Metrics, "answer", SEARCH),
    (Router, "search", SEARCH),
    (Router, "search", EXPLAIN),
    (Router, "candidates", EXPLAIN),
    (Router, "documents", EXPLAIN),
    (Router, "documents", GET),
    (AdditiveRanker, "mix", SEARCH),
    (RuleDispatcher, "plan", SEARCH),
    (Shard, "search", SEARCH),
    (Shard, "documents", GET),
    (Deadline, "remaining_ms", SEARCH),
    (LocalCluster, "status", ("GET", "/v1/status", None)),
    (LocalCluster, "record", ("DELETE", "/v1/records/nothing", None)),
    (LocalCluster, "remove", ("DELETE", f"/v1/records/{RECORD}", None)),
    (LocalCluster, "set_status", ("POST", f"/v1/records/{RECORD}/disable", None)),
    (LocalCluster, "put_grant_list", ("PUT", "/v1/grants/few", {"ids": [RECORD]})),
    (LocalCluster, "grant_list", ("GET", "/v1/grants/few", None)),
    (LocalCluster, "delete_grant_list", ("DELETE", "/v1/grants/few", None)),
    ("serve_app.questions", "parse_body", SEARCH),
    ("serve_app.questions", "search_request", SEARCH),
    ("serve_app.questions", "answer_bytes", SEARCH),
    ("serve_app.questions", "explanation_bytes", EXPLAIN),
    ("serve_app.routes", "stored_view", GET),
    ("cluster.router", "plan_query", SEARCH),
    ("cluster.router", "assemble", SEARCH),
    ("cluster.composing", "miss_of", ("POST", "/v1/search", {"query": "zzz"})),
)


def test_thirty_failures_at_every_layer_are_closed_codes_with_the_request_id(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(LAYERS) == 30
    errors = (RuntimeError(SENTINEL), StaleFeed(1, 2), ValueError(SENTINEL), RegistryUnavailable(SENTINEL))
    codes = set()
    for number, (owner, name, (method, path, body)) in enumerate(LAYERS):
        target = f"{owner}.{name}" if isinstance(owner, str) else f"{owner.__module__}.{owner.__qualname__}.{name}"
        with monkeypatch.context() as patch:
            patch.setattr(target, fail(errors[number % len(errors)]))
            response = watched.request(method, path, json=body, role="admin")
        assert clean(response.text.replace(RECORD, "").replace(RECORD.lower(), "")) or response.status_code == 200
        if response.status_code == 200:
            # A shard that fails is a part that was not searched.
            answer = response.json()
            assert answer["kind"] == "miss", target
            MissReason(answer["miss"]["reason"])
            continue
        problem = TypeAdapter(ProblemView).validate_json(response.content)
        assert problem["request_id"] == response.headers["x-request-id"]
        assert clean(response.text), target
        codes.add(problem["code"])
    assert codes >= {Code.INTERNAL, Code.UNAVAILABLE}
    written = watched.written()
    assert not [line for line in written.splitlines() if not clean(line)]
    assert clean("".join(capfd.readouterr()))
