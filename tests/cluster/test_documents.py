from cluster.documents import ENTRY_BYTES, DocumentCache
from shards.messages import Document
from tests.cluster.rig import tool


def document(number: int, version: int = 1) -> Document:
    record = tool(f"t{number:02d}", f"tool{number}", "word " * number, version=version)
    return Document(id=record.id, version=version, body=record.to_json())


def test_an_entry_answers_for_its_own_version_only() -> None:
    cache = DocumentCache(10**6)
    piece = cache.put(document(1, version=2))
    assert cache.get("t01", 2) is piece
    assert cache.get("t01", 1) is None
    assert cache.get("t01", 3) is None


def test_the_least_recently_used_entry_goes_first() -> None:
    one = len(DocumentCache(0).put(document(1)).full.json) + ENTRY_BYTES
    cache = DocumentCache(2 * one + 50)
    cache.put(document(1))
    cache.put(document(2))
    assert cache.get("t01", 1)
    cache.put(document(3))
    assert cache.get("t01", 1)
    assert cache.get("t02", 1) is None


def test_without_room_nothing_is_kept_and_every_record_is_still_made_ready() -> None:
    cache = DocumentCache(0)
    assert cache.put(document(1)).id == "t01"
    assert cache.get("t01", 1) is None
