"""One write transaction of the registry: versions, sequence numbers, rows. It neither begins nor commits it.

A write that names a version must be newer than the one on record, removed records included; without one it gets the
next. Content equal to the stored one writes nothing, unless the write names a newer version: that version then has to
be remembered, or an older write could still come after it.
"""

import hashlib
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

import orjson
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from cluster.duplicate_store import ConfirmedPair, DuplicateLedger, body_of
from cluster.errors import RegistryUnavailable, StaleVersion
from cluster.registry_reader import Snapshot
from cluster.registry_schema import REMOVED, changes, feed, grant_lists, records
from cluster.registry_values import GrantList, Receipt, WriteOutcome, grant_list_key
from cluster.source_ledger import SourceLedger
from shards.record import Record, bucket_of

Row = dict[str, object]

_UPDATE_RECORD: Final = update(records).where(records.c.id == bindparam("row_id"))

_DECIDING: Final = (
    records.c.id,
    records.c.tenant,
    records.c.version,
    records.c.seq,
    records.c.status,
    records.c.content_hash,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """What decides whether a write is accepted."""

    tenant: str
    version: int
    seq: int
    status: str
    content_hash: str


class WriteBatch:
    """All writes of one transaction; ``finish`` must be the last call inside it."""

    def __init__(self, connection: Connection, at: str) -> None:
        self._connection = connection
        self._at = at
        # The first statement: it locks the row where the database has row locks.
        last_seq = connection.execute(select(feed.c.last_seq).with_for_update()).scalar()
        if last_seq is None:
            raise RegistryUnavailable("the change feed has lost its position")
        self._seq: int = last_seq
        self._touched: set[str] = set()

    def finish(self) -> None:
        """Tell what the writes made of confirmed duplicates, and store the last sequence number handed out."""
        if self._touched:
            self._tell_of_duplicates()
        self._connection.execute(update(feed).values(last_seq=self._seq))

    def snapshot(self) -> Snapshot:
        """What the transaction sees: nobody else writes before it ends."""
        return Snapshot(self._connection)

    def ledger(self) -> SourceLedger:
        """Which records are of which folder of documents, as of this transaction."""
        return SourceLedger(self._connection)

    def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """Store a pair in place of what was said of its duplicate before."""
        DuplicateLedger(self._connection).put(pair)
        self._touched.add(pair.duplicate)

    def withdraw_duplicate(self, duplicate: str) -> bool:
        """Take back what was said of a record; False where nothing was."""
        self._touched.add(duplicate)
        return DuplicateLedger(self._connection).drop(duplicate)

    def upsert(self, batch: Sequence[Record], tenants: AbstractSet[str] | None) -> list[Receipt]:
        """Write records in order, one receipt each; an id may occur twice.

        An id keeps its owner for ever, also when it is removed: a record of another tenant is ``foreign``, whoever
        writes it. With ``tenants``, only records of these are written.
        """
        stored = self._stored([record.id for record in batch])
        log: list[Row] = []
        new: dict[str, Row] = {}
        changed: dict[str, Row] = {}
        receipts = []
        for record in batch:
            known = stored.get(record.id)
            if not _may_write(record, known, tenants):
                receipts.append(self._foreign(record.id))
                continue
            digest = content_hash(record)
            receipt = _refusal(record, digest, known)
            if receipt is None:
                version = record.version or (known.version + 1 if known else 1)
                target = new if known is None or record.id in new else changed
                target[record.id] = self._log_record(record, version, digest, log)
                known = _Stored(
                    tenant=record.access.tenant,
                    version=version,
                    seq=self._seq,
                    status=record.status,
                    content_hash=digest,
                )
                stored[record.id] = known
                receipt = _receipt(record.id, WriteOutcome.IMPORTED, known)
            receipts.append(receipt)
        self._flush(log, list(new.values()), list(changed.values()))
        return receipts

    def rewrite(self, batch: Sequence[Record]) -> None:
        """Write stored records anew as their next version although their content is the same."""
        log: list[Row] = []
        rows = [self._log_record(record, record.version + 1, content_hash(record), log) for record in batch]
        self._flush(log, [], rows)

    def remove(self, record_id: str, version: int | None, tenants: AbstractSet[str] | None) -> Receipt | None:
        """Leave a tombstone; None where the id was never on record, or is not of ``tenants`` where they are given.

        Raises:
            StaleVersion: if ``version`` is not newer than the stored one.
        """
        known = self._stored([record_id]).get(record_id)
        if known is None or not (tenants is None or known.tenant in tenants):
            return None
        if version is None and known.status == REMOVED:
            return _receipt(record_id, WriteOutcome.UNCHANGED, known)
        if version is not None and version <= known.version:
            raise StaleVersion(record_id, version, known.version)
        tombstone = replace(
            known, version=version or known.version + 1, seq=self._next_seq(), status=REMOVED, content_hash=""
        )
        self._connection.execute(insert(changes), self._change("record", record_id, tombstone.version, "remove", None))
        row = {"version": tombstone.version, "seq": tombstone.seq, "status": REMOVED, "content_hash": ""}
        self._connection.execute(update(records).where(records.c.id == record_id).values(indexed_at=self._at, **row))
        self._touched.add(record_id)
        return _receipt(record_id, WriteOutcome.REMOVED, tombstone)

    def remove_others(self, tenant: str, namespace: str, keep: AbstractSet[str]) -> list[Receipt]:
        """Remove a tenant's records of one namespace that are not in ``keep``, by id."""
        query = (
            select(records.c.id)
            .where(records.c.tenant == tenant, records.c.namespace == namespace, records.c.status != REMOVED)
            .order_by(records.c.id)
        )
        gone = [record_id for record_id in self._connection.execute(query).scalars() if record_id not in keep]
        receipts = (self.remove(record_id, None, None) for record_id in gone)
        return [receipt for receipt in receipts if receipt is not None]

    def put_grant_list(self, tenant: str, name: str, ids: tuple[str, ...]) -> GrantList:
        """Store a list, sorted and unique as given; an equal one writes nothing."""
        key = grant_list_key(tenant, name)
        body = orjson.dumps(ids)
        this_list = (grant_lists.c.tenant == tenant, grant_lists.c.name == name)
        row = self._connection.execute(select(grant_lists.c.ids, grant_lists.c.seq).where(*this_list)).one_or_none()
        if row is not None and row.ids == body:
            return GrantList(tenant=tenant, name=name, ids=ids, seq=row.seq)
        seq = self._next_seq()
        self._connection.execute(insert(changes), self._change("grant_list", key, 0, "put", body))
        if row is None:
            self._connection.execute(insert(grant_lists).values(tenant=tenant, name=name, ids=body, seq=seq))
        else:
            self._connection.execute(update(grant_lists).where(*this_list).values(ids=body, seq=seq))
        return GrantList(tenant=tenant, name=name, ids=ids, seq=seq)

    def delete_grant_list(self, tenant: str, name: str) -> int | None:
        """Remove a list; its change's seq, or None where there is none."""
        key = grant_list_key(tenant, name)
        this_list = (grant_lists.c.tenant == tenant, grant_lists.c.name == name)
        if self._connection.execute(delete(grant_lists).where(*this_list)).rowcount == 0:
            return None
        seq = self._next_seq()
        self._connection.execute(insert(changes), self._change("grant_list", key, 0, "delete", None))
        return seq

    def _tell_of_duplicates(self) -> None:
        ledger = DuplicateLedger(self._connection)
        for duplicate, twin in ledger.turned(self._touched).items():
            seq = self._next_seq()
            body, op = (body_of(twin), "put") if twin else (None, "delete")
            self._connection.execute(insert(changes), self._change("duplicate", duplicate, 0, op, body))
            ledger.note(duplicate, seq if twin else None)

    def _next_seq(self) -> int:
        self._seq += 1
        return self._seq

    def _foreign(self, record_id: str) -> Receipt:
        return Receipt(record_id=record_id, outcome=WriteOutcome.FOREIGN, seq=self._seq, version=0)

    def _stored(self, ids: list[str]) -> dict[str, _Stored]:
        found = {}
        for row_id, tenant, version, seq, status, digest in self._connection.execute(
            select(*_DECIDING).where(records.c.id.in_(ids))
        ):
            found[row_id] = _Stored(tenant=tenant, version=version, seq=seq, status=status, content_hash=digest)
        return found

    def _log_record(self, record: Record, version: int, digest: str, log: list[Row]) -> Row:
        """Append a record's change to ``log``; its row of the current state."""
        written = record.accepted(version, self._at)
        seq = self._next_seq()
        change = self._change("record", record.id, version, "upsert", written.to_json())
        log.append(change)
        self._touched.add(record.id)
        return {
            "id": record.id,
            "kind": record.kind.value,
            "tenant": record.access.tenant,
            "namespace": record.namespace,
            "bucket": change["bucket"],
            "version": version,
            "seq": seq,
            "status": record.status.value,
            "content_hash": digest,
            "search_text_hash": record.search_text_hash,
            "schema_version": record.schema_version,
            "indexed_at": self._at,
        }

    def _change(self, kind: str, change_id: str, version: int, op: str, body: bytes | None) -> Row:
        """A row of the log under the sequence number handed out last."""
        return {
            "seq": self._seq,
            "kind": kind,
            "id": change_id,
            "bucket": bucket_of(change_id),
            "version": version,
            "op": op,
            "body": body,
            "at": self._at,
        }

    def _flush(self, log: list[Row], new: list[Row], changed: list[Row]) -> None:
        if log:
            self._connection.execute(insert(changes), log)
        if new:
            self._connection.execute(insert(records), new)
        if changed:
            self._connection.execute(_UPDATE_RECORD, [row | {"row_id": row["id"]} for row in changed])


def content_hash(record: Record) -> str:
    """Hex digest (128 bit) of all that a writer decides: every field but the version and the time of acceptance."""
    written = record.version or record.indexed_at
    content = record.accepted(0, "") if written else record
    return hashlib.blake2b(content.to_json(), digest_size=16).hexdigest()


def _may_write(record: Record, known: _Stored | None, tenants: AbstractSet[str] | None) -> bool:
    owner = record.access.tenant
    return (tenants is None or owner in tenants) and (known is None or known.tenant == owner)


def _refusal(record: Record, digest: str, known: _Stored | None) -> Receipt | None:
    """The receipt of a write that changes nothing; None if it must be written."""
    if known is None:
        return None
    same = known.content_hash == digest and known.status != REMOVED
    if same and record.version in (0, known.version):
        return _receipt(record.id, WriteOutcome.UNCHANGED, known)
    if 0 < record.version <= known.version:
        return _receipt(record.id, WriteOutcome.STALE, known)
    return None


def _receipt(record_id: str, outcome: WriteOutcome, now: _Stored) -> Receipt:
    return Receipt(record_id=record_id, outcome=outcome, seq=now.seq, version=now.version)
