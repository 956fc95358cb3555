"""``POST /v1/search`` over real HTTP: answers, misses, narrowing, budgets, and what a caller cannot change."""

import re
from typing import Final

import httpx
import pytest

from serve_app.haproxy import ARRIVAL_HEADER
from tests.endpoint import PATIENCE_MS, Endpoint, endpoint_over, tool

LIMITS: Final = {
    "candidate_k": 100,
    "rerank_k": 100,
    "evidence_k": 10,
    "evidence_tokens": 2400,
    "evidence_bytes": 131072,
    "timeout_ms": PATIENCE_MS,
}


def ids(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [hit["id"] for hit in response.json()["hits"]]


def test_an_answer_has_hits_budget_coverage_plan_and_proof(endpoint: Endpoint) -> None:
    answer = endpoint.search("send an email to my colleague").json()
    first = answer["hits"][0]
    assert list(answer) == [
        "request_id", "kind", "hits", "miss", "plan", "budget", "spent", "coverage", "truncated", "exact",
        "doubt", "narrower_try", "vectors", "adaptive_k", "flags", "index_position", "ranker", "tokens_by",
        "timings_ms",
    ]  # fmt: skip
    assert (answer["kind"], answer["miss"], answer["exact"], answer["truncated"]) == ("hits", None, True, False)
    assert (first["rank"], first["id"], first["form"]) == (1, "mail:send_email", "full")
    assert (answer["doubt"], answer["vectors"]) == (None, {"state": "off", "embedder": "", "missing": 0})
    assert first["record"]["parameters"] == {"properties": {"to": {}}, "type": "object"}
    assert answer["budget"] == LIMITS
    assert answer["spent"]["evidence_tokens"] == sum(hit["tokens"] for hit in answer["hits"])
    # acme's reader in mode analyzer sees 5 of the 6 seen records: delete_email is destructive.
    assert answer["coverage"] == {
        "full": True, "searched": 5, "authorized": 5, "buckets_searched": 1024, "buckets": 1024, "gaps": [],
    }  # fmt: skip
    assert set(answer["plan"]) == {"delivery", "reason"}


def test_a_passage_is_evidence_with_title_text_and_source(endpoint: Endpoint) -> None:
    response = endpoint.search("how do refunds work", narrow={"kinds": "passage"})
    record = response.json()["hits"][0]["record"]
    assert (record["title"], record["section"]) == ("How refunds work", "Billing")
    assert record["text"].startswith("Refunds are paid")
    assert "parameters" not in record
    assert "name" not in record
    # Passages only: the budget of passages.
    assert response.json()["budget"] == {**LIMITS, "candidate_k": 40, "rerank_k": 12, "evidence_k": 4}


@pytest.mark.parametrize("query", ["hello", "سلام", "!!!", " ", "\u0000", "𝔷𝔷𝔷"])
def test_small_talk_is_a_typed_miss_and_no_error(endpoint: Endpoint, query: str) -> None:
    response = endpoint.search(query)
    assert response.status_code == 200
    answer = response.json()
    assert (answer["kind"], answer["hits"], answer["plan"]) == ("miss", [], None)
    assert answer["miss"]["reason"] == "no_match"
    assert answer["miss"]["advice"]


def test_a_caller_with_an_empty_authorized_set_gets_a_typed_miss(endpoint: Endpoint) -> None:
    answer = endpoint.search("send an email", role="no_such_role").json()
    assert answer["miss"]["reason"] == "nothing_authorized"
    assert answer["coverage"]["authorized"] == 0


def test_a_narrowing_that_leaves_nothing_is_a_miss_and_not_the_whole_scope(endpoint: Endpoint) -> None:
    assert endpoint.search("email", narrow={"ids": ["nothing"]}).json()["miss"]["reason"] == "nothing_authorized"


@pytest.mark.parametrize(
    ("narrow", "expected"),
    [
        ({"kinds": "passage"}, ["kb:refunds"]),
        ({"kinds": ["passage", "tool"]}, ["mail:send_email", "kb:refunds", "mail:read_inbox"]),
        ({"namespaces": "kb"}, ["kb:refunds"]),
        ({"namespaces": ["ma*"]}, ["mail:send_email", "mail:read_inbox"]),
        ({"capabilities": "mail"}, ["mail:read_inbox"]),
        ({"ids": ["mail:read_inbox", "kb:refunds"]}, ["kb:refunds", "mail:read_inbox"]),
    ],
)
def test_narrowing_filters_and_the_query_still_ranks(
    endpoint: Endpoint, narrow: dict[str, object], expected: list[str]
) -> None:
    assert sorted(ids(endpoint.search("send an email", narrow=narrow))) == sorted(expected)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("products", "suite", "calendar:create_event"),
        ("locales", "en", "calendar:create_event"),
        ("domains", ["office", "other"], "calendar:create_event"),
        ("releases", "v2", "files:list_files"),
    ],
)
def test_each_narrowing_field_matches_its_field_of_the_record(
    endpoint: Endpoint, field: str, value: object, expected: str
) -> None:
    assert ids(endpoint.search("create an event in a calendar, list files", narrow={field: value})) == [expected]


BAD_FIELDS: Final = [
    ({"narrow": {"namespace": "mail"}}, "narrow.namespace", "only the fields kinds, namespaces"),
    ({"narrow": {"kinds": "tools"}}, "narrow.kinds[0]", "'tool' or 'passage'"),
    ({"narrow": {"kinds": []}}, "narrow.kinds", "at least 1 entries"),
    ({"narrow": {"ids": None}}, "narrow.ids", "leave the field out"),
    ({"narrow": {"ids": [1]}}, "narrow.ids[0]", "a valid string"),
    ({"narrow": {"ids": {"mail:send_email": True}}}, "narrow.ids", "a list"),
    ({"narrow": {"namespaces": "m*l"}}, "narrow.namespaces[0]", "ends in *"),
    ({"narrow": {"grant_list": "../x"}}, "narrow.grant_list", "matches"),
    ({"narrow": {"grant_list": ["a"]}}, "narrow.grant_list", "a valid string"),
    ({"narrow": ["mail"]}, "narrow", "an object with the fields kinds"),
    ({"tenant": "globex"}, "tenant", "only the fields query, k"),
    ({"principal": {"roles": ["admin"]}}, "principal", "only the fields"),
    ({"k": 0}, "k", "an integer from 1 to 48"),
    ({"k": 49}, "k", "an integer from 1 to 48"),
    ({"k": 5.5}, "k", "a valid integer"),
    ({"k": "5"}, "k", "a valid integer"),
    ({"k": True}, "k", "a valid integer"),
    ({"k": -1}, "k", "an integer from 1 to 48"),
    ({"k": 10**30}, "k", "an integer from 1 to 48"),
    ({"k": 13, "narrow": {"kinds": "passage"}}, "k", "an integer from 1 to 12"),
    ({"budget": {"timeout_ms": PATIENCE_MS + 1}}, "budget.timeout_ms", f"an integer from 1 to {PATIENCE_MS}"),
    ({"budget": {"timeout_ms": 0}}, "budget.timeout_ms", f"an integer from 1 to {PATIENCE_MS}"),
    ({"budget": {"candidate_k": 101}}, "budget.candidate_k", "an integer from 1 to 100"),
    ({"budget": {"rerank_k": 101}}, "budget.rerank_k", "an integer from 1 to 100"),
    ({"budget": {"evidence_k": 11}}, "budget.evidence_k", "an integer from 1 to 10"),
    ({"budget": {"evidence_tokens": 2401}}, "budget.evidence_tokens", "an integer from 1 to 2400"),
    ({"budget": {"seconds": 1}}, "budget.seconds", "only the fields candidate_k"),
    ({"min_seq": -1}, "min_seq", "an integer of at least 0"),
    ({"min_seq": 2**63}, "min_seq", "an integer of at most"),
    ({"query": ""}, "query", "at least 1 characters"),
    ({"query": "x" * 4097}, "query", "at most 4096 characters"),
    ({"query": None}, "query", "a valid string"),
    ({"pinned": ["a", "b"], "k": 1}, "pinned", "at most 1 ids"),
    ({"pinned": [""]}, "pinned[0]", "at least 1 characters"),
    ({"preferred": "mail"}, "preferred", "a list"),
    ({"explain": "yes"}, "explain", "a valid boolean"),
]


@pytest.mark.parametrize(("extra", "field", "allowed"), BAD_FIELDS)
def test_an_unknown_or_unusable_field_is_an_error_that_names_it_and_what_is_allowed(
    endpoint: Endpoint, extra: dict[str, object], field: str, allowed: str
) -> None:
    response = endpoint.post("/v1/search", {"query": "email", **extra})
    assert response.status_code == 422
    problem = response.json()
    assert problem["code"] == "invalid_request"
    assert [error["field"] for error in problem["errors"]] == [field]
    assert allowed in problem["errors"][0]["allowed"]


def test_k_goes_up_to_the_ceiling_of_the_callers_mode(tmp_path_factory: pytest.TempPathFactory) -> None:
    many = [tool(f"mail:t{number:03}", "Send an email") for number in range(140)]
    with endpoint_over(tmp_path_factory.mktemp("home"), many) as endpoint:
        assert len(ids(endpoint.search("email", k=48))) == 48
        assert len(ids(endpoint.search("email"))) == 10
        most = endpoint.search("email", k=128, mode="autonomous").json()
        assert most["budget"] == {**LIMITS, "candidate_k": 128, "rerank_k": 128, "evidence_k": 128}
        assert (most["spent"]["reranked"], most["spent"]["evidence"] + most["spent"]["dropped"]) == (128, 128)
        assert most["exact"]
        assert most["hits"][:10] == endpoint.search("email", mode="autonomous").json()["hits"]
        lowered = endpoint.search("email", k=128, mode="autonomous", budget={"rerank_k": 60}).json()
        assert (lowered["budget"]["rerank_k"], lowered["budget"]["evidence_k"]) == (60, 60)
        for mode, beyond in (("analyzer", 49), ("autonomous", 129)):
            assert endpoint.search("email", k=beyond, mode=mode).json()["errors"] == [
                {"field": "k", "allowed": f"an integer from 1 to {beyond - 1}"}
            ]
        few = endpoint.search("email", k=20).json()
        assert (few["spent"]["matched"], few["truncated"], few["spent"]["evidence"]) == (140, True, 20)


def test_a_lowered_budget_binds_and_is_reported_beside_what_was_spent(endpoint: Endpoint) -> None:
    lower = {
        "candidate_k": 2,
        "rerank_k": 2,
        "evidence_k": 1,
        "evidence_tokens": 200,
        "evidence_bytes": 900,
        "timeout_ms": PATIENCE_MS // 2,
    }
    answer = endpoint.search("send an email", budget=lower).json()
    assert answer["budget"] == lower
    assert all(answer["spent"][name] <= lower[ceiling] for name, ceiling in SPENT_UNDER)


SPENT_UNDER: Final = (
    ("candidates", "candidate_k"),
    ("reranked", "rerank_k"),
    ("evidence", "evidence_k"),
    ("evidence_tokens", "evidence_tokens"),
    ("evidence_bytes", "evidence_bytes"),
)


@pytest.mark.parametrize(
    "headers",
    [
        *({"x-request-timeout-seconds": value} for value in ("30", "0", "-1", "nan", "inf")),
        {"x-request-disconnect-disabled": "?1"},
        {"serve_multiplexed_model_id": "x"},
        {"x-session-id": "x"},
        {"grpc-timeout": "99S"},
        {"timeout-ms": "60000", "x-shortlist-budget": "candidate_k=9999"},
        *({ARRIVAL_HEADER: stamp} for stamp in ("9" * 16, "-1", "1e309", "")),
    ],
)
def test_no_header_changes_an_answer(endpoint: Endpoint, headers: dict[str, str]) -> None:
    send = {"json": {"query": "send an email"}}
    plain = endpoint.client.post("/v1/search", headers=endpoint.headers("reader"), **send)
    other = endpoint.client.post("/v1/search?timeout_ms=9&k=1", headers=endpoint.headers("reader") | headers, **send)
    assert steady(plain) == steady(other)


def test_the_same_question_gives_the_same_bytes(endpoint: Endpoint) -> None:
    bodies = {steady(endpoint.search("send an email", pinned=["kb:refunds"], explain=True)) for _ in range(10)}
    assert len(bodies) == 1


def test_shard_count_and_order_of_writes_change_no_byte(tmp_path_factory: pytest.TempPathFactory) -> None:
    records = [tool(f"mail:t{number % 7}_{number}", f"Send email number {number % 3}") for number in range(60)]
    bodies = set()
    for shards, order in ((1, records), (2, records[::-1]), (5, records[20:] + records[:20])):
        with endpoint_over(tmp_path_factory.mktemp("home"), order, shards=shards) as endpoint:
            bodies.add(steady(endpoint.search("send email number 2", k=20, explain=True), position=False))
    assert len(bodies) == 1


def steady(response: httpx.Response, *, position: bool = True) -> bytes:
    """The bytes of an answer without request id and timings, and without the opaque index position on demand."""
    assert response.status_code == 200, response.text
    body = re.sub(rb'"request_id":"[^"]*"', b"", response.content)
    body = re.sub(rb'"timings_ms":\{[^}]*\}', b"", body)
    return body if position else re.sub(rb'"index_position":"[^"]*"', b"", body)


def test_pinned_records_are_in_the_answer_and_marked_if_authorized(endpoint: Endpoint) -> None:
    answer = endpoint.search("send an email", pinned=["files:list_files", "mail:SENTINEL_locked", "nothing"]).json()
    assert [hit["id"] for hit in answer["hits"] if hit["pinned"]] == ["files:list_files"]


def test_parts_are_shown_on_demand_and_add_up_to_the_score(endpoint: Endpoint) -> None:
    hit = endpoint.search("send an email", explain=True).json()["hits"][0]
    assert sum(part["score"] for part in hit["parts"]) + hit["bonus"] == hit["score"]
    assert "parts" not in endpoint.search("send an email").json()["hits"][0]


def test_a_change_that_is_not_there_yet_is_reported_as_not_searched(endpoint: Endpoint) -> None:
    answer = endpoint.search("send an email", min_seq=10**9).json()
    assert (answer["kind"], answer["coverage"]["full"], answer["exact"]) == ("miss", False, False)
    assert answer["coverage"]["gaps"] == ["behind"]


@pytest.mark.parametrize("given", ["abc-DEF_1.2", "x" * 64])
def test_a_sane_request_id_is_kept_in_header_and_body(endpoint: Endpoint, given: str) -> None:
    response = _search_with_id(endpoint, given)
    assert response.headers["x-request-id"] == response.json()["request_id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a/b", 'a"b', "é"])
def test_any_other_request_id_is_replaced(endpoint: Endpoint, given: str) -> None:
    response = _search_with_id(endpoint, given)
    assert response.headers["x-request-id"] == response.json()["request_id"] != given


def _search_with_id(endpoint: Endpoint, request_id: str) -> httpx.Response:
    headers = {name: value.encode() for name, value in endpoint.headers("reader").items()}
    headers["x-request-id"] = request_id.encode("latin-1")
    return endpoint.client.post("/v1/search", json={"query": "email"}, headers=headers)


def test_no_answer_may_be_kept_by_a_cache_on_the_way(endpoint: Endpoint) -> None:
    assert endpoint.search("email").headers["cache-control"] == "no-store"
    assert (
        endpoint.client.get("/v1/records/mail:send_email", headers=endpoint.headers("reader")).headers["cache-control"]
        == "no-store"
    )


def test_small_talk_is_a_miss_whose_numbers_an_explanation_shows(endpoint: Endpoint) -> None:
    answer = endpoint.search("hello, how are you?", explain=True).json()
    assert (answer["kind"], answer["miss"]["reason"], answer["adaptive_k"]) == ("miss", "no_match", None)
    talk = answer["talk"]
    assert talk["abstained"]
    assert talk["words"] == 1024
    assert talk["score"] < talk["threshold"]
    assert "talk" not in endpoint.search("hello, how are you?").json()
