"""A folder of documents against a real registry: only what changed is written, only what is its own is removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.errors import UnconfirmedRemovals
from cluster.registry import Registry
from cluster.registry_values import WriteOutcome
from cluster.source_writer import Source
from shards.record import Access, Kind, Record


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry.in_home(tmp_path)
    yield opened
    opened.close()


def passage(record_id: str, text: str = "text", tenant: str = "acme") -> Record:
    return Record(
        id=record_id,
        kind=Kind.PASSAGE,
        name="title",
        namespace="kb",
        description=text,
        access=Access(tenant=tenant),
    )


def put(
    registry: Registry,
    *rows: tuple[str, Record],
    source: str = "kb",
    folder: str = "/docs",
    unread: tuple[str, ...] = (),
    confirmed: bool = False,
) -> list[tuple[str, str]]:
    known = Source(name=source, folder=folder, unread=frozenset(unread), confirmed=confirmed)
    return [(receipt.record_id, receipt.outcome) for receipt in registry.replace_source(known, rows)]


A, B = ("a.md", passage("kb:a")), ("b.md", passage("kb:b"))


def test_a_second_time_changes_nothing_and_an_edit_one_record(registry: Registry) -> None:
    put(registry, A, B)
    seq = registry.last_seq()
    assert put(registry, A, B) == [("kb:a", "unchanged"), ("kb:b", "unchanged")]
    assert registry.last_seq() == seq
    assert put(registry, A, ("b.md", passage("kb:b", "new"))) == [("kb:a", "unchanged"), ("kb:b", "imported")]
    assert registry.last_seq() == seq + 1


def test_what_is_gone_is_removed_and_can_come_back(registry: Registry) -> None:
    put(registry, A, B)
    assert put(registry, A) == [("kb:a", "unchanged"), ("kb:b", "removed")]
    assert registry.get("kb:b") is None
    assert put(registry, A, B)[1] == ("kb:b", "imported")


def test_sources_do_not_touch_each_other_nor_what_came_from_elsewhere(registry: Registry) -> None:
    by_hand = passage("kb:by-hand")
    registry.upsert_many([by_hand])
    put(registry, A)
    put(registry, B, source="other", folder="/other")
    taken = put(registry, B, ("c.md", by_hand), A, source="kb")
    assert taken == [("kb:b", WriteOutcome.CLAIMED), ("kb:by-hand", WriteOutcome.CLAIMED), ("kb:a", "unchanged")]
    put(registry, ("z.md", passage("kb:z")), source="other", folder="/other", confirmed=True)
    assert registry.get("kb:a") is not None
    assert registry.get("kb:by-hand") is not None
    assert registry.get("kb:b") is None


def test_records_of_files_that_could_not_be_read_stay(registry: Registry) -> None:
    put(registry, A, B, ("in/c.md", passage("kb:c")), ("index/d.md", passage("kb:d")))
    outcomes = put(registry, A, unread=("b.md", "in"))
    assert outcomes == [("kb:a", "unchanged"), ("kb:d", "removed")]


def test_another_folder_under_the_same_name_has_to_be_confirmed(registry: Registry) -> None:
    put(registry, A)
    with pytest.raises(UnconfirmedRemovals, match="imported from /docs before"):
        put(registry, B, folder="/elsewhere")
    assert registry.get("kb:b") is None
    assert put(registry, A, B, folder="/elsewhere")[1] == ("kb:b", "imported")
    assert put(registry, B, folder="/third", confirmed=True) == [("kb:b", "unchanged"), ("kb:a", "removed")]


def test_an_empty_folder_has_to_be_confirmed(registry: Registry) -> None:
    put(registry, A)
    with pytest.raises(UnconfirmedRemovals, match="no documents"):
        put(registry)
    assert put(registry, confirmed=True) == [("kb:a", "removed")]


def test_more_than_20_removals_and_20_percent_have_to_be_confirmed(registry: Registry) -> None:
    rows = [(f"{number}.md", passage(f"kb:{number:03}")) for number in range(100)]
    put(registry, *rows)
    with pytest.raises(UnconfirmedRemovals, match="21 of its 100 records"):
        put(registry, *rows[21:])
    assert registry.counts().enabled == 100
    put(registry, *rows[20:])
    assert registry.counts().enabled == 80


def test_a_file_that_moves_to_another_tenant_leaves_nothing_with_the_former_one(registry: Registry) -> None:
    put(registry, A, B)
    moved = ("a.md", passage("kb:a", tenant="other"))
    assert put(registry, moved, B) == [("kb:a", "foreign"), ("kb:b", "unchanged"), ("kb:a", "removed")]
    assert registry.get("kb:a") is None


def test_a_tenants_import_removes_nothing_of_another_tenant(registry: Registry) -> None:
    put(registry, A, ("s.md", passage("kb:s", tenant="*")))
    known = Source(name="kb", folder="/docs")
    receipts = registry.replace_source(known, [A], frozenset({"acme"}))
    assert [receipt.record_id for receipt in receipts] == ["kb:a"]
    assert registry.get("kb:s") is not None
    # It is still the source's, so that an import of every tenant can remove it.
    assert put(registry, A)[1] == ("kb:s", "removed")
