"""``POST /v1/exports`` and ``shortlist export``: who gets what, page by page, and which refusals look alike."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from click.testing import CliRunner

from cluster.export_store import ExportStore
from cluster.local import LocalCluster
from cluster.registry import Registry
from cluster.settings.exports import ExportSettings
from serve_app.audit import EVENTS, JsonLines
from serve_app.cli.main import cli
from serve_app.record_wire import parse_record
from shards.record import Status
from tests.endpoint import SENTINEL, Endpoint, endpoint_over, served, services_of, settings_in, tool
from tests.serve_app.catalogue import CATALOGUE, HIDDEN, SEEN

# In mode ``analyzer`` a reader sees what reads only.
VISIBLE = sorted(
    str(record["id"]) for record in SEEN if record.get("access", {}).get("side_effect", "read") == "read"  # type: ignore[attr-defined]
)  # fmt: skip


def export(endpoint: Endpoint, **body: object) -> httpx.Response:
    return endpoint.post("/v1/exports", body)


def pages(endpoint: Endpoint, **body: object) -> Iterator[dict[str, object]]:
    page = export(endpoint, **body).json()
    yield page
    while page["cursor"]:
        page = export(endpoint, cursor=page["cursor"]).json()
        yield page


def ids_of(*found: dict[str, object]) -> list[str]:
    return [record["id"] for page in found for record in page["records"]]  # type: ignore[attr-defined]


def same(response: httpx.Response) -> bytes:
    return response.content.replace(response.headers["x-request-id"].encode(), b"")


def test_an_export_has_all_that_the_caller_sees_whole_and_by_id_and_nothing_else(endpoint: Endpoint) -> None:
    page = export(endpoint).json()
    assert ids_of(page) == VISIBLE
    assert (page["total"], page["start"], page["end"], page["cursor"]) == (len(VISIBLE), 0, len(VISIBLE), None)
    single = endpoint.client.get("/v1/records/mail:send_email", headers=endpoint.headers("reader")).json()
    assert [one for one in page["records"] if one["id"] == "mail:send_email"] == [{**single, "changed": False}]
    assert SENTINEL not in orjson.dumps(page).decode()


def test_pages_narrowed_or_by_words_are_those_of_the_whole(endpoint: Endpoint) -> None:
    by_twos = list(pages(endpoint, page_size=2))
    assert ids_of(*by_twos) == VISIBLE
    assert ids_of(export(endpoint, narrow={"namespaces": "mail"}).json()) == ["mail:read_inbox", "mail:send_email"]
    assert ids_of(export(endpoint, query="refunds").json()) == ["kb:refunds"]
    assert ids_of(export(endpoint, query="zzzz").json()) == []
    searched = endpoint.search("send an email").json()
    assert export(endpoint, query="send an email").json()["total"] == searched["spent"]["matched"]


def test_hidden_records_change_nothing_in_an_export(endpoint: Endpoint, tmp_path: Path) -> None:
    with endpoint_over(tmp_path, SEEN, shards=3) as alone:
        for body in ({}, {"query": "send an email"}, {"narrow": {"namespaces": "mail*"}}, {"page_size": 2}):
            with_hidden, without = (export(one, **body).json() for one in (endpoint, alone))
            for page in (with_hidden, without):
                for field in ("request_id", "index_position", "expires_at"):
                    del page[field]
                page["cursor"] = page["cursor"] is not None
                for record in page["records"]:
                    del record["indexed_at"]
            assert with_hidden == without, body
    assert len(HIDDEN) > 0


def test_what_is_withdrawn_before_its_page_is_read_is_not_handed_out(fresh: Endpoint) -> None:
    cursor = export(fresh, page_size=1).json()["cursor"]
    control = fresh.services.control
    stored = asyncio.run(control.record("mail:send_email"))
    assert stored is not None
    closed = tool("mail:send_email", f"Closed {SENTINEL}", access={"permissions": ["admin"]})
    asyncio.run(control.upsert([parse_record(closed)]))
    asyncio.run(control.set_status("kb:refunds", Status.DISABLED))
    asyncio.run(control.remove("files:list_files"))
    asyncio.run(control.upsert([parse_record(tool("mail:read_inbox", "Reads no more"))]))
    asyncio.run(control.upsert([parse_record(tool("mail:new", "Came later"))]))
    page = export(fresh, cursor=cursor).json()
    assert ids_of(page) == ["mail:read_inbox"]
    # As it stood, and said so.
    assert (page["records"][0]["description"], page["records"][0]["changed"]) == ("Read the emails in an inbox", True)
    assert (page["end"], page["total"]) == (len(VISIBLE), len(VISIBLE))
    assert SENTINEL not in orjson.dumps(page).decode()


def test_a_cursor_of_anybody_else_and_one_of_nobody_are_the_same_404(endpoint: Endpoint) -> None:
    cursor = export(endpoint, page_size=1).json()["cursor"]
    answers = [
        endpoint.post("/v1/exports", {"cursor": cursor}, tenant="globex"),
        endpoint.post("/v1/exports", {"cursor": cursor}, role="writer"),
        endpoint.post("/v1/exports", {"cursor": cursor}, mode="autonomous"),
        export(endpoint, cursor=cursor[:-1] + ("A" if cursor[-1] != "A" else "B")),
        export(endpoint, cursor="A" * 56),
        export(endpoint, cursor="nonsense"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({same(answer) for answer in answers}) == 1
    assert len({str(sorted(answer.headers)) for answer in answers}) == 1
    assert export(endpoint, cursor=cursor).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"page_size": 0}, "page_size"),
        ({"page_size": 501}, "page_size"),
        ({"page_size": 1.5}, "page_size"),
        ({"query": "??"}, "query"),
        ({"query": ""}, "query"),
        ({"cursor": "A" * 56, "query": "mail"}, "body"),
        ({"cursor": "A" * 56, "narrow": {}}, "body"),
        ({"narrow": {"namespaces": None}}, "narrow.namespaces"),
        ({"offset": 3}, "offset"),
        ({"narrow": {"grant_list": "nobodys"}}, "narrow.grant_list"),
    ],
)
def test_a_field_that_cannot_be_obeyed_is_refused_by_name(
    endpoint: Endpoint, body: dict[str, object], field: str
) -> None:
    response = export(endpoint, **body)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


def test_a_search_has_no_pages(endpoint: Endpoint) -> None:
    for field in ("cursor", "offset", "page_size", "page"):
        assert endpoint.search("email", **{field: "1"}).status_code == 422
    everything = endpoint.search("email", k=len(VISIBLE))
    assert "cursor" not in everything.json()


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Endpoint]:
    exports = ExportSettings(page_size=2, max_records=5, pages_per_minute=4, open_per_caller=1)
    settings = settings_in(tmp_path, exports=exports)
    registry = Registry.in_home(tmp_path)
    registry.upsert_many([parse_record(record) for record in CATALOGUE])
    cluster = LocalCluster(registry, exports=exports.limits())
    with served(services_of(settings, cluster)) as running:
        yield running


def test_each_limit_is_a_typed_refusal(limited: Endpoint) -> None:
    asyncio.run(limited.services.control.upsert([parse_record(tool("mail:one_more"))]))
    too_large = export(limited)
    assert (too_large.status_code, too_large.json()["code"]) == (422, "export_too_large")
    assert export(limited, narrow={"namespaces": "mail"}).json()["cursor"]
    begun = export(limited, narrow={"namespaces": "mail"})
    assert (begun.status_code, begun.json()["code"]) == (429, "too_many_exports")
    assert begun.json()["detail"].startswith("open_per_caller")
    export(limited)
    fast = export(limited)
    assert (fast.status_code, fast.json()["code"]) == (429, "too_many_exports")
    assert fast.json()["detail"].startswith("pages_per_minute")
    assert 1 <= int(fast.headers["retry-after"]) <= 60
    assert limited.search("email").status_code == 200


def test_an_expired_cursor_is_typed(fresh: Endpoint) -> None:
    cursor = export(fresh, page_size=1).json()["cursor"]
    registry = Registry.in_home(fresh.home)
    store = ExportStore(registry.engine)
    store.finish(store.entries()[0].id, now_s=0, expires_s=1)
    gone = export(fresh, cursor=cursor)
    assert (gone.status_code, gone.json()["code"]) == (410, "expired_cursor")
    stranger = fresh.post("/v1/exports", {"cursor": cursor}, tenant="globex")
    assert (stranger.status_code, stranger.json()["code"]) == (404, "not_found")
    registry.close()


def test_an_export_is_entered_and_told_to_operators(
    fresh: Endpoint, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, EVENTS)
    audit = logging.getLogger(EVENTS)
    monkeypatch.setattr(audit, "propagate", False)
    audit.addHandler(caplog.handler)
    first = export(fresh, page_size=3, query="email").json()
    list(pages(fresh, page_size=3))
    export(fresh, cursor="A" * 56)
    audit.removeHandler(caplog.handler)
    lines = [orjson.loads(JsonLines().format(record)) for record in caplog.records if record.name == EVENTS]
    told = [(line["event"], line.get("records"), line.get("cause")) for line in lines]
    assert told == [
        ("export_opened", first["total"], None),
        *([("export_finished", first["total"], None)] if first["cursor"] is None else []),
        ("export_opened", len(VISIBLE), None),
        ("export_finished", len(VISIBLE), None),
        ("cursor_refused", None, "forgotten"),
    ]
    registry = Registry.in_home(fresh.home)
    entries = ExportStore(registry.engine).entries()
    assert {(entry.tenant, entry.subject) for entry in entries} == {("acme", "someone")}
    assert lines[0]["export"] in {entry.request_id for entry in entries}
    registry.close()


def test_every_visible_record_comes_once_while_writers_write(fresh: Endpoint) -> None:
    control = fresh.services.control
    stable = [tool(f"bulk:{number:03d}", f"Number {number}") for number in range(60)]
    asyncio.run(control.upsert([parse_record(record) for record in stable]))
    stop = threading.Event()

    def write() -> None:
        token = fresh.headers("admin")
        number = 0
        with httpx.Client(base_url=fresh.client.base_url, trust_env=False) as client:
            while not stop.is_set():
                number += 1
                lines = [
                    tool(f"bulk:{number % 60:03d}", f"Number {number % 60}, for the {number}th time"),
                    tool(f"bulk:new_{number}", "New"),
                ]
                client.put("/v1/records", content=b"\n".join(map(orjson.dumps, lines)), headers=token)
                client.delete(f"/v1/records/bulk:new_{number - 1}", headers=token)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = list(pages(fresh, page_size=7, narrow={"namespaces": "bulk"}))
    finally:
        stop.set()
        writer.join()
    ids = ids_of(*found)
    assert len(ids) == len(set(ids))
    assert set(ids) >= {str(record["id"]) for record in stable}
    assert found[-1]["end"] == found[0]["total"]


def test_the_command_writes_one_record_a_line_and_goes_on_where_it_broke_off(fresh: Endpoint) -> None:
    where = ["--url", str(fresh.client.base_url), "--token", fresh.token("reader")]
    whole = CliRunner().invoke(cli, ["export", "--json", "--page-size", "2", *where])
    assert whole.exit_code == 0, whole.output
    assert [orjson.loads(line)["id"] for line in whole.stdout.splitlines()] == VISIBLE
    assert f"{len(VISIBLE)} records" in whole.stderr

    first = export(fresh, page_size=2).json()
    rest = CliRunner().invoke(cli, ["export", "--json", "--cursor", first["cursor"], *where])
    assert [*ids_of(first), *(orjson.loads(line)["id"] for line in rest.stdout.splitlines())] == VISIBLE

    some = CliRunner().invoke(cli, ["export", "refunds", "--namespace", "kb", *where])
    assert some.stdout == "kb:refunds  How refunds work\n"
    bad = CliRunner().invoke(cli, ["export", "--cursor", "nonsense", *where])
    assert bad.exit_code == 1
    assert "Not found" in bad.stderr


def test_the_command_needs_no_endpoint(tmp_path: Path) -> None:
    registry = Registry.in_home(tmp_path)
    registry.upsert_many([parse_record(record) for record in CATALOGUE])
    registry.close()
    options = ["--local", "--home", str(tmp_path), "--tenant", "acme", "--mode", "analyzer"]
    done = CliRunner().invoke(cli, ["export", "--json", "--page-size", "2", *options])
    assert done.exit_code == 0, done.output
    assert [orjson.loads(line)["id"] for line in done.stdout.splitlines()] == VISIBLE
