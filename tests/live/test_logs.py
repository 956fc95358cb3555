"""Logs of a running instance: a line for every request, and no word of one in any file of Ray, Serve or HAProxy."""

import json
import stat
from pathlib import Path
from typing import Final

import pytest

from serve_app.audit import FILE_NAME as AUDIT
from serve_app.listening import descendants_of
from serve_app.request_log import FILE_NAME as REQUESTS
from tests.live.instance import Instance, wait_for

pytestmark = pytest.mark.live

SENTINEL: Final = "zqsentinelzq"


def _lines(path: Path) -> dict[str, dict[str, object]]:
    """By request id."""
    return {line["request_id"]: line for line in map(json.loads, path.read_text().splitlines())}


def _files_of_the_run(live: Instance) -> list[Path]:
    """Every file below the instance's own folder, which is where its process writes ``driver.log``."""
    opened = [link.readlink() for link in Path(f"/proc/{live.process.pid}/fd").iterdir()]
    (run,) = {path.parent for path in opened if path.name == "driver.log"}
    return [path for path in run.rglob("*") if path.is_file() and not path.is_symlink()]


def test_every_request_has_its_line_and_no_file_of_the_instance_holds_a_word_of_it(live: Instance) -> None:
    reader = live.headers("reader")
    responses = [
        live.search(f"create a bucket {SENTINEL}"),
        live.search(SENTINEL, narrow={"namespaces": SENTINEL}),
        live.client.post("/v1/search", json={"query": SENTINEL, SENTINEL: 1}, headers=reader),
        live.client.get(f"/v1/records/{SENTINEL}?q={SENTINEL}", headers=reader),
        live.client.get(f"/{SENTINEL}", headers=reader),
        live.client.post("/v1/search", json={}, headers={"authorization": f"Bearer {SENTINEL}"}),
        live.client.delete(f"/v1/records/{SENTINEL}", headers=live.headers("writer")),
        live.client.put(f"/v1/grants/{SENTINEL}", json={"ids": [SENTINEL]}, headers=live.headers("admin")),
        live.client.delete(f"/v1/grants/{SENTINEL}", headers=live.headers("admin")),
    ]
    assert [one.status_code for one in responses] == [200, 200, 422, 404, 404, 401, 404, 200, 200]
    ids = [one.headers["x-request-id"] for one in responses]
    requests, audit = live.home / REQUESTS, live.home / AUDIT
    wait_for(lambda: set(ids) <= _lines(requests).keys(), 10, requests.read_text)
    assert [_lines(requests)[one]["status"] for one in ids] == [one.status_code for one in responses]
    assert set(ids[5:]) <= _lines(audit).keys()
    for path in (requests, audit):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert SENTINEL not in path.read_text()
    files = _files_of_the_run(live)
    assert any("replica" in path.name for path in files), files
    assert not [path for path in files if SENTINEL.encode() in path.read_bytes()]


def test_no_process_of_the_instance_leaves_its_memory_in_a_file(live: Instance) -> None:
    pids = descendants_of(live.process.pid)
    assert len(pids) > 5
    for pid in pids:
        limits = Path(f"/proc/{pid}/limits").read_text()
        (core,) = (line for line in limits.splitlines() if line.startswith("Max core file size"))
        assert core.split()[4:6] == ["0", "0"], Path(f"/proc/{pid}/cmdline").read_bytes()
