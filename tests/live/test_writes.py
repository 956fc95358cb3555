"""An acknowledged write is searchable, an acknowledged removal is gone, at the very next query."""

import time

import pytest

from cluster.config import Settings
from cluster.registry import Registry
from serve_app.record_wire import parse_record
from tests.endpoint import tool
from tests.live.instance import Instance, wait_for

pytestmark = pytest.mark.live


def _ids(live: Instance, query: str, **body: object) -> list[str]:
    answer = live.search(query, **body).json()
    assert answer["coverage"]["full"]
    return [hit["id"] for hit in answer.get("hits", [])]


def test_writes_and_removals_show_at_the_next_query(live: Instance) -> None:
    for number in range(10):
        name = f"fresh:calibrate_telescope_{number}"
        report = live.put(tool(name, f"calibrate telescope number {number}"))
        assert name in _ids(live, "calibrate telescope", min_seq=report["seq"], k=20)
        live.put(tool(name, f"polish telescope number {number}"))
        gone = ("DELETE", f"/v1/records/{name}") if number % 2 else ("POST", f"/v1/records/{name}/disable")
        answer = live.client.request(*gone, headers=live.headers("writer"))
        assert answer.status_code == 200, answer.text
        assert name not in _ids(live, "polish telescope", k=20)
        assert live.client.get(f"/v1/records/{name}", headers=live.headers("reader")).status_code == 404


def test_a_grant_list_holds_from_its_acknowledgement_on(live: Instance) -> None:
    caller = live.headers("tenant_admin")
    ids = ["cloud1:create_bucket_1", "cloud2:create_bucket_2"]
    put = live.client.put("/v1/grants/few", json={"ids": ids[:1]}, headers=caller)
    assert put.status_code == 200, put.text
    assert live.client.get("/v1/grants/few", headers=caller).json()["ids"] == ids[:1]
    assert live.client.delete("/v1/grants/few", headers=caller).status_code == 200
    assert live.client.get("/v1/grants/few", headers=caller).status_code == 404


def test_what_another_process_imports_is_taken_up(live: Instance) -> None:
    registry = Registry(Settings(home=live.home).registry_url)
    rows = [tool(f"sky:observe_comet_{number}", "observe a comet at night") for number in range(600)]
    registry.upsert_many([parse_record(row) for row in rows])
    started_s = time.monotonic()
    wait_for(lambda: len(_ids(live, "observe a comet", k=20)) == 20, 30, live.status)
    wait_for(lambda: live.search("observe a comet").json()["spent"]["matched"] == 600, 30, live.status)
    assert time.monotonic() - started_s < 30
    for row in rows:
        registry.remove(str(row["id"]))
    registry.close()
    wait_for(lambda: not _ids(live, "observe a comet"), 30, live.status)
