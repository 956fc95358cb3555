"""Writes over real HTTP: bulk, removal, disabling, grant lists; each is seen by the first search after its answer."""

import json

import httpx
import pytest

from serve_app.admin import MAX_BULK_BYTES
from serve_app.bulk import MAX_LINES, read_lines
from serve_app.problems import Refused
from tests.endpoint import Endpoint, tool


def put(endpoint: Endpoint, *lines: object, role: str = "writer", tenant: str = "acme") -> httpx.Response:
    """A bulk write; strings and bytes are sent as they are."""
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return endpoint.client.put("/v1/records", content=b"\n".join(raw), headers=endpoint.headers(role, tenant=tenant))


def found(endpoint: Endpoint, query: str, **body: object) -> list[str]:
    return [hit["id"] for hit in endpoint.search(query, **body).json()["hits"]]


def test_one_bad_line_is_refused_by_name_and_the_rest_is_written(fresh: Endpoint) -> None:
    response = put(
        fresh,
        tool("chat:post_message", "Post a message in a channel"),
        {"id": "chat:no_name", "namespace": "chat", "access": {"tenant": "acme"}},
        b"",
        b"{not json",
        tool("chat:leave", "Leave a channel", nonsense=1),
        b'{"id": "a", "id": "b"}',
        b"[]",
        tool("chat:no_tenant", access={"tenant": ""}),
        tool("chat:join", "Join a channel"),
    )
    assert response.status_code == 207
    report = response.json()
    assert (report["applied"], report["unchanged"], report["stale"], report["refused"]) == (2, 0, 0, 6)
    refused = [(line["line"], line["id"], line["field"]) for line in report["lines"] if line["outcome"] == "refused"]
    assert refused == [
        (2, "chat:no_name", "name"),
        (4, "", "line"),
        (5, "chat:leave", "nonsense"),
        (6, "", "line"),
        (7, "", "line"),
        (8, "chat:no_tenant", "access.tenant"),
    ]
    answer = fresh.search("post a message in a channel", min_seq=report["seq"]).json()
    assert [hit["id"] for hit in answer["hits"]] == ["chat:post_message", "chat:join"]


def test_a_bulk_write_that_is_taken_whole_says_so_and_again_changes_nothing(fresh: Endpoint) -> None:
    first, again = (put(fresh, tool("chat:join", "Join a channel")) for _ in range(2))
    assert (first.status_code, first.json()["applied"]) == (200, 1)
    assert (again.status_code, again.json()["unchanged"]) == (200, 1)
    assert again.json()["seq"] == first.json()["seq"]


def test_an_older_version_is_stale_and_named_with_the_stored_one(fresh: Endpoint) -> None:
    assert put(fresh, tool("chat:join", "Join", version=5)).status_code == 200
    response = put(fresh, tool("chat:join", "Join something else", version=4))
    assert response.status_code == 207
    assert response.json()["lines"] == [{"line": 1, "id": "chat:join", "outcome": "stale", "version": 5}]


@pytest.mark.parametrize("tenant", ["globex", "*"])
def test_a_writer_cannot_write_for_another_tenant_or_for_all(fresh: Endpoint, tenant: str) -> None:
    response = put(fresh, tool("chat:join", "Join a channel", tenant=tenant))
    assert response.status_code == 207
    assert response.json()["lines"][0]["field"] == "access.tenant"
    assert found(fresh, "join a channel") == []


def test_an_id_of_another_tenant_can_neither_be_taken_nor_changed(fresh: Endpoint) -> None:
    put(fresh, tool("chat:join", "Join a channel", tenant="globex"), tenant="globex")
    response = put(fresh, tool("chat:join", "Join everything"))
    assert response.json()["lines"][0] == {
        "line": 1,
        "id": "chat:join",
        "outcome": "refused",
        "field": "id",
        "allowed": "an id that is free, or belongs to the record's own tenant",
    }
    body = fresh.client.get("/v1/records/chat:join", headers=fresh.headers("reader", tenant="globex")).json()
    assert body["description"] == "Join a channel"


def test_a_removed_id_of_another_tenant_reads_like_one_that_is_there(fresh: Endpoint) -> None:
    for name in ("chat:join", "chat:leave"):
        put(fresh, tool(name, "Join a channel", version=7, tenant="globex"), tenant="globex")
    removal = fresh.client.delete("/v1/records/chat:leave", headers=fresh.headers("writer", tenant="globex"))
    assert removal.status_code == 200
    for version in ({}, {"version": 1}, {"version": 99}):
        there, removed = (put(fresh, tool(name, **version)).json()["lines"][0] for name in ("chat:join", "chat:leave"))
        assert removed == {**there, "id": "chat:leave"}
        assert removed["outcome"] == "refused"
    back = put(fresh, tool("chat:leave", "Leave a channel", tenant="globex"), tenant="globex")
    assert back.json()["lines"][0]["version"] == 9


def test_an_admin_writes_for_every_tenant(fresh: Endpoint) -> None:
    response = put(fresh, tool("chat:join", "Join a channel", tenant="*"), role="admin")
    assert response.status_code == 200
    assert found(fresh, "join a channel") == ["chat:join"]


@pytest.mark.parametrize("body", [b"", b"\n\n", b"\n".join([b"{}"] * (MAX_LINES + 1))])
def test_a_body_of_no_line_or_too_many_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match=r"1 to 10000 lines"):
        read_lines(body)


def test_a_bulk_body_has_a_limit(fresh: Endpoint) -> None:
    pieces = (b"\n" * 2**20 for _ in range(MAX_BULK_BYTES // 2**20 + 1))
    response = fresh.client.put("/v1/records", content=pieces, headers=fresh.headers("writer"))
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def test_a_stored_record_can_be_written_back(fresh: Endpoint) -> None:
    for record_id in ("mail:send_email", "kb:refunds"):
        stored = fresh.client.get(f"/v1/records/{record_id}", headers=fresh.headers("reader")).json()
        output_only = ("search_text_hash", "schema_version", "indexed_at", "version")
        back = {name: value for name, value in stored.items() if name not in output_only}
        assert put(fresh, back).json()["unchanged"] == 1


def test_a_record_id_may_hold_slashes_and_anything_a_url_can_carry(fresh: Endpoint) -> None:
    record_id = "aws/s3/Get Object?#%/disable é"
    put(fresh, tool(record_id, "Get an object", namespace="aws", name="GetObject"))
    path = "/v1/records/aws%2Fs3/Get%20Object%3F%23%25/disable%20%C3%A9"
    assert fresh.client.get(path, headers=fresh.headers("reader")).json()["id"] == record_id
    assert fresh.client.delete(path, headers=fresh.headers("writer")).json()["id"] == record_id


@pytest.mark.parametrize(("method", "suffix"), [("DELETE", ""), ("POST", "/disable")])
def test_a_removed_or_disabled_record_is_gone_from_the_next_search(fresh: Endpoint, method: str, suffix: str) -> None:
    assert "mail:send_email" in found(fresh, "send an email")
    response = fresh.client.request(method, f"/v1/records/mail:send_email{suffix}", headers=fresh.headers("writer"))
    receipt = response.json()
    assert (response.status_code, receipt["id"], receipt["outcome"]) == (200, "mail:send_email", "applied")
    assert "mail:send_email" not in found(fresh, "send an email", min_seq=receipt["seq"], pinned=["mail:send_email"])
    assert fresh.client.get("/v1/records/mail:send_email", headers=fresh.headers("reader")).status_code == 404


def test_whoever_may_write_a_disabled_record_can_still_enable_and_remove_it(fresh: Endpoint) -> None:
    writer = fresh.headers("writer")
    path = "/v1/records/mail:send_email"
    assert [fresh.client.post(f"{path}/disable", headers=writer).json()["outcome"] for _ in range(2)] == [
        "applied",
        "unchanged",
    ]
    put(fresh, tool("mail:send_email", "Send an email to a person"))
    assert "mail:send_email" in found(fresh, "send an email")
    fresh.client.post(f"{path}/disable", headers=writer)
    assert fresh.client.delete(path, headers=writer).status_code == 200
    assert fresh.client.delete(path, headers=writer).status_code == 404


def test_a_grant_list_narrows_follows_its_changes_and_admits_nothing_once_removed(fresh: Endpoint) -> None:
    manager = fresh.headers("tenant_admin")
    few = {"narrow": {"grant_list": "few"}}
    put_list = fresh.client.put("/v1/grants/few", json={"ids": ["kb:refunds", "mail:read_inbox"]}, headers=manager)
    assert put_list.json()["outcome"] == "applied"
    assert sorted(found(fresh, "send an email", **few)) == ["kb:refunds", "mail:read_inbox"]
    assert fresh.client.get("/v1/grants/few", headers=manager).json() == {
        "name": "few",
        "ids": ["kb:refunds", "mail:read_inbox"],
    }
    fresh.client.put("/v1/grants/few", json={"ids": ["mail:read_inbox"]}, headers=manager)
    assert found(fresh, "send an email", **few) == ["mail:read_inbox"]
    assert fresh.client.delete("/v1/grants/few", headers=manager).json()["outcome"] == "applied"
    gone = fresh.search("send an email", **few)
    assert (gone.status_code, gone.json()["code"]) == (422, "unknown_grant_list")
    assert fresh.client.get("/v1/grants/few", headers=manager).status_code == 404
    assert fresh.client.delete("/v1/grants/few", headers=manager).status_code == 404


def test_a_grant_list_admits_nothing_beyond_the_callers_own_scope(fresh: Endpoint) -> None:
    hidden = ["mail:SENTINEL_locked", "SENTINEL:send_email_0", "mail:send_email"]
    fresh.client.put("/v1/grants/wide", json={"ids": hidden}, headers=fresh.headers("tenant_admin"))
    assert found(fresh, "send an email", narrow={"grant_list": "wide"}) == ["mail:send_email"]


def test_an_empty_list_is_known_and_admits_nothing(fresh: Endpoint) -> None:
    fresh.client.put("/v1/grants/none", json={"ids": []}, headers=fresh.headers("tenant_admin"))
    answer = fresh.search("send an email", narrow={"grant_list": "none"}).json()
    assert answer["miss"]["reason"] == "nothing_authorized"


def test_a_list_of_another_tenant_is_an_unknown_one(fresh: Endpoint) -> None:
    ids = {"ids": ["files:list_files"]}
    fresh.client.put("/v1/grants/theirs", json=ids, headers=fresh.headers("tenant_admin", tenant="globex"))
    answers = [fresh.search("list files", narrow={"grant_list": name}) for name in ("theirs", "nobodys")]
    bodies = [answer.content.replace(answer.headers["x-request-id"].encode(), b"") for answer in answers]
    assert bodies[0] == bodies[1]
    assert fresh.client.get("/v1/grants/theirs", headers=fresh.headers("tenant_admin")).status_code == 404


@pytest.mark.parametrize("name", ["-x", "x" * 65, "a b", "a*"])
def test_a_grant_list_with_an_unusable_name_is_refused(fresh: Endpoint, name: str) -> None:
    response = fresh.client.put(f"/v1/grants/{name}", json={"ids": []}, headers=fresh.headers("tenant_admin"))
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "name")
    assert fresh.client.get(f"/v1/grants/{name}", headers=fresh.headers("tenant_admin")).status_code == 404


@pytest.mark.parametrize("body", [{"ids": "x"}, {"ids": [1]}, {}, {"ids": [], "more": 1}, {"ids": [""]}, []])
def test_an_unusable_grant_list_is_refused(fresh: Endpoint, body: object) -> None:
    response = fresh.client.put("/v1/grants/few", json=body, headers=fresh.headers("tenant_admin"))
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_grant_list_of_a_great_many_unknown_fields_is_refused_without_naming_each(fresh: Endpoint) -> None:
    body = {"ids": ["a"]} | {f"k{number}": 1 for number in range(100_000)}
    response = fresh.client.put("/v1/grants/few", json=body, headers=fresh.headers("tenant_admin"))
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["body"]


@pytest.mark.parametrize(("owner", "other"), [("acme", "*"), ("*", "acme"), ("acme", "globex")])
def test_not_even_an_admin_changes_the_owner_of_an_id(fresh: Endpoint, owner: str, other: str) -> None:
    put(fresh, tool("chat:join", "Join a channel", tenant=owner), role="admin")
    response = put(fresh, tool("chat:join", "Join everything", tenant=other), role="admin")
    assert response.status_code == 207
    line = response.json()["lines"][0]
    assert (line["outcome"], line["field"]) == ("refused", "id")
    assert "own tenant" in line["allowed"]
