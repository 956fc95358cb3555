"""The actor's own part: snapshots are written beside the calls, from the state at which they were begun."""

import threading
import time
from pathlib import Path

import pytest

from shards import snapshot
from shards.actor import ShardActor
from shards.index import ShardIndex
from shards.messages import NewVector
from shards.shard import Shard
from tests.shards.makers import record, upsert

OLD, NEW = record("r1", "old"), record("r1", "new", version=2)


def _wait(actor: ShardActor) -> None:
    while actor.saving():
        time.sleep(0.001)


def _loaded() -> ShardActor:
    actor = ShardActor(0)
    actor.begin_load()
    actor.load_batch([OLD.to_json()])
    actor.finish_load(1, {})
    return actor


def test_a_snapshot_is_of_the_state_at_its_begin_and_calls_go_on_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, write = threading.Event(), snapshot.write

    def slowly(index: ShardIndex, directory: Path, number: int) -> None:
        gate.wait(10)
        write(index, directory, number)

    monkeypatch.setattr(snapshot, "write", slowly)
    actor = _loaded()
    vector = NewVector(record_id="r1", search_text_hash=OLD.search_text_hash, values=bytes(8))
    assert actor.begin_save(str(tmp_path)) == 1
    assert actor.take_vectors("e", (vector,)) == 1
    assert actor.apply(1, 2, (upsert(2, NEW),)) == 2
    assert actor.saving()
    gate.set()
    _wait(actor)
    opened = Shard.open(0, tmp_path).status()
    assert (opened.seq, opened.embedder, opened.unembedded) == (1, "", 1)
    assert actor.begin_save(str(tmp_path)) == 2
    _wait(actor)
    assert Shard.open(0, tmp_path).status().seq == 2


def test_a_disk_that_refuses_a_snapshot_is_told_and_the_shard_stays(tmp_path: Path) -> None:
    actor = _loaded()
    (tmp_path / "file").touch()
    actor.begin_save(str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        _wait(actor)
    assert actor.status().ready
    actor.begin_save(str(tmp_path / "folder"))
    _wait(actor)
    assert Shard.open(0, tmp_path / "folder").status().records == 1
