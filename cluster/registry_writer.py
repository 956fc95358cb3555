"""One write transaction of the registry: versions, sequence numbers, rows. It neither begins nor commits it.

A write that names a version must be newer than the one on record, removed records included; without one it gets the
next. Content equal to the stored one writes nothing, unless the write names a newer version: that version then has to
be remembered, or an older write could still come after it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

import orjson
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from cluster.bulk_insert import Row, insert_rows
from cluster.draft import Draft
from cluster.duplicate_store import ConfirmedPair, DuplicateLedger, body_of
from cluster.errors import RegistryUnavailable, StaleVersion
from cluster.registry_reader import Snapshot
from cluster.registry_schema import REMOVED, changes, feed, grant_lists, records
from cluster.registry_values import GrantList, Receipt, WriteOutcome, grant_list_key
from cluster.source_ledger import SourceLedger
from shards.record import bucket_of

_UPDATE_RECORD: Final = update(records).where(records.c.id == bindparam("row_id"))

_DECIDING: Final = (
    records.c.id,
    records.c.tenant,
    records.c.version,
    records.c.seq,
    records.c.status,
    records.c.content_hash,
)


class _Stored(NamedTuple):
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

    def upsert(self, batch: Sequence[Draft], tenants: AbstractSet[str] | None) -> list[Receipt]:
        """Write records in order, one receipt each; an id may occur twice.

        An id keeps its owner for ever, also when it is removed: a record of another tenant is ``foreign``, whoever
        writes it. With ``tenants``, only records of these are written.
        """
        stored = self._stored([draft.id for draft in batch])
        log: list[Row] = []
        new: dict[str, Row] = {}
        changed: dict[str, Row] = {}
        receipts = []
        for draft in batch:
            known = stored.get(draft.id)
            if not _may_write(draft, known, tenants):
                receipts.append(self._foreign(draft.id))
                continue
            digest = draft.content_hash()
            receipt = _refusal(draft, digest, known)
            if receipt is None:
                version = draft.version or (known.version + 1 if known else 1)
                target = new if known is None or draft.id in new else changed
                target[draft.id] = self._log_record(draft, version, digest, log)
                known = _Stored(
                    tenant=draft.tenant, version=version, seq=self._seq, status=draft.status, content_hash=digest
                )
                stored[draft.id] = known
                receipt = _receipt(draft.id, WriteOutcome.IMPORTED, known)
            receipts.append(receipt)
        self._flush(log, list(new.values()), list(changed.values()))
        return receipts

    def rewrite(self, batch: Sequence[Draft]) -> None:
        """Write stored records anew as their next version although their content is the same."""
        log: list[Row] = []
        rows = [self._log_record(draft, draft.version + 1, draft.content_hash(), log) for draft in batch]
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
        tombstone = known._replace(
            version=version or known.version + 1, seq=self._next_seq(), status=REMOVED, content_hash=""
        )
        self._log("record", record_id, tombstone.version, "remove", None)
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
        self._log("grant_list", key, 0, "put", body)
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
        self._log("grant_list", key, 0, "delete", None)
        return seq

    def _tell_of_duplicates(self) -> None:
        ledger = DuplicateLedger(self._connection)
        for duplicate, twin in ledger.turned(self._touched).items():
            seq = self._next_seq()
            body, op = (body_of(twin), "put") if twin else (None, "delete")
            self._log("duplicate", duplicate, 0, op, body)
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

    def _log_record(self, draft: Draft, version: int, digest: str, log: list[Row]) -> Row:
        """Append a record's change to ``log``; its row of the current state."""
        seq, bucket = self._next_seq(), bucket_of(draft.id)
        body = draft.accepted(version, self._at)
        log.append((seq, "record", draft.id, bucket, version, "upsert", body, self._at))
        self._touched.add(draft.id)
        return (
            draft.id, draft.kind, draft.tenant, draft.namespace, bucket, version, seq, draft.status, digest,
            draft.search_text_hash, draft.schema_version, self._at,
        )  # fmt: skip

    def _log(self, kind: str, change_id: str, version: int, op: str, body: bytes | None) -> None:
        """Write a row of the log under the sequence number handed out last."""
        row = (self._seq, kind, change_id, bucket_of(change_id), version, op, body, self._at)
        insert_rows(self._connection, changes, [row])

    def _flush(self, log: list[Row], new: list[Row], changed: list[Row]) -> None:
        insert_rows(self._connection, changes, log)
        insert_rows(self._connection, records, new)
        if changed:
            names = records.columns.keys()
            rows = [dict(zip(names, row, strict=True)) for row in changed]
            self._connection.execute(_UPDATE_RECORD, [row | {"row_id": row["id"]} for row in rows])


def _may_write(draft: Draft, known: _Stored | None, tenants: AbstractSet[str] | None) -> bool:
    owner = draft.tenant
    return (tenants is None or owner in tenants) and (known is None or known.tenant == owner)


def _refusal(draft: Draft, digest: str, known: _Stored | None) -> Receipt | None:
    """The receipt of a write that changes nothing; None if it must be written."""
    if known is None:
        return None
    same = known.content_hash == digest and known.status != REMOVED
    if same and draft.version in (0, known.version):
        return _receipt(draft.id, WriteOutcome.UNCHANGED, known)
    if 0 < draft.version <= known.version:
        return _receipt(draft.id, WriteOutcome.STALE, known)
    return None


def _receipt(record_id: str, outcome: WriteOutcome, now: _Stored) -> Receipt:
    return Receipt(record_id=record_id, outcome=outcome, seq=now.seq, version=now.version)
