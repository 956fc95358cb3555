"""An export through the supervisor and its shard processes: one state, every record once, while writers write."""

import threading

import httpx
import pytest

from tests.endpoint import tool
from tests.live.instance import Instance

pytestmark = pytest.mark.live


def test_an_export_has_every_record_once_while_writers_write(live: Instance) -> None:
    names = [f"vault:count_coins_{number:02d}" for number in range(40)]
    for name in names:
        live.put(tool(name, "count coins"))
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            live.put(tool(names[number % 40], f"count coins for the {number}th time"))
            live.put(tool(f"vault:new_{number}", "came later"))

    def page(**body: object) -> httpx.Response:
        return live.client.post("/v1/exports", json=body, headers=live.headers("reader"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = page(narrow={"namespaces": "vault"}, page_size=7)
        assert found.status_code == 200, found.text
        total, cursor = found.json()["total"], found.json()["cursor"]
        ids = [record["id"] for record in found.json()["records"]]
        stranger = live.client.post("/v1/exports", json={"cursor": cursor}, headers=live.headers("admin"))
        assert (stranger.status_code, stranger.json()["code"]) == (404, "not_found")
        while cursor is not None:
            found = page(cursor=cursor, page_size=7)
            assert found.status_code == 200, found.text
            cursor = found.json()["cursor"]
            ids += [record["id"] for record in found.json()["records"]]
    finally:
        stop.set()
        writer.join()
    assert len(ids) == len(set(ids)) == total
    assert set(ids) >= set(names)
