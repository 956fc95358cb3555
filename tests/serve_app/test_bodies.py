"""Bodies as hostile callers send them: each gets a typed answer, and none is read before its caller is known."""

import json
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.config import Settings
from serve_app.problems import Code
from tests.endpoint import PATIENCE_MS, Endpoint, served, services_over

GOOD: Final = b'{"query": "send an email"}'

BAD_JSON: Final = {
    "empty": b"",
    "not json": b"query=email",
    "not utf-8": b'{"query": "\xff"}',
    "utf-16": '{"query": "email"}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "lone surrogate escape": b'{"query": "\\ud800"}',
    "encoded surrogate": b'{"query": "\xed\xa0\x80"}',
    "two values": GOOD + GOOD,
    "trailing comma": b'{"query": "a",}',
    "comment": b'{"query": "a"} // x',
    "5,000 digits": b'{"query": "a", "k": ' + b"9" * 5000 + b"}",
    "nesting 1,000": b'{"query": "a", "narrow": ' + b"[" * 1000 + b"]" * 1000 + b"}",
    "nesting 100,000": b'{"query": ' + b'{"a":' * 40_000 + b"1" + b"}" * 40_000 + b"}",
    "infinity": b'{"query": "a", "k": Infinity',
    "repeated key": b'{"query": "a", "query": "b"}',
    "repeated inner key": b'{"query": "a", "narrow": {"ids": "a", "ids": "b"}}',
    "repeated escaped key": b'{"query": "a", "quer\\u0079": "b"}',
    "control character": b'{"query": "a\x01"}',
}


@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
@pytest.mark.parametrize("path", ["/v1/search", "/v1/explain"])
def test_what_is_not_one_json_value_is_an_invalid_body(endpoint: Endpoint, path: str, body: bytes) -> None:
    if path == "/v1/explain" and b"repeated" not in body:
        body = body.replace(b'"query"', b'"id": "x", "query"', 1)
    began_s = time.process_time()
    response = endpoint.client.post(path, content=body, headers=endpoint.headers("reader"))
    assert (response.status_code, response.json()["code"]) == (400, "invalid_body")
    assert response.headers["content-type"] == "application/problem+json"
    assert time.process_time() - began_s < 1


@pytest.mark.parametrize("body", [b"null", b"[]", b'"query"', b"1", b"true", b'{"query": NaN}', b'{"query": 1e309}'])
def test_json_that_is_no_question_names_the_field(endpoint: Endpoint, body: bytes) -> None:
    response = endpoint.client.post("/v1/search", content=body, headers=endpoint.headers("reader"))
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert response.json()["errors"][0]["field"] in {"body", "query"}


def test_a_body_above_the_limit_is_refused_by_its_header_and_by_its_bytes(endpoint: Endpoint) -> None:
    limit = endpoint.services.settings.http.max_body_bytes
    for content in (b" " * (limit + 1), iter([b" " * limit, b" "])):
        response = endpoint.client.post("/v1/search", content=content, headers=endpoint.headers("reader"))
        assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    fits = GOOD + b" " * (limit - len(GOOD))
    assert endpoint.client.post("/v1/search", content=fits, headers=endpoint.headers("reader")).status_code == 200


def test_a_body_in_many_pieces_is_one_body(endpoint: Endpoint) -> None:
    pieces = (GOOD[at : at + 1] for at in range(len(GOOD)))
    assert endpoint.client.post("/v1/search", content=pieces, headers=endpoint.headers("reader")).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "GZIP", "identity, gzip"])
def test_a_compressed_body_is_refused_unread(endpoint: Endpoint, encoding: str) -> None:
    headers = endpoint.headers("reader") | {"content-encoding": encoding}
    response = endpoint.client.post("/v1/search", content=GOOD, headers=headers)
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_encoding")


def _send_head_only(endpoint: Endpoint, headers: dict[str, str], path: str = "/v1/search") -> tuple[int, float]:
    """Status and seconds of a request whose body is announced and never sent.

    The endpoint of the other tests would wait for that body for longer than this waits for an answer.
    """
    url = endpoint.client.base_url
    lines = [f"POST {path} HTTP/1.1", f"host: {url.host}", *(f"{name}: {value}" for name, value in headers.items())]
    started_s = time.monotonic()
    with closing(socket.create_connection((url.host, url.port or 0), timeout=PATIENCE_MS / 2000)) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(connection.recv(64).split()[1]), time.monotonic() - started_s


def test_without_a_credential_not_a_byte_of_the_body_is_waited_for(endpoint: Endpoint) -> None:
    for path in ("/v1/search", "/v1/explain", "/v1/records/x/disable", "/nothing"):
        assert _send_head_only(endpoint, {"content-length": "1000"}, path)[0] == 401


def test_a_body_announced_too_large_is_refused_before_it_comes(endpoint: Endpoint) -> None:
    status, _ = _send_head_only(endpoint, endpoint.headers("reader") | {"content-length": "99999999"})
    assert status == 413


def test_a_body_that_does_not_come_ends_with_the_time_budget(tmp_path: Path) -> None:
    with served(services_over(tmp_path, [], settings=Settings(home=tmp_path))) as hasty:
        status, seconds = _send_head_only(hasty, hasty.headers("reader") | {"content-length": "1000"})
    assert status == 408
    assert seconds > 0.7


def test_a_caller_who_leaves_early_harms_nobody(endpoint: Endpoint) -> None:
    url = endpoint.client.base_url
    for _ in range(5):
        with closing(socket.create_connection((url.host, url.port or 0), timeout=5)) as connection:
            token = endpoint.headers("reader")["authorization"]
            head = f"POST /v1/search HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\ncontent-length: 50\r\n\r\n{{"
            connection.sendall(head.encode())
    assert endpoint.search("email").status_code == 200


JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NARROW: Final = (
    "kinds",
    "namespaces",
    "products",
    "locales",
    "releases",
    "domains",
    "capabilities",
    "ids",
    "grant_list",
)
BUDGET: Final = ("candidate_k", "rerank_k", "evidence_k", "evidence_tokens", "evidence_bytes", "timeout_ms")
NUMBERS: Final = st.integers(-2, 130) | st.sampled_from([0, 10**20, -(10**20), 1.5, None, "9", True])
STRINGS: Final = st.text(max_size=6) | st.sampled_from(["tool", "passage", "mail", "ma*", "*", "kb:refunds", ""])
ALMOST_QUESTIONS: Final = st.fixed_dictionaries(
    {"query": st.text(max_size=30) | st.just("send an email")},
    optional={
        "k": NUMBERS,
        "budget": st.dictionaries(st.sampled_from(BUDGET), NUMBERS, max_size=3) | JSON_VALUES,
        "narrow": st.dictionaries(
            st.sampled_from(NARROW), STRINGS | st.lists(STRINGS, max_size=3) | JSON_VALUES, max_size=3
        ),
        "pinned": st.lists(STRINGS, max_size=4) | JSON_VALUES,
        "preferred": st.lists(STRINGS, max_size=4),
        "min_seq": NUMBERS,
        "explain": st.booleans() | JSON_VALUES,
        "surprise": JSON_VALUES,
    },
)


def _check_answer(endpoint: Endpoint, path: str, body: bytes) -> None:
    response = endpoint.client.post(path, content=body, headers=endpoint.headers("reader"))
    if response.status_code == 200:
        answer = response.json()
        if path == "/v1/search":
            assert (answer["miss"] is None) == (answer["kind"] == "hits") == bool(answer["hits"])
            for spent, ceiling in (
                ("candidates", "candidate_k"),
                ("reranked", "rerank_k"),
                ("evidence", "evidence_k"),
                ("evidence_tokens", "evidence_tokens"),
                ("evidence_bytes", "evidence_bytes"),
            ):
                assert answer["spent"][spent] <= answer["budget"][ceiling]
            assert answer["budget"]["candidate_k"] <= 100
            assert answer["budget"]["timeout_ms"] <= PATIENCE_MS
            assert answer["timings_ms"]["total"] <= 850
        return
    assert response.status_code in {400, 404, 422}, response.text
    assert response.json()["code"] in set(Code) - {Code.INTERNAL}


@settings(max_examples=200)
@given(body=ALMOST_QUESTIONS)
def test_any_almost_good_search_gets_a_typed_answer_within_its_ceilings(
    endpoint: Endpoint, body: dict[str, object]
) -> None:
    _check_answer(endpoint, "/v1/search", json.dumps(body).encode())


@settings(max_examples=60)
@given(body=ALMOST_QUESTIONS, record_id=st.sampled_from(["kb:refunds", "mail:send_email", "x"]) | JSON_VALUES)
def test_any_almost_good_explanation_gets_a_typed_answer(
    endpoint: Endpoint, body: dict[str, object], record_id: object
) -> None:
    asked = {field: value for field, value in body.items() if field not in {"pinned", "preferred", "explain"}}
    _check_answer(endpoint, "/v1/explain", json.dumps({**asked, "id": record_id}).encode())


@settings(max_examples=150)
@given(body=st.binary(max_size=80) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_get_a_typed_answer(endpoint: Endpoint, body: bytes) -> None:
    _check_answer(endpoint, "/v1/search", body)


@settings(max_examples=60)
@given(cut=st.integers(0, len(GOOD)), at=st.integers(0, len(GOOD)), inserted=st.binary(max_size=3))
def test_any_damaged_body_gets_a_typed_answer(endpoint: Endpoint, cut: int, at: int, inserted: bytes) -> None:
    _check_answer(endpoint, "/v1/search", GOOD[:at] + inserted + GOOD[cut:])
