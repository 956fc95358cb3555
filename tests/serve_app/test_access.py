"""Who may call which route: a table of answers, and the proof that no route is missing from it."""

import socket
from importlib.metadata import version
from typing import Final

import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from serve_app.access import ACCESS, Right
from serve_app.ingress import BY_HAND
from serve_app.rest import build_rest
from tests.endpoint import Endpoint

REQUESTS: Final[dict[tuple[str, str], tuple[str, bytes]]] = {
    ("GET", "/"): ("/", b""),
    ("GET", "/healthz"): ("/healthz", b""),
    ("GET", "/readyz"): ("/readyz", b""),
    ("GET", "/openapi.json"): ("/openapi.json", b""),
    ("POST", "/v1/search"): ("/v1/search", b'{"query": "email"}'),
    ("POST", "/v1/explain"): ("/v1/explain", b'{"query": "email", "id": "mail:send_email"}'),
    ("POST", "/v1/exports"): ("/v1/exports", b"{}"),
    ("POST", "/v1/duplicates"): ("/v1/duplicates", b'{"id": "mail:send_email"}'),
    ("PUT", "/v1/duplicates/{record_id:path}"): ("/v1/duplicates/nothing", b'{"canonical": "nothing"}'),
    ("DELETE", "/v1/duplicates/{record_id:path}"): ("/v1/duplicates/nothing", b""),
    ("POST", "/v1/answer"): ("/v1/answer", b'{"query": "email"}'),
    ("GET", "/v1/records/{record_id:path}"): ("/v1/records/mail:send_email", b""),
    ("PUT", "/v1/records"): ("/v1/records", b'{"id": "refused"}'),
    ("DELETE", "/v1/records/{record_id:path}"): ("/v1/records/nothing", b""),
    ("POST", "/v1/records/{record_id:path}/disable"): ("/v1/records/nothing/disable", b""),
    ("PUT", "/v1/grants/{name}"): ("/v1/grants/few", b'{"ids": []}'),
    ("GET", "/v1/grants/{name}"): ("/v1/grants/nothing", b""),
    ("DELETE", "/v1/grants/{name}"): ("/v1/grants/nothing", b""),
    ("GET", "/v1/status"): ("/v1/status", b""),
    ("GET", "/metrics"): ("/metrics", b""),
}
"""One harmless request for each row of the access table."""

# What each right answers to: no token, an expired one, other tenant's reader, reader, writer, tenant_admin, admin.
CALLERS: Final = ("none", "expired", "other", "reader", "writer", "tenant_admin", "admin")
ANSWERS: Final = {
    Right.ANYONE: (True,) * 7,
    Right.CALLER: (401, 401, True, True, True, True, True),
    Right.WRITER: (401, 401, 403, 403, True, True, True),
    Right.LIST_MANAGER: (401, 401, 403, 403, 403, True, True),
    Right.OPERATOR: (401, 401, 403, 403, 403, 403, True),
}


def _headers(endpoint: Endpoint, caller: str) -> dict[str, str]:
    match caller:
        case "none":
            return {}
        case "expired":
            return endpoint.headers("admin", ttl_s=-1)
        case "other":
            return endpoint.headers("reader", tenant="globex")
        case role:
            return endpoint.headers(role)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("row", REQUESTS, ids=" ".join)
def test_each_route_answers_each_caller_as_its_right_says(
    endpoint: Endpoint, row: tuple[str, str], caller: str
) -> None:
    path, body = REQUESTS[row]
    response = endpoint.client.request(row[0], path, content=body, headers=_headers(endpoint, caller))
    expected = ANSWERS[ACCESS[row]][CALLERS.index(caller)]
    if expected is True:
        assert response.status_code not in {401, 403, 405, 500}
    else:
        assert response.status_code == expected
        assert response.json()["code"] == {401: "unauthenticated", 403: "forbidden"}[int(expected)]


def test_every_route_has_a_row_and_every_row_a_route_and_a_request(endpoint: Endpoint) -> None:
    routes = {row for route in build_rest(endpoint.services).routes for row in _rows(route)}
    routes |= {("POST", path) for path in BY_HAND}
    assert routes == set(ACCESS) == set(REQUESTS)


def _rows(route: BaseRoute) -> set[tuple[str, str]]:
    # Anything that is no APIRoute (a mount, FastAPI's own pages) would not pass through the access check.
    assert isinstance(route, APIRoute), route
    return {(method, route.path) for method in route.methods}


def test_a_route_without_a_row_stays_closed(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ACCESS, ("GET", "/v1/status"))
    assert endpoint.client.get("/v1/status", headers=endpoint.headers("admin")).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "//", "/v1", "/v1/", "//v1/search", "/v1//search", "/V1/SEARCH", "/v1/search/", "/v1/search;x",
        "/v1/search.", "/v1/search%2f", "/v1/%2e%2e/v1/search", "/healthz/..%2fv1/status", "/healthz/", "//healthz",
        "/HEALTHZ", "/docs", "/redoc", "/openapi.json/", "/-/routes", "/-/healthz", "/metrics/", "/metrics%2f",
        "/v1/status;.json", "/api/jobs/",
    ],
)  # fmt: skip
def test_a_path_that_is_no_route_is_closed_without_a_credential_and_unknown_with_one(
    endpoint: Endpoint, path: str
) -> None:
    # Raw, because a client library would normalise the path.
    assert _status_line(endpoint, path, {}) == 401
    assert _status_line(endpoint, path, endpoint.headers("admin")) == 404


def _status_line(endpoint: Endpoint, path: str, headers: dict[str, str]) -> int:
    url = endpoint.client.base_url
    lines = [
        f"GET {path} HTTP/1.1",
        f"host: {url.host}",
        "connection: close",
        *(f"{k}: {v}" for k, v in headers.items()),
    ]
    with socket.create_connection((url.host, url.port or 0), timeout=5) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(connection.recv(64).split()[1])


@pytest.mark.parametrize("header", ["x-tenant-id", "x-forwarded-user", "x-forwarded-for", "forwarded", "x-role"])
def test_headers_of_proxies_give_no_right(endpoint: Endpoint, header: str) -> None:
    spoofed = {header: "admin"}
    assert endpoint.client.get("/v1/status", headers=spoofed).status_code == 401
    assert endpoint.client.get("/v1/status", headers=endpoint.headers("reader") | spoofed).status_code == 403
    foreign = endpoint.headers("reader", tenant="globex") | {header: "acme"}
    assert endpoint.client.get("/v1/records/mail:send_email", headers=foreign).status_code == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_a_question_by_another_method_is_refused_with_the_methods_allowed(endpoint: Endpoint, method: str) -> None:
    response = endpoint.client.request(method, "/v1/search", headers=endpoint.headers("reader"))
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert response.json()["code"] == "method_not_allowed"


def test_the_methods_allowed_are_all_those_of_the_path(endpoint: Endpoint) -> None:
    response = endpoint.client.patch("/v1/records/x", headers=endpoint.headers("admin"))
    assert (response.status_code, response.headers["allow"]) == (405, "DELETE, GET")


def test_the_root_says_what_answers_and_where_it_says_more(endpoint: Endpoint) -> None:
    said = endpoint.client.get("/").json()
    assert said == {
        "name": "Shortlist",
        "version": version("shortlist"),
        "openapi": "/openapi.json",
        "readyz": "/readyz",
    }
    assert endpoint.client.get(said["openapi"]).json()["info"]["version"] == said["version"]
    assert endpoint.client.get(said["readyz"]).status_code == 200


def test_a_401_says_invalid_token_only_where_a_bearer_credential_was_sent(endpoint: Endpoint) -> None:
    missing = 'Bearer realm="shortlist"'
    bad = f'{missing}, error="invalid_token"'
    bodies = set()
    for sent, challenge in (
        (None, missing),
        ("Basic YTpi", missing),
        ("Bearer nonsense", bad),
        (endpoint.headers("reader", ttl_s=-60)["authorization"], bad),
        (f"Bearer {endpoint.token('reader')[:-4]}AAAA", bad),
    ):
        response = endpoint.client.get("/v1/status", headers={} if sent is None else {"authorization": sent})
        assert (response.status_code, response.headers["www-authenticate"]) == (401, challenge)
        bodies.add(response.text.replace(response.headers["x-request-id"], ""))
    assert len(bodies) == 1
