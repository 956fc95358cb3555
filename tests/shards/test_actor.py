"""The actor's own part: snapshots are written beside the calls, from the state at which they were begun."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from cluster.shard_socket import ShardSocket
from shards import snapshot
from shards.actor import ShardActor
from shards.door import DoorClosed
from shards.errors import MalformedMessage
from shards.index import ShardIndex
from shards.messages import Document, DocumentRequest, NewVector, ShardHits, ShardStatus
from shards.packing import pack_queries, pack_requests, unpack_documents, unpack_hits
from shards.shard import Shard
from tests.shards.makers import loaded, plain, query, record, upsert

OLD, NEW = record("r1", "old"), record("r1", "new", version=2)


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


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


def test_a_loaded_shard_answers_in_bytes_and_is_set_aside_from_garbage_collection() -> None:
    gc.unfreeze()
    actor = _loaded()
    assert gc.get_freeze_count() > 1000
    asked = query("old")
    (hits,) = unpack_hits(actor.search(pack_queries((asked,))))
    assert plain(hits) == plain(*loaded([OLD]).search((asked,)))
    request = DocumentRequest(scope=asked.scope, ids=("r1", "unknown"))
    (documents,) = unpack_documents(actor.documents(pack_requests((request,))))
    assert documents == (Document(id="r1", version=1, body=OLD.to_json()),)
    for method in (actor.search, actor.documents):
        with pytest.raises(MalformedMessage):
            method(b"no message")


def test_routers_come_by_the_door_and_the_shard_does_one_thing_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: "127.0.0.1")
    actor = _loaded()
    address = actor.open_door()
    assert actor.open_door() == address
    asked = query("old")
    lives: list[ShardStatus] = []
    sign_of_life = threading.Thread(target=lambda: lives.append(actor.status()))

    async def story() -> tuple[ShardHits, ...]:
        client = ShardSocket(0, address, lambda _: None)
        search = asyncio.create_task(client.search((asked,)))
        await asyncio.sleep(0.3)
        # A call of Ray's that does not come to its end holds up the door and the sign of life alike.
        assert not search.done()
        assert lives == []
        actor._turn.__exit__(None, None, None)
        return await search

    actor._turn.__enter__()
    sign_of_life.start()
    (hits,) = asyncio.run(story())
    sign_of_life.join(10)
    assert plain(hits) == plain(*loaded([OLD]).search((asked,)))
    assert [one.ready for one in lives] == [True]


def test_a_shard_whose_door_is_shut_shows_no_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: "127.0.0.1")
    actor = _loaded()
    actor.open_door()
    assert actor.status().ready
    assert actor._door is not None
    actor._door.close()
    actor._door._listening.join(10)
    with pytest.raises(DoorClosed, match="shard 0"):
        actor.status()
