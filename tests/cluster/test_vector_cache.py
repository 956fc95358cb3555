"""The vector cache keeps what was embedded through anything, whole, and forgets what no record has any more."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import RegistryUnavailable
from cluster.registry import Registry
from cluster.registry_schema import sqlite_url
from cluster.vector_cache import VectorCache
from shards.record import Access, Kind, Record


def record(number: int, text: str) -> Record:
    access = Access(tenant="acme")
    return Record(id=f"r{number}", kind=Kind.TOOL, name="tool", namespace="n", description=text, access=access)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    cache = VectorCache(sqlite_url(tmp_path / "registry.sqlite3"))
    yield cache
    cache.close()


def test_vectors_are_found_by_embedder_and_hash_after_a_restart(tmp_path: Path, cache: VectorCache) -> None:
    cache.put("e1", {"a": b"\x01\x80", "b": b"\x00\xff"})
    cache.put("e2", {"a": b"other"})
    again = VectorCache(sqlite_url(tmp_path / "registry.sqlite3"))
    assert again.get("e1", ["a", "b", "c"]) == {"a": b"\x01\x80", "b": b"\x00\xff"}
    assert again.get("e2", ["a", "b"]) == {"a": b"other"}
    assert again.get("e3", ["a"]) == again.get("e1", []) == {}
    again.close()


def test_a_vector_that_is_put_again_is_replaced(cache: VectorCache) -> None:
    cache.put("e", {"a": b"old", "b": b"kept"})
    cache.put("e", {"a": b"new"})
    cache.put("e", {})
    assert cache.get("e", ["a", "b"]) == {"a": b"new", "b": b"kept"}


def test_more_than_fit_one_statement_are_put_and_found(cache: VectorCache) -> None:
    many = {f"{number:032x}": number.to_bytes(4) for number in range(1_203)}
    cache.put("e", many)
    assert cache.get("e", list(many)) == many


def test_two_processes_may_put_the_same_vectors_at_once(tmp_path: Path, cache: VectorCache) -> None:
    other = VectorCache(sqlite_url(tmp_path / "registry.sqlite3"))
    rows = {f"{number:032x}": b"same" for number in range(50)}
    threads = [threading.Thread(target=one.put, args=("e", rows)) for one in (cache, other) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get("e", list(rows)) == rows
    other.close()


def test_only_texts_that_no_record_has_are_dropped_and_never_more_than_asked(
    tmp_path: Path, cache: VectorCache
) -> None:
    registry = Registry(sqlite_url(tmp_path / "registry.sqlite3"))
    kept, changed, removed = (record(number, f"text {number}") for number in range(3))
    registry.upsert_many([kept, changed, removed])
    registry.upsert_many([record(1, "another text")])
    registry.remove("r2")
    now = registry.get("r1")
    assert now is not None
    hashes = [one.search_text_hash for one in (kept, changed, removed, now)]
    for embedder in ("e1", "e2"):
        cache.put(embedder, dict.fromkeys(hashes, b"v"))
    assert cache.drop_unused(1) == 1
    assert len(cache.get("e1", hashes)) == len(cache.get("e2", hashes)) == 3
    assert cache.drop_unused(10) == 1
    assert cache.drop_unused(10) == 0
    for embedder in ("e1", "e2"):
        assert set(cache.get(embedder, hashes)) == {kept.search_text_hash, now.search_text_hash}
    registry.close()


def test_a_database_that_is_locked_or_broken_is_a_typed_error(tmp_path: Path, cache: VectorCache) -> None:
    blocker = sqlite3.connect(tmp_path / "registry.sqlite3")
    blocker.execute("DROP TABLE vectors")
    blocker.close()
    for call in (lambda: cache.get("e", ["a"]), lambda: cache.put("e", {"a": b"v"}), lambda: cache.drop_unused(5)):
        with pytest.raises(RegistryUnavailable, match="vectors"):
            call()


def test_a_registry_of_before_gets_the_table_and_keeps_its_records(tmp_path: Path) -> None:
    registry = Registry(sqlite_url(tmp_path / "registry.sqlite3"))
    registry.upsert_many([record(1, "text")])
    registry.close()
    before = sqlite3.connect(tmp_path / "registry.sqlite3")
    before.execute("DROP TABLE vectors")
    before.close()
    again = Registry(sqlite_url(tmp_path / "registry.sqlite3"))
    cache = VectorCache(sqlite_url(tmp_path / "registry.sqlite3"))
    cache.put("e", {"a": b"v"})
    assert (again.last_seq(), cache.get("e", ["a"])) == (1, {"a": b"v"})
    again.close()
    cache.close()


def test_a_writer_of_records_is_not_kept_waiting_by_a_reader_of_vectors(tmp_path: Path, cache: VectorCache) -> None:
    registry = Registry(sqlite_url(tmp_path / "registry.sqlite3"))
    cache.put("e", {f"{number:032x}": bytes(384) for number in range(1_000)})

    async def both() -> None:
        reads = (asyncio.to_thread(cache.get, "e", [f"{number:032x}" for number in range(1_000)]) for _ in range(4))
        write = asyncio.to_thread(registry.upsert_many, [record(1, "text")])
        async with asyncio.timeout(5):
            await asyncio.gather(write, *reads)

    asyncio.run(both())
    assert registry.last_seq() == 1
    registry.close()
