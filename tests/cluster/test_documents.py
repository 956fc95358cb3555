"""The cache of records that are ready to be handed over."""

import numpy as np

from cluster.documents import ENTRY_BYTES, Brought, DocumentCache
from shards.messages import Document, Outcome, ShardHits
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
    one = 2 * len(DocumentCache(0).put(document(1)).full.json) + ENTRY_BYTES
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


def reply(versions: dict[str, int], bodies: tuple[bytes, ...]) -> ShardHits:
    rows, none = len(versions), np.zeros(0, np.int64)
    return ShardHits(
        outcome=Outcome.COMPLETE,
        ids=tuple(versions),
        versions=np.array(list(versions.values()), np.int64),
        scores=np.zeros(rows, np.int32),
        values=np.zeros((rows, 0, 2), np.uint8),
        bonuses=np.zeros(rows, np.int32),
        likenesses=np.zeros(rows, np.int32),
        frequencies=none,
        authorized=9,
        matched=rows,
        threshold=-1,
        weights=none,
        seq=1,
        bodies=bodies,
    )


def test_a_document_that_came_along_answers_for_its_own_id_and_version_only() -> None:
    brought = Brought()
    brought.add(reply({"a": 1, "b": 2}, (b"A", b"B")), 2)
    assert brought.body("b", 2) == b"B"
    assert brought.body("b", 1) is None
    assert brought.body("c", 1) is None


def test_of_documents_that_came_along_no_more_are_taken_than_were_asked_for() -> None:
    brought = Brought()
    brought.add(reply({"a": 1, "b": 2, "c": 3}, (b"A", b"B")), 1)
    assert [brought.body("a", 1), brought.body("b", 2), brought.body("c", 3)] == [b"A", None, None]


def test_a_later_reply_adds_another_version_and_leaves_a_copy_made_before_alone() -> None:
    first = Brought()
    first.add(reply({"a": 1}, (b"old",)), 1)
    both = first.copy()
    both.add(reply({"a": 2}, (b"new",)), 1)
    assert (both.body("a", 1), both.body("a", 2)) == (b"old", b"new")
    assert first.body("a", 2) is None
