"""The registry: source of truth for records and grant lists, and the feed that every index follows.

It decides versions and sequence numbers; it neither validates foreign input nor decides who may write. All calls
block: asynchronous callers use a thread. Any number of processes may share one database.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, insert, select

from cluster.draft import Draft
from cluster.duplicate_store import ConfirmedPair, DuplicateLedger
from cluster.errors import RegistryUnavailable, UnknownGrantList
from cluster.registry_reader import Snapshot
from cluster.registry_schema import FORMAT, WRITING, feed, metadata, open_engine, sqlite_url, translated
from cluster.registry_values import GrantList, Receipt, RegistryCounts, StaleRow, WriteOutcome
from cluster.registry_writer import WriteBatch
from cluster.source_writer import Source, write_source
from shards.messages import Change
from shards.record import SCHEMA_VERSION, Record, Status

FILE_NAME: Final = "registry.sqlite3"
"""The registry file of a home folder."""

_CHUNK: Final = 2_000
"""Records per statement; the transaction spans all chunks."""

Value = TypeVar("Value")


def url_in(home: Path) -> URL:
    """The registry of a home folder, where the settings name no other."""
    return sqlite_url(home / FILE_NAME)


class Registry:
    """Every call is one transaction: all of it happens or none.

    Every method raises ``RegistryUnavailable`` when the database refuses or times out.

    Args:
        url: of the database; tables, and the folder of a SQLite file, are made where they are missing.
        clock: gives the time that is written as ``indexed_at``.
    """

    def __init__(self, url: str | URL, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._engine = open_engine(url)
        self._clock = clock
        self._prepare()

    @classmethod
    def in_home(cls, home: Path) -> Self:
        """The registry file of a home folder."""
        return cls(url_in(home))

    @property
    def engine(self) -> Engine:
        """The open database, for tables that stand beside the records and point at changes."""
        return self._engine

    def close(self) -> None:
        """Close all connections; the registry can be opened again by a new object."""
        self._engine.dispose()

    def upsert_many(self, records: Iterable[Record | Draft], tenants: AbstractSet[str] | None = None) -> list[Receipt]:
        """Write records in order, one receipt each; linear in their number.

        An exception of the iterable leaves the registry as it was.

        Args:
            records: an id may occur several times.
            tenants: whose records may be written; others are ``foreign``. None is every one, and even then an id never
                changes its owner: one that another tenant has, or had before its removal, is ``foreign``.
        """
        with self._writing() as batch:
            chunks = _chunks(map(_draft, records))
            return [receipt for chunk in chunks for receipt in batch.upsert(chunk, tenants)]

    def replace_many(self, records: Iterable[Record | Draft], tenants: AbstractSet[str] | None = None) -> list[Receipt]:
        """As ``upsert_many``; then remove what else each (tenant, namespace) among them holds, one receipt each.

        Nothing is removed beside a ``foreign`` record: more likely than not its source is another tenant's.
        """
        kept: dict[tuple[str, str], set[str]] = {}
        foreign = set()
        receipts = []
        with self._writing() as batch:
            for chunk in _chunks(map(_draft, records)):
                written = batch.upsert(chunk, tenants)
                receipts.extend(written)
                for draft, receipt in zip(chunk, written, strict=True):
                    place = (draft.tenant, draft.namespace)
                    kept.setdefault(place, set()).add(draft.id)
                    if receipt.outcome is WriteOutcome.FOREIGN:
                        foreign.add(place)
            for (tenant, namespace), ids in kept.items():
                if (tenant, namespace) not in foreign:
                    receipts.extend(batch.remove_others(tenant, namespace, ids))
        return receipts

    def replace_source(
        self, source: Source, records: Iterable[tuple[str, Record | Draft]], tenants: AbstractSet[str] | None = None
    ) -> list[Receipt]:
        """Write the records of a folder of documents, each with its file; then remove what else the folder owns.

        As ``cluster.source_writer.write_source`` says.

        Raises:
            UnconfirmedRemovals: nothing was written.
        """
        with self._writing() as batch:
            drafts = ((path, _draft(record)) for path, record in records)
            return write_source(batch, source, _chunks(drafts), tenants)

    def remove(
        self, record_id: str, version: int | None = None, tenants: AbstractSet[str] | None = None
    ) -> Receipt | None:
        """Leave a tombstone that keeps the version for ever.

        None where the id was never on record, or is one of a tenant that is not in ``tenants`` (see ``upsert_many``).

        Raises:
            StaleVersion: if ``version`` is given and not newer than the stored one.
        """
        with self._writing() as batch:
            return batch.remove(record_id, version, tenants)

    def set_status(self, record_id: str, status: Status, tenants: AbstractSet[str] | None = None) -> Receipt | None:
        """Change a record's status as its next version.

        None where it is removed, was never there, or is of a tenant that is not in ``tenants``.
        """
        with self._writing() as batch:
            record = batch.snapshot().record(record_id)
            if record is None or not (tenants is None or record.access.tenant in tenants):
                return None
            return batch.upsert([Draft.of(replace(record, status=status, version=0))], None)[0]

    def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """Store that one record stands for another, in place of what was said of the other before."""
        with self._writing() as batch:
            batch.confirm_duplicate(pair)

    def withdraw_duplicate(self, duplicate: str) -> bool:
        """Take that back; False where nothing was said."""
        with self._writing() as batch:
            return batch.withdraw_duplicate(duplicate)

    def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """What was said of these records, by id, whether it holds or not."""
        with translated(), self._engine.connect() as connection, connection.begin():
            return DuplicateLedger(connection).of(ids)

    def put_grant_list(self, tenant: str, name: str, ids: Iterable[str]) -> GrantList:
        """Store a tenant's named list of record ids; an equal list writes nothing.

        Raises:
            InvalidRequest: if the name is unusable.
        """
        with self._writing() as batch:
            return batch.put_grant_list(tenant, name, tuple(sorted(set(ids))))

    def delete_grant_list(self, tenant: str, name: str) -> int:
        """Remove a list; the seq of that change.

        Raises:
            UnknownGrantList: where the tenant has no such list.
        """
        with self._writing() as batch:
            seq = batch.delete_grant_list(tenant, name)
        if seq is None:
            raise UnknownGrantList(name)
        return seq

    def grant_list(self, tenant: str, name: str) -> GrantList:
        """One list.

        Raises:
            UnknownGrantList: where the tenant has no such list.
        """
        with self.snapshot() as snapshot:
            found = snapshot.grant_list(tenant, name)
        if found is None:
            raise UnknownGrantList(name)
        return found

    def grant_lists_of(self, tenant: str) -> list[GrantList]:
        """A tenant's lists, by name."""
        with self.snapshot() as snapshot:
            return snapshot.grant_lists_of(tenant)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The registry at one ``seq``, for a bulk load: bodies and grant lists that belong together."""
        with translated(), self._engine.connect() as connection, connection.begin():
            yield Snapshot(connection)

    def get(self, record_id: str) -> Record | None:
        """The record as it stands, None where it is removed or was never there."""
        with self.snapshot() as snapshot:
            return snapshot.record(record_id)

    def bodies(self, ids: Iterable[str]) -> list[bytes]:
        """Canonical bodies of these records as they stand, in no order; removed and unknown ones are left out."""
        with self.snapshot() as snapshot:
            return [body for chunk in _chunks(ids) for body in snapshot.bodies_of(chunk)]

    def changes(self, after_seq: int, limit: int) -> list[Change]:
        """At most ``limit`` changes after ``after_seq``, in order, without a gap; no body where a record is removed."""
        with self.snapshot() as snapshot:
            return snapshot.changes(after_seq, limit)

    def last_seq(self) -> int:
        """The last change, 0 for an empty registry; one row, cheap enough to poll."""
        with self.snapshot() as snapshot:
            return snapshot.seq

    def counts(self) -> RegistryCounts:
        """Rows per status, grant lists, and the last change."""
        with self.snapshot() as snapshot:
            return snapshot.counts()

    def stale_rows(self) -> list[StaleRow]:
        """Records whose stored hash or schema version is not what the current code computes, by id."""
        with self.snapshot() as snapshot:
            return [row for row, _ in snapshot.stale()]

    def rehash(self) -> int:
        """Write every stale record as its next version, so that indexes take it up; how many there were."""
        with self._writing() as batch:
            found = batch.snapshot().stale()
            stale = [Draft.of(replace(record, schema_version=SCHEMA_VERSION)) for _, record in found]
            for chunk in _chunks(stale):
                batch.rewrite(chunk)
        return len(stale)

    @contextmanager
    def _writing(self) -> Iterator[WriteBatch]:
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with translated(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: True})
            with connection.begin():
                batch = WriteBatch(connection, at)
                yield batch
                batch.finish()

    def _prepare(self) -> None:
        """Make missing tables, in one transaction because other processes may be opening the same file."""
        with translated(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: True})
            with connection.begin():
                metadata.create_all(connection)
                _check_format(connection)


def _check_format(connection: Connection) -> None:
    found = connection.execute(select(feed.c.format)).scalar()
    if found is None:
        connection.execute(insert(feed).values(id=1, format=FORMAT, last_seq=0))
    elif found != FORMAT:
        raise RegistryUnavailable(f"its tables have format {found}; this version reads format {FORMAT}")


def _draft(record: Record | Draft) -> Draft:
    return record if isinstance(record, Draft) else Draft.of(record)


def _chunks(values: Iterable[Value]) -> Iterator[list[Value]]:
    rest = iter(values)
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
