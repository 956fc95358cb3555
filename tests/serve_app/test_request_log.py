"""The request log as an operator reads it: a real endpoint, a real file, one line a request."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pydantic import TypeAdapter

from cluster.flags import Flag
from cluster.router import Router
from cluster.settings.log import LogSettings
from cluster.shard_map import ShardMap
from serve_app.access import ACCESS
from serve_app.exchange import Message
from serve_app.ingress import build_asgi
from serve_app.problems import Code
from serve_app.pseudonyms import Of, Pseudonyms
from serve_app.request_log import FILE_NAME, AnswerLine, RequestLine, RequestLog, SearchLine
from tests.endpoint import Endpoint, served, services_over, settings_in
from tests.serve_app.catalogue import CATALOGUE

ROUTES = {path for _, path in ACCESS} | {"unmatched"}
OUTCOMES = {"ok", "hits", "miss", "client_gone", *(code.value for code in Code)}


@dataclass(frozen=True, kw_only=True)
class Logged:
    """An endpoint with a request log."""

    endpoint: Endpoint
    pseudonyms: Pseudonyms
    path: Path

    def lines(self) -> list[dict[str, Any]]:
        """Every line, once the endpoint has ended: a response may arrive before its line is made."""
        raw = self.path.read_bytes().splitlines()
        for line in raw:
            TypeAdapter(RequestLine).validate_json(line, strict=True)
        return [json.loads(line) for line in raw]


@contextmanager
def logged(home: Path, **log: object) -> Iterator[Logged]:
    settings = settings_in(home, log=LogSettings(**log))  # type: ignore[arg-type]
    services = services_over(home, CATALOGUE, settings=settings)
    pseudonyms = Pseudonyms.in_home(home)
    writer = RequestLog.from_settings(settings, pseudonyms, services.metrics.lines_lost)
    with served(replace(services, request_log=writer, pseudonyms=pseudonyms)) as endpoint:
        yield Logged(endpoint=endpoint, pseudonyms=pseudonyms, path=home / FILE_NAME)


def test_a_search_is_one_line_with_its_counts_limits_timings_and_pseudonyms(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        narrow = {"namespaces": "mail", "kinds": "tool"}
        response = log.endpoint.search("send an email", k=2, budget={"candidate_k": 20}, narrow=narrow)
        answer = response.json()
    (line,) = log.lines()
    search = line["search"]
    assert (line["request_id"], line["route"], line["status"]) == (answer["request_id"], "/v1/search", 200)
    assert (line["outcome"], search["narrowed"]) == ("hits", ["kinds", "namespaces"])
    assert search["limits"]["candidate_k"] == 20
    assert search["flags"] == [name for name, holds in answer["flags"].items() if holds]
    assert set(search["flags"]) <= {flag.value for flag in Flag}
    assert search["answer"]["hits"] == [log.pseudonyms.of(Of.RECORD, hit["id"]) for hit in answer["hits"]]
    assert len(search["answer"]["hits"]) == 2
    assert search["answer"]["timings_ms"] == answer["timings_ms"]
    assert search["answer"]["spent"]["matched"] == answer["spent"]["matched"]
    assert search["answer"]["coverage"]["searched"] == answer["coverage"]["searched"]
    assert (search["answer"]["timed_out"], search["snippet"]) == ([], None)
    assert line["ms"] >= search["answer"]["timings_ms"]["total"]


def test_every_line_has_every_key_and_closed_words(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        endpoint = log.endpoint
        endpoint.search("send an email")
        endpoint.search("zzz qqq")
        endpoint.search("send", k=10_000)
        endpoint.post("/v1/explain", {"query": "send an email", "id": "mail:send_email"})
        endpoint.post("/v1/explain", {"query": "send an email", "id": "nothing"})
        endpoint.client.post("/v1/search", content=b"{", headers=endpoint.headers("reader"))
        endpoint.client.get("/v1/search", headers=endpoint.headers("reader"))
        endpoint.client.post("/v1/search", json={"query": "x"})
        endpoint.client.get("/healthz")
        endpoint.client.get("/v1/records/mail:send_email", headers=endpoint.headers("reader"))
        endpoint.client.get("/nowhere", headers=endpoint.headers("reader"))
        endpoint.client.delete("/v1/records/mail:send_email", headers=endpoint.headers("reader"))
    lines = log.lines()
    assert [line["outcome"] for line in lines] == [
        "hits", "miss", "invalid_request", "ok", "not_found", "invalid_body", "method_not_allowed", "unauthenticated",
        "ok", "ok", "not_found", "forbidden",
    ]  # fmt: skip
    assert [line["status"] for line in lines] == [200, 200, 422, 200, 404, 400, 405, 401, 200, 200, 404, 403]
    assert {line["route"] for line in lines} <= ROUTES
    assert {line["outcome"] for line in lines} <= OUTCOMES
    for line in lines:
        assert line.keys() == RequestLine.__annotations__.keys()
        if line["search"] is not None:
            assert line["search"].keys() == SearchLine.__annotations__.keys()
        if line["search"] is not None and line["search"]["answer"] is not None:
            assert line["search"]["answer"].keys() == AnswerLine.__annotations__.keys()
    assert lines[1]["search"]["answer"]["miss"] == "no_match"


def test_a_part_that_was_not_searched_is_in_the_line(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        router = log.endpoint.services.router
        old = router.shard_map
        lost = tuple(replace(copy, client=None) for copy in old.copies)
        router.replace_map(ShardMap(version=old.version + 1, copies=lost))
        log.endpoint.search("send an email")
    (line,) = log.lines()
    assert (line["outcome"], line["search"]["answer"]["miss"]) == ("miss", "unavailable")
    assert line["search"]["answer"]["coverage"]["gaps"] == ["unavailable"]


def test_a_search_out_of_time_says_what_was_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with logged(tmp_path) as log:
        monkeypatch.setattr("cluster.budget.Deadline.remaining_ms", lambda _: 0.0)
        log.endpoint.search("send an email")
    (line,) = log.lines()
    answer = line["search"]["answer"]
    assert answer is None or answer["timed_out"] == ["search"]
    assert line["outcome"] in {"miss", "overloaded"}


def test_with_snippets_configured_a_masked_start_of_the_query_is_there_and_no_more(tmp_path: Path) -> None:
    with logged(tmp_path, snippet_percent=100) as log:
        log.endpoint.search("send the code 123456 to jane@example.com")
    (line,) = log.lines()
    assert line["search"]["snippet"] == "send the code <number> to <email>"


def test_the_same_scope_has_the_same_pseudonym_and_another_one_another(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        log.endpoint.search("send")
        log.endpoint.search("read")
        log.endpoint.search("read", tenant="globex")
    scopes = [line["search"]["scope"] for line in log.lines()]
    assert scopes[0] == scopes[1] != scopes[2]


def test_without_a_request_log_no_file_is_made(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, log=LogSettings(requests=False))
    assert RequestLog.from_settings(settings, Pseudonyms(), lambda _cause, _lines: None) is None
    assert not (tmp_path / FILE_NAME).exists()


def test_the_end_of_the_endpoint_writes_the_lines_that_wait(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        for _ in range(20):
            log.endpoint.client.get("/healthz")
    assert len((tmp_path / FILE_NAME).read_bytes().splitlines()) == 20


def test_lines_on_standard_error_are_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with logged(tmp_path, to="stderr") as log:
        log.endpoint.client.get("/healthz")
    assert json.loads(capfd.readouterr().err)["route"] == "/healthz"


def test_metrics_count_stages_evidence_and_lost_lines(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        tokens = log.endpoint.search("send an email").json()["spent"]["evidence_tokens"]
        assert log.endpoint.services.request_log is not None
        log.endpoint.services.request_log.close()
        log.endpoint.search("send an email")
        text = log.endpoint.client.get("/metrics", headers=log.endpoint.headers("admin")).text
    assert 'shortlist_stage_seconds_bucket{le="+Inf",stage="search"} 2.0' in text
    assert 'shortlist_evidence_tokens_count{of="hits"} 2.0' in text
    assert f'shortlist_evidence_tokens_sum{{of="hits"}} {2.0 * tokens}' in text
    assert 'shortlist_search_records_count{stage="matched"} 2.0' in text
    # The line of the first search may have come after the end, too: a response does not wait for its line.
    assert re.search(r'shortlist_log_lines_lost_total\{cause="overflow"\} [12]\.0', text)


def test_a_request_that_the_server_breaks_off_has_its_line_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Ray Serve does it once the caller has gone; uvicorn lets a request go on to its end.
    with logged(tmp_path) as log:
        begun = asyncio.Event()

        async def never(*_: object) -> NoReturn:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

        async def receive() -> Message:
            return {"type": "http.request", "body": b'{"query": "send an email"}'}

        async def send(message: Message) -> None:
            raise AssertionError(message)

        async def break_off() -> None:
            headers = [(name.encode(), value.encode()) for name, value in log.endpoint.headers("reader").items()]
            scope = {"type": "http", "method": "POST", "path": "/v1/search", "headers": headers}
            asking = asyncio.ensure_future(build_asgi(log.endpoint.services)(scope, receive, send))
            await begun.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

        monkeypatch.setattr(Router, "search", never)
        asyncio.run(break_off())
        text = log.endpoint.client.get("/metrics", headers=log.endpoint.headers("admin")).text
    line, _ = log.lines()
    assert (line["route"], line["status"], line["outcome"]) == ("/v1/search", 0, "client_gone")
    assert line["search"]["answer"] is None
    assert 'shortlist_requests_total{outcome="client_gone",route="/v1/search"} 1.0' in text
    assert log.endpoint.services.admission.at_work == 0


def test_metrics_count_filters_and_what_holds_of_answers(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        log.endpoint.search("send an email", k=1, narrow={"namespaces": "mail", "kinds": "tool"})
        log.endpoint.search("send an email", narrow={"kinds": "tool"})
        text = log.endpoint.client.get("/metrics", headers=log.endpoint.headers("admin")).text
    assert 'shortlist_narrowed_total{field="kinds"} 2.0' in text
    assert 'shortlist_narrowed_total{field="namespaces"} 1.0' in text
    assert 'shortlist_narrowed_total{field="grant_list"} 0.0' in text
    assert 'shortlist_search_marks_total{mark="narrower_try"} 0.0' in text
    assert re.search(r'shortlist_search_marks_total\{mark="truncated"\} [12]\.0', text)
    assert "shortlist_shard_rows_over_ceiling_total 0.0" in text


def test_a_refused_credential_names_the_route_and_never_the_path(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        for path in ("/v1/records/mail:send_email", "/v1/records/a/disable", "/v1/grants/x", "/v1/status", "/v1/x"):
            assert log.endpoint.client.get(path).status_code == 401
    assert [line["route"] for line in log.lines()] == [
        "/v1/records/{record_id:path}",
        "/v1/records/{record_id:path}/disable",
        "/v1/grants/{name}",
        "/v1/status",
        "unmatched",
    ]


def test_an_explanation_has_the_counts_of_its_search_in_its_line(tmp_path: Path) -> None:
    with logged(tmp_path) as log:
        log.endpoint.post("/v1/explain", {"query": "send an email", "id": "mail:send_email"})
        log.endpoint.post("/v1/explain", {"query": "send an email", "id": "nothing"})
    explained, missing = log.lines()
    assert explained["search"]["answer"]["spent"]["evidence"] >= 1
    assert missing["search"]["answer"] is None
