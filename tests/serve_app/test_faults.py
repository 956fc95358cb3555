"""Faults behind the edge: lost shards, a lost control plane, errors nobody foresaw. Each answer is typed and opaque."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, cast

import httpx
import pytest

from cluster.contract import Answer, RankedList, SearchRequest
from cluster.control import ClusterStatus, ControlPlane
from cluster.dispatcher import RuleDispatcher
from cluster.errors import (
    InvalidConfiguration,
    RegistryUnavailable,
    ShardUnavailable,
    StaleVersion,
    UnknownGrantList,
)
from cluster.health import Health
from cluster.local import LocalCluster
from cluster.ranker import AdditiveRanker
from cluster.router import Router
from cluster.shard_map import ShardMap
from serve_app.audit import EVENTS, JsonLines
from serve_app.auth_errors import Forbidden, Refusal, Unauthenticated
from serve_app.patience import LOOK_TIMEOUT_S
from serve_app.problems import Code, problem_of
from serve_app.routes import READY_FOR_S
from serve_app.services import Services
from shards.errors import CorruptSnapshot, InvalidRecord, ShardNotReady, StaleFeed
from shards.record import Record
from tests.endpoint import SENTINEL, Endpoint, served, services_over
from tests.serve_app.catalogue import CATALOGUE


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return services_over(tmp_path, CATALOGUE)


def lost(services: Services, *shards: int) -> Services:
    """The same services after these shards were lost."""
    old = services.router.shard_map
    copies = tuple(replace(copy, client=None) if copy.shard in shards else copy for copy in old.copies)
    services.router.replace_map(ShardMap(version=old.version + 1, copies=copies))
    return services


def test_with_every_shard_lost_a_search_is_a_typed_miss_and_the_replica_not_ready(services: Services) -> None:
    with served(lost(services, 0, 1)) as endpoint:
        answer = endpoint.search("send an email").json()
        assert (answer["kind"], answer["miss"]["reason"], answer["exact"]) == ("miss", "unavailable", False)
        assert answer["coverage"]["gaps"] == ["unavailable"]
        ready = endpoint.client.get("/readyz")
        assert (ready.status_code, ready.json()["code"]) == (503, "unavailable")
        assert ready.headers["retry-after"] == "1"
        assert endpoint.client.get("/healthz").status_code == 200


def test_with_one_shard_lost_the_answer_says_what_was_not_searched(services: Services) -> None:
    with served(services) as endpoint:
        endpoint.search("send an email")
        lost(services, 1)
        coverage = endpoint.search("send an email").json()["coverage"]
        assert (coverage["full"], coverage["gaps"]) == (False, ["unavailable"])
        assert (coverage["buckets_searched"], coverage["buckets"]) == (512, 1024)
        assert coverage["searched"] < coverage["authorized"] == 5


class FadingRouter(Router):
    """A router whose second shard does not answer when all candidates are ranked."""

    async def candidates(self, request: SearchRequest) -> RankedList:
        whole = self.shard_map
        first, second = whole.copies
        self.replace_map(ShardMap(version=whole.version, copies=(first, replace(second, client=None))))
        ranked = await super().candidates(request)
        self.replace_map(whole)
        return ranked


def test_a_rank_among_a_part_of_the_candidates_is_explained_as_such(services: Services) -> None:
    router = FadingRouter(services.router.shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
    with served(replace(services, router=router)) as endpoint:
        explanation = endpoint.post("/v1/explain", {"query": "send an email", "id": "mail:send_email"}).json()
        assert explanation["outcome"] == "hit"
        assert explanation["coverage"]["gaps"] == ["unavailable"]
        assert endpoint.search("send an email").json()["coverage"]["full"]


def test_a_record_on_a_lost_shard_is_unavailable_and_not_unknown(services: Services) -> None:
    with served(lost(services, 0, 1)) as endpoint:
        for response in (
            endpoint.client.get("/v1/records/mail:send_email", headers=endpoint.headers("reader")),
            endpoint.client.get("/v1/records/nothing", headers=endpoint.headers("reader")),
            endpoint.post("/v1/explain", {"query": "email", "id": "mail:send_email"}),
        ):
            assert (response.status_code, response.json()["code"]) == (503, "unavailable")


class BrokenPlane:
    """A control plane that answers nothing."""

    def __getattr__(self, name: str) -> Callable[..., object]:
        async def fail(*_: object) -> NoReturn:
            raise RegistryUnavailable(SENTINEL)

        return fail


def test_without_a_control_plane_searches_go_on_and_all_else_is_unavailable(services: Services) -> None:
    with served(replace(services, control=BrokenPlane())) as endpoint:
        assert endpoint.search("send an email").json()["kind"] == "hits"
        assert endpoint.search("x", narrow={"grant_list": "few"}).json()["miss"]["reason"] == "nothing_authorized"
        assert endpoint.client.get("/v1/records/nothing", headers=endpoint.headers("reader")).status_code == 404
        for method, path in (
            ("GET", "/readyz"), ("GET", "/v1/status"), ("DELETE", "/v1/records/x"), ("POST", "/v1/records/x/disable"),
            ("GET", "/v1/grants/few"), ("DELETE", "/v1/grants/few"),
        ):  # fmt: skip
            response = endpoint.client.request(method, path, headers=endpoint.headers("admin"))
            assert (response.status_code, response.json()["code"]) == (503, "unavailable"), path
            assert SENTINEL not in response.text


class HungPlane(LocalCluster):
    """A control plane that never answers."""

    async def status(self) -> ClusterStatus:
        await asyncio.sleep(60)
        raise AssertionError

    async def record(self, record_id: str) -> Record | None:
        await asyncio.sleep(60)
        raise AssertionError(record_id)


def test_a_control_plane_that_hangs_holds_up_nobody(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve_app.routes.LOOK_TIMEOUT_S", 0.05)
    assert isinstance(services.control, LocalCluster)
    services.control.__class__ = HungPlane
    with served(services) as endpoint:
        assert endpoint.client.get("/readyz").status_code == 503
        assert endpoint.client.get("/v1/status", headers=endpoint.headers("admin")).status_code == 503
        unseen = endpoint.client.get("/v1/records/nothing", headers=endpoint.headers("reader"))
        assert unseen.status_code == 404
        # The event waits for its cause, the answer does not.
        assert unseen.elapsed.total_seconds() < LOOK_TIMEOUT_S


class LoadingCluster(LocalCluster):
    """A cluster that says it is still loading."""

    async def status(self) -> ClusterStatus:
        return replace(await super().status(), health=Health.STARTING)


def test_a_cluster_that_is_loading_is_alive_and_not_ready(services: Services) -> None:
    assert isinstance(services.control, LocalCluster)
    services.control.__class__ = LoadingCluster
    with served(services) as endpoint:
        assert endpoint.client.get("/healthz").json() == {"status": "alive"}
        assert endpoint.client.get("/readyz").status_code == 503


class CountingCluster(LocalCluster):
    """A cluster that counts how often it is asked for its status."""

    asked = 0

    async def status(self) -> ClusterStatus:
        self.asked += 1
        return await super().status()


def test_anybody_may_ask_for_readiness_without_the_registry_being_counted_each_time(services: Services) -> None:
    plane = services.control
    assert isinstance(plane, LocalCluster)
    plane.__class__ = CountingCluster
    now_s = 0.0
    with served(replace(services, clock=lambda: now_s)) as endpoint:
        assert {endpoint.client.get("/readyz").status_code for _ in range(5)} == {200}
        assert isinstance(plane, CountingCluster)
        assert plane.asked == 1
        now_s = READY_FOR_S
        assert endpoint.client.get("/readyz").status_code == 200
        assert plane.asked == 2


SECRET = "hunter2"


class FailingRouter(Router):
    """A router with a fault that nobody foresaw."""

    async def search(self, request: SearchRequest) -> Answer:
        raise ZeroDivisionError(SECRET + request.query)

    async def documents(self, *_: object) -> tuple[Record, ...]:
        raise KeyError(SECRET)


def failing(services: Services) -> Services:
    router = FailingRouter(services.router.shard_map, ranker=AdditiveRanker.from_config(), dispatcher=RuleDispatcher())
    return replace(services, router=router)


def test_an_unforeseen_fault_is_internal_opaque_and_logged_under_its_request_id(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    with served(failing(services)) as endpoint, caplog.at_level(logging.INFO):
        responses = [
            endpoint.search(SECRET),
            endpoint.client.get(f"/v1/records/{SECRET}", headers=endpoint.headers("reader")),
        ]
    for response in responses:
        assert (response.status_code, response.json()["code"]) == (500, "internal")
        assert SECRET not in response.text
        assert "Error" not in response.text
    lines = "\n".join(JsonLines().format(record) for record in caplog.records if record.name == EVENTS)
    assert SECRET not in lines
    for response, error in zip(responses, ("ZeroDivisionError", "KeyError"), strict=True):
        assert response.headers["x-request-id"] in lines
        assert f'"error":"{error}"' in lines
    assert "test_faults.py" in lines


WORDS = (SENTINEL,) * 3


class UnusableControl:
    """A control plane with an error of our own that no route foresees."""

    async def grant_list(self, *_: object) -> NoReturn:
        raise InvalidConfiguration(*WORDS)


def test_an_error_of_our_own_that_no_route_foresees_is_logged_under_its_request_id_too(
    services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    broken = replace(services, control=cast("ControlPlane", UnusableControl()))
    with served(broken) as endpoint, caplog.at_level(logging.INFO):
        response = endpoint.client.get("/v1/grants/week", headers=endpoint.headers("tenant_admin"))
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    (line,) = [JsonLines().format(record) for record in caplog.records if record.name == EVENTS]
    assert f'"request_id":"{response.headers["x-request-id"]}"' in line
    assert '"error":"InvalidConfiguration"' in line
    assert SENTINEL not in line + response.text


def test_the_metrics_count_requests_misses_gaps_and_faults(services: Services) -> None:
    with served(services) as endpoint:
        endpoint.search("send an email")
        endpoint.search("hello")
        endpoint.search("email", k=0)
        endpoint.client.get("/nothing")
        lost(services, 0, 1)
        endpoint.search("send an email")
        text = endpoint.client.get("/metrics", headers=endpoint.headers("admin")).text
    for line in (
        'shortlist_requests_total{outcome="hits",route="/v1/search"} 1.0',
        'shortlist_requests_total{outcome="miss",route="/v1/search"} 2.0',
        'shortlist_requests_total{outcome="invalid_request",route="/v1/search"} 1.0',
        'shortlist_requests_total{outcome="unauthenticated",route="unmatched"} 1.0',
        'shortlist_misses_total{reason="no_match"} 1.0',
        'shortlist_misses_total{reason="unavailable"} 1.0',
        'shortlist_coverage_gaps_total{cause="unavailable"} 1.0',
        'shortlist_exact_answers_total{exact="true",proof="first_round",retrieval="words"} 2.0',
        'shortlist_exact_answers_total{exact="false",proof="coverage",retrieval="words"} 1.0',
        'shortlist_vectors_total{state="off"} 3.0',
        "shortlist_query_embedding_seconds_count 0.0",
        'shortlist_request_seconds_count{route="/v1/search"} 4.0',
        "shortlist_candidates_count 3.0",
    ):
        assert line in text


ERRORS: Sequence[tuple[Exception, Code]] = (
    (Unauthenticated(Refusal.SIGNATURE, SENTINEL), Code.UNAUTHENTICATED),
    (Forbidden(SENTINEL), Code.FORBIDDEN),
    (UnknownGrantList(SENTINEL), Code.UNKNOWN_GRANT_LIST),
    (StaleVersion(SENTINEL, 1, 2), Code.STALE_VERSION),
    (RegistryUnavailable(SENTINEL), Code.UNAVAILABLE),
    (ShardUnavailable(1, SENTINEL), Code.UNAVAILABLE),
    (ShardNotReady(1), Code.UNAVAILABLE),
    (InvalidConfiguration(SENTINEL, SENTINEL, SENTINEL), Code.INTERNAL),
    (StaleFeed(1, 2), Code.INTERNAL),
    (CorruptSnapshot(SENTINEL, SENTINEL), Code.INTERNAL),
    (InvalidRecord("name", SENTINEL, "a name"), Code.INVALID_REQUEST),
    *(
        (kind(SENTINEL), Code.INTERNAL)
        for kind in (ValueError, TypeError, OSError, RuntimeError, MemoryError, KeyError, TimeoutError, AssertionError)
    ),
)


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=lambda value: type(value).__name__)
def test_every_error_becomes_a_problem_of_the_closed_set_without_its_values(error: Exception, code: Code) -> None:
    problem = problem_of(error)
    body = problem.to_json("r1")
    assert problem.code is code
    assert SENTINEL not in body.decode()
    assert httpx.Response(problem.status, content=body).json()["status"] == problem.status


def test_every_problem_has_the_same_members(endpoint: Endpoint) -> None:
    token = endpoint.headers("reader")
    responses = [
        endpoint.client.get("/v1/status"),
        endpoint.client.get("/v1/status", headers=token),
        endpoint.client.get("/nothing", headers=token),
        endpoint.client.patch("/v1/status", headers=token),
        endpoint.client.get("/v1/search", headers=token),
        endpoint.client.post("/v1/search", content=b"{", headers=token),
        endpoint.search("x", k=0),
        endpoint.client.get("/v1/records/nothing", headers=token),
    ]
    assert [response.status_code for response in responses] == [401, 403, 404, 405, 405, 400, 422, 404]
    for response in responses:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert list(problem) in (
            ["type", "title", "status", "code", "detail", "request_id"],
            ["type", "title", "status", "code", "detail", "request_id", "errors"],
        )
        assert problem["type"] == f"urn:shortlist:problem:{problem['code']}"
        assert problem["status"] == response.status_code
        assert problem["request_id"] == response.headers["x-request-id"]
    assert responses[0].headers["www-authenticate"].startswith("Bearer")
