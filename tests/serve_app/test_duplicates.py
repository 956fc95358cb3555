"""``/v1/duplicates`` and ``shortlist duplicates``: who is compared with whom, and a word that can be taken back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest
from click.testing import CliRunner

from cluster.duplicate_store import ConfirmedPair
from cluster.local import LocalCluster
from cluster.registry import Registry
from cluster.settings.duplicates import DuplicatesSettings
from serve_app.cli.main import cli
from serve_app.record_wire import parse_record
from shards.record import Status
from tests.embedders import WordEmbedder
from tests.endpoint import SENTINEL, Endpoint, endpoint_over, served, services_of, services_over, settings_in


def passage(record_id: str, text: str, *, tenant: str = "acme", **more: object) -> dict[str, object]:
    return {
        "id": record_id,
        "kind": "passage",
        "title": record_id.partition(":")[2],
        "text": text,
        "namespace": "kb",
        "product": "sync",
        "locale": "en",
        "release": "3.1",
        "access": {"tenant": tenant, **more.pop("access", {})},  # type: ignore[dict-item]
        **more,
    }


STOPS = "The upload of large files stops at 99 percent. Restart the client; E-42 is repaired in release 3.1.1."
HANGS = "Large files stop at 99 percent of the upload. Restarting the client helps; release 3.1.1 repairs E-42."
SEEN = (
    passage("kb:stops", STOPS),
    passage("kb:hangs", HANGS, source_url="https://example.com/hangs"),
    passage("kb:older", STOPS, release="3.0"),
    passage("kb:code", STOPS.replace("E-42", "E-43")),
    passage("kb:other", "Invoices are sent on the first day of every month."),
    passage("kb:server", STOPS, product="server"),
    passage("kb:shared", STOPS, tenant="*"),
)
HIDDEN = (
    *(passage(f"kb:{SENTINEL}_{number}", STOPS, tenant="globex") for number in range(60)),
    passage(f"kb:{SENTINEL}_admin", STOPS, access={"permissions": ["admin"]}),
    passage(f"kb:{SENTINEL}_gone", STOPS, status="disabled"),
)


@pytest.fixture
def support(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with endpoint_over(tmp_path_factory.mktemp("home"), (*SEEN, *HIDDEN)) as running:
        yield running


def look(endpoint: Endpoint, **body: object) -> httpx.Response:
    return endpoint.post("/v1/duplicates", body)


def verdicts(answer: dict[str, object]) -> dict[str, str]:
    return {one["id"]: one["verdict"] for one in answer["compared"]}  # type: ignore[attr-defined]


def test_a_record_is_compared_inside_its_tenant_and_product_and_each_verdict_says_why(support: Endpoint) -> None:
    answer = look(support, id="kb:stops").json()
    found = verdicts(answer)
    assert list(found)[:2] == ["kb:hangs", "kb:older"]
    assert {one: verdict for one, verdict in found.items() if one != "kb:other"} == {
        "kb:hangs": "duplicate",
        "kb:older": "review",
        "kb:code": "distinct",
    }
    assert (answer["canonical"], answer["complete"], answer["vectors"]) == ("kb:hangs", True, "off")
    older = next(one for one in answer["compared"] if one["id"] == "kb:older")
    assert older["reasons"] == ["other_release", "same_words"]
    assert older["likeness"] == {"words": 1.0, "part": 1.0, "pairs": 1.0, "vectors": None}
    assert SENTINEL not in orjson.dumps(answer).decode()


def test_hidden_records_change_nothing(support: Endpoint, tmp_path: Path) -> None:
    with endpoint_over(tmp_path, SEEN, shards=3) as alone:
        for one in ("kb:stops", "kb:hangs", "kb:shared"):
            answers = [look(endpoint, id=one).json() for endpoint in (support, alone)]
            for answer in answers:
                del answer["request_id"]
            assert answers[0] == answers[1]


def test_a_text_that_is_yet_to_be_written_is_compared_and_not_stored(support: Endpoint) -> None:
    answer = look(support, record=passage("kb:draft", HANGS)).json()
    assert verdicts(answer)["kb:stops"] == "duplicate"
    assert asyncio.run(support.services.control.record("kb:draft")) is None
    # In a tenant that the caller does not see, there is nothing to compare with.
    assert look(support, record=passage("kb:draft", HANGS, tenant="globex")).json()["compared"] == []


@pytest.mark.parametrize("unseen", ["kb:nothing", f"kb:{SENTINEL}_1", f"kb:{SENTINEL}_admin", f"kb:{SENTINEL}_gone"])
def test_what_the_caller_does_not_see_is_the_same_404_for_every_verb(support: Endpoint, unseen: str) -> None:
    writer = support.headers("writer")
    answers = [
        look(support, id=unseen),
        support.client.put(f"/v1/duplicates/{unseen}", json={"canonical": "kb:hangs"}, headers=writer),
        support.client.put("/v1/duplicates/kb:stops", json={"canonical": unseen}, headers=writer),
        support.client.delete(f"/v1/duplicates/{unseen}", headers=writer),
        support.client.delete("/v1/duplicates/kb:stops", headers=writer),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content.replace(answer.headers["x-request-id"].encode(), b"") for answer in answers}) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"id": "kb:stops", "record": {}}, "body"),
        ({"record": {"id": "x"}}, "namespace"),
        ({"id": "kb:stops", "candidates": 0}, "candidates"),
        ({"id": "kb:stops", "candidates": 41}, "candidates"),
        ({"id": "kb:stops", "k": 3}, "k"),
    ],
)
def test_a_field_that_cannot_be_obeyed_is_refused_by_name(
    support: Endpoint, body: dict[str, object], field: str
) -> None:
    response = look(support, **body)
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


def test_a_confirmed_pair_is_shown_while_both_texts_stay_and_can_be_taken_back(support: Endpoint) -> None:
    def confirmed(record_id: str = "kb:stops") -> dict[str, str]:
        compared = look(support, id=record_id).json()["compared"]
        return {one["id"]: one["confirmed"] for one in compared if one["confirmed"]}

    writer = support.headers("writer")
    said = support.client.put("/v1/duplicates/kb:stops", json={"canonical": "kb:hangs"}, headers=writer)
    assert (said.status_code, said.json()["canonical"]) == (200, "kb:hangs")
    assert confirmed() == {"kb:hangs": "kb:hangs"}
    assert confirmed("kb:hangs") == {"kb:stops": "kb:hangs"}

    control = support.services.control
    asyncio.run(control.upsert([parse_record(passage("kb:hangs", HANGS.replace("99", "98")))]))
    assert confirmed() == {}
    asyncio.run(control.upsert([parse_record(SEEN[1])]))
    assert confirmed() == {"kb:hangs": "kb:hangs"}
    # Both are as they were, before and after.
    stored = asyncio.run(control.record("kb:stops"))
    assert stored is not None
    assert stored.status is Status.ENABLED

    assert support.client.delete("/v1/duplicates/kb:stops", headers=writer).json()["canonical"] is None
    assert confirmed() == {}


def test_a_writer_confirms_its_own_records_only(support: Endpoint) -> None:
    writer = support.headers("writer")
    shared = support.client.put("/v1/duplicates/kb:shared", json={"canonical": "kb:hangs"}, headers=writer)
    assert shared.status_code == 403
    same = support.client.put("/v1/duplicates/kb:stops", json={"canonical": "kb:stops"}, headers=writer)
    assert (same.status_code, same.json()["errors"][0]["field"]) == (422, "canonical")


def test_its_budget_is_its_own(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, duplicates=DuplicatesSettings(candidates=30, timeout_ms=60_000, at_once=1))
    with served(services_over(tmp_path, SEEN, settings=settings)) as running:
        assert look(running, id="kb:stops", candidates=31).status_code == 422
        assert len(look(running, id="kb:stops", candidates=1).json()["compared"]) == 1


def test_the_command_lists_duplicates_of_a_record_and_of_a_file(support: Endpoint, tmp_path: Path) -> None:
    where = ["--url", str(support.client.base_url), "--token", support.token("reader")]
    done = CliRunner().invoke(cli, ["duplicates", "kb:stops", *where], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert "kb:hangs" in done.stdout
    assert "kb:code" not in done.stdout
    assert "canonical: kb:hangs" in done.stdout

    draft = tmp_path / "draft.json"
    draft.write_bytes(orjson.dumps(passage("kb:draft", HANGS)))
    told = CliRunner().invoke(cli, ["duplicates", "--file", str(draft), "--json", *where])
    assert verdicts(orjson.loads(told.stdout))["kb:stops"] == "duplicate"
    nothing = CliRunner().invoke(cli, ["duplicates", "kb:other", *where])
    assert "none of them like it" in nothing.stdout


def test_vectors_have_a_part_where_there_are_any(tmp_path: Path) -> None:
    registry = Registry.in_home(tmp_path)
    registry.upsert_many([parse_record(record) for record in SEEN])
    cluster = LocalCluster(registry, shards=2, embedder=WordEmbedder())
    with served(services_of(settings_in(tmp_path), cluster)) as running:
        answer = look(running, id="kb:stops").json()
    likeness = {one["id"]: one["likeness"]["vectors"] for one in answer["compared"]}
    assert answer["vectors"] == "used"
    assert likeness["kb:older"] > 0.8 > likeness["kb:other"]


def test_search_shows_one_of_a_confirmed_pair_until_it_is_taken_back(support: Endpoint) -> None:
    def hits(role: str = "reader") -> dict[str, list[str] | None]:
        answer = support.search("large files at 99 percent", role=role, k=20).json()
        return {hit["id"]: hit.get("duplicates") for hit in answer["hits"]}

    assert hits()["kb:stops"] is None
    writer = support.headers("writer")
    support.client.put("/v1/duplicates/kb:stops", json={"canonical": "kb:hangs"}, headers=writer)
    found = hits()
    assert "kb:stops" not in found
    assert found["kb:hangs"] == ["kb:stops"]
    why = support.post("/v1/explain", {"query": "large files at 99 percent", "k": 20, "id": "kb:stops"}).json()
    assert (why["outcome"], why["shown_instead"]) == ("duplicate", "kb:hangs")
    where = ["--url", str(support.client.base_url), "--token", support.token("reader")]
    told = CliRunner().invoke(cli, ["explain", "large files at 99 percent", "kb:stops", *where], env={"COLUMNS": "200"})
    assert told.exit_code == 0, told.output
    assert "Shown instead: kb:hangs" in told.stdout
    # What was left out is still there.
    assert support.client.get("/v1/records/kb:stops", headers=support.headers("reader")).status_code == 200
    support.client.delete("/v1/duplicates/kb:stops", headers=writer)
    assert hits()["kb:stops"] is None


def test_a_record_that_the_caller_does_not_see_takes_nothing_away_and_is_not_named(support: Endpoint) -> None:
    control = support.services.control
    hidden, seen = (asyncio.run(control.record(one)) for one in (f"kb:{SENTINEL}_admin", "kb:stops"))
    assert hidden is not None
    assert seen is not None
    query = "large files stop at 99 percent of the upload"
    before = support.search(query, k=20).json()
    pair = ConfirmedPair(
        duplicate=seen.id,
        canonical=hidden.id,
        tenant="acme",
        duplicate_hash=seen.search_text_hash,
        canonical_hash=hidden.search_text_hash,
        subject="someone",
        at="2026-01-01T00:00:00Z",
    )
    asyncio.run(control.confirm_duplicate(pair))
    after = support.search(query, k=20)
    assert SENTINEL not in after.text
    assert after.json()["hits"] == before["hits"]
    assert after.json()["spent"] == before["spent"]


def test_a_record_never_comes_to_stand_for_itself(support: Endpoint) -> None:
    def confirm(duplicate: str, canonical: str) -> httpx.Response:
        return support.client.put(
            f"/v1/duplicates/{duplicate}", json={"canonical": canonical}, headers=support.headers("writer")
        )

    assert confirm("kb:stops", "kb:hangs").status_code == 200
    assert confirm("kb:hangs", "kb:older").status_code == 200
    for duplicate, canonical in (("kb:hangs", "kb:stops"), ("kb:older", "kb:stops"), ("kb:older", "kb:hangs")):
        refused = confirm(duplicate, canonical)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "canonical")
    # Another word on the same record takes the place of the former one.
    assert confirm("kb:hangs", "kb:other").status_code == 200
    assert confirm("kb:older", "kb:stops").status_code == 200
