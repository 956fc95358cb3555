"""What a caller may not see is nowhere: not in answers, errors, explanations, counts, or differences between them."""

import logging
import re
import time
from typing import Final

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endpoint import SENTINEL, Endpoint, endpoint_over, tool
from tests.serve_app.catalogue import HIDDEN, SEEN

QUERIES: Final = (
    "send an email to my colleague",
    "send_email",
    "email",
    "delete an email",
    "to",
    "kb refunds",
    "hello",
)
HIDDEN_IDS: Final = tuple(str(record["id"]) for record in HIDDEN)


def _without_id(response: httpx.Response) -> tuple[int, bytes, list[tuple[str, str]]]:
    """Status, body and headers, but for what every two answers differ in."""
    request_id = response.headers["x-request-id"].encode()
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in {"x-request-id", "date"}]
    return response.status_code, response.content.replace(request_id, b""), headers


def test_no_search_shows_a_hidden_record(endpoint: Endpoint) -> None:
    for query in QUERIES:
        for extra in ({}, {"k": 48}, {"pinned": list(HIDDEN_IDS[:5])}, {"preferred": list(HIDDEN_IDS)}):
            response = endpoint.search(query, explain=True, **extra)
            assert response.status_code == 200
            assert SENTINEL not in response.text


def test_a_hidden_record_takes_no_place_and_enters_no_count(endpoint: Endpoint) -> None:
    # 30 records of another tenant match better than anything that acme's reader may see.
    answer = endpoint.search("send an email to a colleague fast", k=1).json()
    assert [hit["id"] for hit in answer["hits"]] == ["mail:send_email"]
    assert (answer["coverage"]["authorized"], answer["spent"]["matched"]) == (5, 3)


def test_a_world_without_the_hidden_records_gives_the_same_bytes(
    endpoint: Endpoint, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with endpoint_over(tmp_path_factory.mktemp("home"), SEEN) as private:
        for query in QUERIES:
            assert _steady(endpoint.search(query, explain=True)) == _steady(private.search(query, explain=True))
            for record_id in ("mail:send_email", "mail:read_inbox", "files:list_files", *HIDDEN_IDS[-3:]):
                body = {"query": query, "id": record_id}
                asked = [_steady(one.post("/v1/explain", body)) for one in (endpoint, private)]
                assert asked[0] == asked[1]


def _steady(response: httpx.Response) -> bytes:
    return re.sub(
        rb'"request_id":"[^"]*"|"index_position":"[^"]*"|"timings_ms":\{[^}]*\}|"indexed_at":"[^"]*"',
        b"",
        response.content,
    )


@pytest.mark.parametrize("hidden_id", [HIDDEN_IDS[0], *HIDDEN_IDS[-5:]])
def test_hidden_equals_unknown_for_get_and_explain(endpoint: Endpoint, hidden_id: str) -> None:
    unknown = "x" * len(hidden_id)
    read = [
        endpoint.client.get(f"/v1/records/{name}", headers=endpoint.headers("reader")) for name in (hidden_id, unknown)
    ]
    asked = [endpoint.post("/v1/explain", {"query": "send an email", "id": name}) for name in (hidden_id, unknown)]
    assert read[0].status_code == asked[0].status_code == 404
    assert _without_id(read[0]) == _without_id(read[1])
    assert _without_id(asked[0]) == _without_id(asked[1])


@pytest.mark.parametrize("role", ["reader", "writer"])
@pytest.mark.parametrize(("method", "suffix"), [("DELETE", ""), ("POST", "/disable")])
def test_hidden_equals_unknown_for_every_write(endpoint: Endpoint, method: str, suffix: str, role: str) -> None:
    asked = [
        endpoint.client.request(method, f"/v1/records/{name}{suffix}", headers=endpoint.headers(role))
        for name in (HIDDEN_IDS[0], HIDDEN_IDS[15], "nothing")
    ]
    assert asked[0].status_code == (404 if role == "writer" else 403)
    assert _without_id(asked[0]) == _without_id(asked[1]) == _without_id(asked[2])


@pytest.mark.parametrize(("method", "suffix"), [("DELETE", ""), ("POST", "/disable")])
def test_a_record_that_the_writer_sees_and_may_not_write_is_forbidden(
    endpoint: Endpoint, method: str, suffix: str
) -> None:
    # Shared with every tenant: acme's writer reads it, and only an admin may change it.
    writer = endpoint.headers("writer")
    assert endpoint.client.get("/v1/records/files:list_files", headers=writer).status_code == 200
    refused = endpoint.client.request(method, f"/v1/records/files:list_files{suffix}", headers=writer)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert endpoint.client.get("/v1/records/files:list_files", headers=writer).status_code == 200


def test_a_removed_record_equals_one_that_never_was(fresh: Endpoint) -> None:
    writer = fresh.headers("writer")
    assert fresh.client.delete("/v1/records/mail:send_email", headers=writer).status_code == 200
    for method, suffix in (("GET", ""), ("DELETE", ""), ("POST", "/disable")):
        removed, never = (
            fresh.client.request(method, f"/v1/records/{name}{suffix}", headers=writer)
            for name in ("mail:send_email", "mail:never_there")
        )
        assert removed.status_code == 404
        assert _without_id(removed) == _without_id(never)


def test_errors_repeat_neither_what_was_sent_nor_what_is_stored(endpoint: Endpoint) -> None:
    bodies: tuple[object, ...] = (
        {"query": SENTINEL, "k": SENTINEL},
        {"query": SENTINEL, "narrow": {"kinds": SENTINEL}},
        {"query": SENTINEL, "narrow": {"grant_list": SENTINEL}},
        {"query": [SENTINEL]},
        SENTINEL,
    )
    for body in bodies:
        response = endpoint.post("/v1/search", body)
        assert response.status_code in {400, 422}
        assert SENTINEL not in response.text
    assert SENTINEL not in endpoint.client.get(f"/v1/records/{SENTINEL}", headers=endpoint.headers("reader")).text
    assert SENTINEL not in endpoint.client.get(f"/{SENTINEL}", headers=endpoint.headers("reader")).text


def await_events(caplog: pytest.LogCaptureFixture) -> None:
    """The event follows the answer, which does not wait for it."""
    ends_s = time.monotonic() + 60
    while not caplog.records and time.monotonic() < ends_s:
        time.sleep(0.01)


def test_the_audit_log_tells_apart_what_the_caller_cannot(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    causes = {"nothing": "unknown", HIDDEN_IDS[0]: "hidden", f"mail:{SENTINEL}_disabled": "disabled"}
    for record_id, cause in causes.items():
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="shortlist.audit"):
            response = endpoint.client.get(f"/v1/records/{record_id}", headers=endpoint.headers("reader"))
            await_events(caplog)
        events = [
            (record.message, record.__dict__["cause"], record.__dict__["request_id"]) for record in caplog.records
        ]
        assert events == [("not_visible", cause, response.headers["x-request-id"])]
        assert SENTINEL not in caplog.text


def test_metrics_hold_no_id_tenant_or_query(endpoint: Endpoint) -> None:
    endpoint.search(f"send {SENTINEL}")
    endpoint.client.get(f"/v1/records/{SENTINEL}", headers=endpoint.headers("reader"))
    endpoint.client.get(f"/{SENTINEL}", headers=endpoint.headers("reader"))
    text = endpoint.client.get("/metrics", headers=endpoint.headers("admin")).text
    assert SENTINEL not in text
    assert "acme" not in text
    assert 'route="unmatched"' in text


TENANTS: Final = ("acme", "globex", "initech", "umbrella")


def test_no_id_of_others_in_a_thousand_searches_as_twenty_principals(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    effects = ("read", "write", "destructive")
    records = [
        tool(
            f"{('*', *TENANTS)[n % 5].replace('*', 'shared')}:send_{n % 3}_{n}",
            f"Send message {n % 11} to channel {n % 13}",
            tenant=("*", *TENANTS)[n % 5],
            access={"side_effect": effects[n % 3], "permissions": [["read"], ["write"], ["admin"], []][n % 4]},
        )
        for n in range(600)
    ]
    held = {"reader": {"read"}, "writer": {"read", "write"}, "tenant_admin": {"read", "write", "admin"}}
    seen = 0
    with endpoint_over(tmp_path_factory.mktemp("home"), records, shards=3) as endpoint:
        by_id = {str(record["id"]): record["access"] for record in records}
        for tenant in TENANTS:
            for role, mode in (
                ("reader", "analyzer"), ("reader", "autonomous"), ("writer", "analyzer"), ("writer", "autonomous"),
                ("tenant_admin", "analyzer"),
            ):  # fmt: skip
                for number in range(50):
                    answer = endpoint.search(f"send message {number}", role=role, tenant=tenant, mode=mode, k=20).json()
                    for hit in answer["hits"]:
                        access = by_id[hit["id"]]
                        assert access["tenant"] in {tenant, "*"}  # type: ignore[index]
                        allowed = held[role] if access["tenant"] == tenant else {"read"}  # type: ignore[index]
                        assert set(access["permissions"]) <= allowed  # type: ignore[index]
                        assert mode == "autonomous" or access["side_effect"] == "read"  # type: ignore[index]
                        seen += 1
    assert seen > 10_000


@settings(max_examples=60)
@given(query=st.text(min_size=1, max_size=60), k=st.integers(1, 48))
def test_whatever_is_asked_nothing_hidden_comes_back(endpoint: Endpoint, query: str, k: int) -> None:
    response = endpoint.search(f"{query} email {SENTINEL.lower()}", k=k, pinned=list(HIDDEN_IDS[:1]), explain=True)
    assert response.status_code == 200
    shown = {hit["id"] for hit in response.json()["hits"]}
    assert not shown & set(HIDDEN_IDS)
