"""The registry through its public calls, on real SQLite files."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cluster.errors import InvalidRequest, RegistryUnavailable, StaleVersion, UnknownGrantList
from cluster.registry import FILE_NAME, Registry
from cluster.registry_schema import sqlite_url
from cluster.registry_values import Receipt, WriteOutcome, grant_list_key
from shards.record import BUCKETS, Access, Kind, Record, Status, bucket_of

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def tool(
    record_id: str, description: str = "", *, version: int = 0, namespace: str = "shop", tenant: str = "*"
) -> Record:
    return Record(
        id=record_id,
        kind=Kind.TOOL,
        name=record_id,
        namespace=namespace,
        description=description,
        access=Access(tenant=tenant),
        version=version,
    )


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry(sqlite_url(tmp_path / FILE_NAME), clock=lambda: NOON)
    yield opened
    opened.close()


def write(registry: Registry, *records: Record) -> list[tuple[WriteOutcome, int, int]]:
    return [(receipt.outcome, receipt.seq, receipt.version) for receipt in registry.upsert_many(records)]


def test_the_database_is_for_its_owner_only(registry: Registry, tmp_path: Path) -> None:
    registry.upsert_many([tool("a")])
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.glob(f"{FILE_NAME}*")} == {
        FILE_NAME + suffix: "0o600" for suffix in ("", "-wal", "-shm")
    }


def test_an_empty_registry_has_seq_0(registry: Registry) -> None:
    assert registry.last_seq() == 0
    assert registry.changes(0, 10) == []
    assert registry.get("a") is None


def test_a_write_without_a_version_gets_the_next_one(registry: Registry) -> None:
    assert write(registry, tool("a", "one"), tool("b")) == [("imported", 1, 1), ("imported", 2, 1)]
    assert write(registry, tool("a", "two")) == [("imported", 3, 2)]


def test_a_stored_record_carries_its_version_and_the_time_of_acceptance(registry: Registry) -> None:
    write(registry, tool("a", "one"))
    assert registry.get("a") == replace(tool("a", "one"), version=1, indexed_at="2026-03-01T12:00:00.000Z")


def test_equal_content_is_unchanged_and_names_the_change_on_record(registry: Registry) -> None:
    write(registry, tool("a", "one"), tool("b"))
    assert write(registry, tool("a", "one"), tool("a", "one", version=1)) == [("unchanged", 1, 1)] * 2
    assert registry.last_seq() == 2


def test_a_record_read_and_written_back_is_unchanged(registry: Registry) -> None:
    write(registry, tool("a", "one"))
    stored = registry.get("a")
    assert stored is not None
    assert write(registry, stored) == [("unchanged", 1, 1)]


def test_a_named_version_must_be_newer(registry: Registry) -> None:
    write(registry, tool("a", "one", version=5))
    assert write(registry, tool("a", "old", version=4), tool("a", "other", version=5)) == [("stale", 1, 5)] * 2
    assert write(registry, tool("a", "two", version=6)) == [("imported", 2, 6)]


def test_a_newer_version_of_equal_content_is_remembered_against_late_older_writes(registry: Registry) -> None:
    write(registry, tool("a", "one", version=3))
    assert write(registry, tool("a", "one", version=7)) == [("imported", 2, 7)]
    assert write(registry, tool("a", "late", version=5)) == [("stale", 2, 7)]


def test_one_call_may_write_an_id_several_times(registry: Registry) -> None:
    outcomes = write(registry, tool("a", "one"), tool("a", "one"), tool("a", "two"), tool("a", "late", version=1))
    assert outcomes == [("imported", 1, 1), ("unchanged", 1, 1), ("imported", 2, 2), ("stale", 2, 2)]
    assert [change.seq for change in registry.changes(0, 10)] == [1, 2]


def test_a_removed_record_never_comes_back_by_an_older_write_also_after_reopening(tmp_path: Path) -> None:
    first = Registry.in_home(tmp_path)
    write(first, tool("a", "five", version=5))
    receipt = first.remove("a", 6)
    assert receipt == Receipt(record_id="a", outcome=WriteOutcome.REMOVED, seq=2, version=6)
    first.close()
    again = Registry.in_home(tmp_path)
    assert again.get("a") is None
    assert write(again, tool("a", "four", version=4), tool("a", "six", version=6)) == [("stale", 2, 6)] * 2
    assert write(again, tool("a", "five")) == [("imported", 3, 7)]
    again.close()


def test_removing_twice_is_unchanged_and_an_unknown_id_gives_none(registry: Registry) -> None:
    write(registry, tool("a"))
    registry.remove("a")
    receipt = registry.remove("a")
    assert receipt is not None
    assert (receipt.outcome, receipt.seq, receipt.version) == ("unchanged", 2, 2)
    assert registry.remove("nobody") is None
    assert registry.last_seq() == 2


def test_a_removal_with_a_version_that_is_not_newer_is_refused(registry: Registry) -> None:
    write(registry, tool("a", version=4))
    with pytest.raises(StaleVersion, match="version 4 is not newer than stored version 4"):
        registry.remove("a", 4)
    assert registry.get("a") is not None


def test_a_status_change_is_a_new_version_with_a_body(registry: Registry) -> None:
    write(registry, tool("a", "one"))
    receipt = registry.set_status("a", Status.DISABLED)
    assert receipt is not None
    assert (receipt.outcome, receipt.seq, receipt.version) == ("imported", 2, 2)
    body = registry.changes(1, 1)[0].body
    assert body is not None
    assert Record.from_json(body).status is Status.DISABLED
    repeated = registry.set_status("a", Status.DISABLED)
    assert repeated is not None
    assert repeated.outcome == "unchanged"


def test_the_status_of_a_removed_record_cannot_be_changed(registry: Registry) -> None:
    write(registry, tool("a"))
    registry.remove("a")
    assert registry.set_status("a", Status.ENABLED) is None


def test_changes_come_in_order_with_bodies_only_where_the_record_stands(registry: Registry) -> None:
    write(registry, tool("a"), tool("b"))
    registry.remove("a")
    registry.put_grant_list("acme", "ops", ["b", "a", "b"])
    registry.delete_grant_list("acme", "ops")
    feed = registry.changes(0, 100)
    assert [change.seq for change in feed] == [1, 2, 3, 4, 5]
    assert [change.body is None for change in feed] == [False, False, True, True, True]
    assert [change.record_id for change in feed] == ["a", "b", "a", "", ""]
    assert [change.grant_list for change in feed] == ["", "", "", "acme/ops", "acme/ops"]
    assert [change.grant_ids for change in feed] == [None, None, None, ("a", "b"), None]
    assert registry.changes(1, 2) == feed[1:3]


def test_a_failing_iterable_leaves_nothing_behind(registry: Registry) -> None:
    def broken() -> Iterator[Record]:
        for number in range(5_000):
            yield tool(f"t{number}")
        raise OSError("source went away")

    with pytest.raises(OSError, match="source went away"):
        registry.upsert_many(broken())
    assert registry.last_seq() == 0
    assert registry.counts().enabled == 0
    assert write(registry, tool("a")) == [("imported", 1, 1)]


def test_replacing_removes_what_the_same_tenant_and_namespace_held_before(registry: Registry) -> None:
    write(registry, tool("a"), tool("b"), tool("c", tenant="acme"), tool("d", namespace="crm"))
    receipts = registry.replace_many([tool("a"), tool("e")])
    assert [(r.record_id, r.outcome) for r in receipts] == [("a", "unchanged"), ("e", "imported"), ("b", "removed")]
    assert [registry.get(name) is not None for name in "abcde"] == [True, False, True, True, True]


def test_a_snapshot_holds_the_bodies_of_its_buckets_at_one_seq(registry: Registry) -> None:
    write(registry, *(tool(f"t{number}") for number in range(300)))
    registry.remove("t7")
    registry.set_status("t8", Status.DISABLED)
    registry.put_grant_list("acme", "ops", ["t1"])
    with registry.snapshot() as snapshot:
        first = next(snapshot.bodies(range(BUCKETS), batch=10))
        write(registry, tool("late"))
        bodies = [body for part in snapshot.bodies(range(512), batch=10) for body in part]
        assert (snapshot.seq, snapshot.grant_lists()) == (303, {"acme/ops": ("t1",)})
    assert len(first) == 10
    ids = {Record.from_json(body).id for body in bodies}
    assert ids == {f"t{n}" for n in range(300) if n != 7 and bucket_of(f"t{n}") < 512}
    assert registry.last_seq() == 304


def test_grant_lists_are_kept_apart_by_tenant(registry: Registry) -> None:
    registry.put_grant_list("acme", "ops", ["b", "a"])
    registry.put_grant_list("other", "ops", ["c"])
    assert registry.grant_list("acme", "ops").ids == ("a", "b")
    assert [found.name for found in registry.grant_lists_of("other")] == ["ops"]
    assert registry.put_grant_list("acme", "ops", ["a", "b"]).seq == 1
    assert registry.put_grant_list("acme", "ops", ["a"]).seq == 3
    assert registry.delete_grant_list("acme", "ops") == 4
    with pytest.raises(UnknownGrantList):
        registry.grant_list("acme", "ops")
    with pytest.raises(UnknownGrantList):
        registry.delete_grant_list("acme", "ops")
    assert registry.grant_list("other", "ops").ids == ("c",)


@pytest.mark.parametrize("name", ["", "a/b", ".a", "x" * 65, "سلام"])
def test_an_unusable_grant_list_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="grant_list"):
        grant_list_key("acme", name)


def test_counts_tell_the_statuses_apart(registry: Registry) -> None:
    write(registry, tool("a"), tool("b"), tool("c"))
    registry.remove("a")
    registry.set_status("b", Status.DEPRECATED)
    counts = registry.counts()
    assert (counts.enabled, counts.disabled, counts.deprecated, counts.removed) == (1, 0, 1, 1)
    assert (counts.grant_lists, counts.last_seq) == (0, 5)


def test_a_row_with_an_outdated_hash_or_schema_is_stale_until_it_is_rehashed(
    registry: Registry, tmp_path: Path
) -> None:
    write(registry, tool("a"), tool("b"), tool("c"))
    with sqlite3.connect(tmp_path / FILE_NAME) as raw:
        raw.execute("UPDATE records SET search_text_hash = 'older' WHERE id = 'a'")
        raw.execute("UPDATE records SET schema_version = 0 WHERE id = 'b'")
    raw.close()
    rows = registry.stale_rows()
    assert [(row.record_id, row.stored_hash == "older", row.stored_schema) for row in rows] == [
        ("a", True, 1),
        ("b", False, 0),
    ]
    assert rows[0].current_hash == tool("a").search_text_hash
    assert registry.rehash() == 2
    assert registry.stale_rows() == []
    assert [(change.seq, change.record_id) for change in registry.changes(3, 10)] == [(4, "a"), (5, "b")]


def test_a_file_that_is_no_database_is_reported_as_unavailable(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"this is not a database, it is a text file" * 100)
    with pytest.raises(RegistryUnavailable, match="not a database"):
        Registry.in_home(tmp_path)


def test_a_home_that_cannot_be_made_is_reported_as_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RegistryUnavailable):
        Registry.in_home(tmp_path / "file" / "home")


def test_tables_of_another_format_are_refused(registry: Registry, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as raw:
        raw.execute("UPDATE feed SET format = 2")
    raw.close()
    with pytest.raises(RegistryUnavailable, match="format 2; this version reads format 1"):
        Registry.in_home(tmp_path)


def test_a_database_error_never_carries_the_text_of_a_record(registry: Registry, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as raw:
        raw.execute("DROP TABLE changes")
    raw.close()
    with pytest.raises(RegistryUnavailable) as caught:
        write(registry, tool("a", "SENTINEL"))
    assert "SENTINEL" not in str(caught.value)


def test_connections_are_durable_and_in_wal_mode(registry: Registry) -> None:
    with registry._engine.connect() as connection:
        settings = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert settings == ["wal", 2, 1]


def test_an_id_of_another_tenant_is_not_taken_over_also_after_its_removal(registry: Registry) -> None:
    write(registry, tool("a", tenant="acme"), tool("b", tenant="acme"), tool("c", tenant="other"))
    registry.remove("b")
    batch = [tool("a", tenant="other"), tool("b", tenant="other"), tool("c", "new", tenant="other"), tool("d")]
    receipts = registry.upsert_many(batch, tenants={"other"})
    assert [receipt.outcome for receipt in receipts] == ["foreign", "foreign", "imported", "foreign"]
    assert [receipt.version for receipt in receipts] == [0, 0, 2, 0]
    assert registry.get("b") is None


@pytest.mark.parametrize(("owner", "other"), [("acme", "*"), ("*", "acme"), ("acme", "globex")])
@pytest.mark.parametrize("removed", [False, True])
def test_no_write_changes_the_owner_of_an_id_whoever_writes(
    registry: Registry, owner: str, other: str, *, removed: bool
) -> None:
    write(registry, tool("a", "mine", tenant=owner))
    if removed:
        registry.remove("a")
    seq = registry.last_seq()
    for tenants in (None, {owner, other}):
        receipts = registry.upsert_many([tool("a", "taken", version=9, tenant=other)], tenants)
        assert [(receipt.outcome, receipt.version) for receipt in receipts] == [("foreign", 0)]
    assert registry.last_seq() == seq
    assert write(registry, tool("a", "back", tenant=owner))[0][0] == "imported"


def test_an_id_first_written_in_the_same_batch_has_an_owner_too(registry: Registry) -> None:
    outcomes = [outcome for outcome, _, _ in write(registry, tool("a", tenant="acme"), tool("a", tenant="*"))]
    assert outcomes == ["imported", "foreign"]


def test_replacing_removes_nothing_beside_an_id_of_another_tenant(registry: Registry) -> None:
    write(registry, tool("a", tenant="acme"), tool("b"))
    receipts = registry.replace_many([tool("a"), tool("c")])
    assert [(r.record_id, r.outcome) for r in receipts] == [("a", "foreign"), ("c", "imported")]
    assert registry.get("b") is not None


def test_the_end_and_the_status_of_a_record_are_written_for_its_own_tenant_only(registry: Registry) -> None:
    write(registry, tool("a", tenant="acme"))
    assert registry.remove("a", tenants={"other"}) is None
    assert registry.set_status("a", Status.DISABLED, {"other"}) is None
    assert registry.last_seq() == 1
    assert registry.set_status("a", Status.DISABLED, {"acme", "other"}) is not None
    # Not even that the version is an old one is told to others.
    assert registry.remove("a", 1, {"other"}) is None
    with pytest.raises(StaleVersion):
        registry.remove("a", 1, {"acme"})
    assert registry.remove("a", tenants={"acme"}) is not None
    assert registry.get("a") is None


def test_a_url_that_names_no_database_is_reported_without_repeating_it() -> None:
    with pytest.raises(RegistryUnavailable) as caught:
        Registry("nonsense://user:secret@host/db")
    assert "secret" not in str(caught.value)


def test_bodies_are_those_on_record_and_of_nothing_that_is_gone(registry: Registry) -> None:
    many = [tool(f"r{number}", "first") for number in range(2_100)]
    registry.upsert_many(many)
    registry.upsert_many([tool("r1", "second")])
    registry.set_status("r2", Status.DISABLED)
    registry.remove("r3")
    bodies = registry.bodies([*(one.id for one in many), "unknown"])
    found = {one.id: one for one in map(Record.from_json, bodies)}
    assert set(found) == {one.id for one in many} - {"r3"}
    assert (found["r1"].description, found["r2"].status) == ("second", Status.DISABLED)
    assert registry.bodies([]) == []
