"""Reading the registry inside one transaction: everything a Snapshot returns belongs to one ``seq``.

It never writes, and knows nothing of who may see what: only shards and operators read here.
"""

from collections.abc import Iterator, Sequence

import orjson
from sqlalchemy import Connection, func, select

from cluster.registry_schema import REMOVED, changes, feed, grant_lists, records, twins
from cluster.registry_values import GrantList, RegistryCounts, StaleRow, grant_list_key
from shards.messages import Change, Twin
from shards.record import SCHEMA_VERSION, Record, Status

_BATCH = 2_000

_GRANT_LIST = (grant_lists.c.tenant, grant_lists.c.name, grant_lists.c.ids, grant_lists.c.seq)

_ALIVE = records.join(changes, changes.c.seq == records.c.seq)


class Snapshot:
    """The registry at one ``seq``; valid only inside the ``with`` that gave it.

    Attributes:
        seq: the last change it includes.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # The first read fixes the snapshot; all later ones belong to it.
        self.seq: int = connection.execute(select(feed.c.last_seq)).scalar_one()

    def bodies(self, buckets: range, batch: int = _BATCH) -> Iterator[list[bytes]]:
        """Canonical bodies of the records of a bucket range, by (bucket, id), in lists of ``batch``.

        Removed ones are left out; disabled and deprecated ones are not: their status keeps them from being candidates.
        """
        query = (
            select(changes.c.body)
            .select_from(_ALIVE)
            .where(records.c.bucket >= buckets.start, records.c.bucket < buckets.stop, records.c.status != REMOVED)
            .order_by(records.c.bucket, records.c.id)
        )
        for part in self._connection.execution_options(yield_per=batch).execute(query).partitions():
            yield [row[0] for row in part]

    def twins(self, buckets: range) -> tuple[Twin, ...]:
        """What holds of the confirmed duplicates of a bucket range, by id."""
        query = (
            select(changes.c.body)
            .select_from(twins.join(changes, changes.c.seq == twins.c.seq))
            .where(changes.c.bucket >= buckets.start, changes.c.bucket < buckets.stop)
            .order_by(twins.c.duplicate)
        )
        return tuple(twin for body in self._connection.execute(query).scalars() if (twin := twin_of(body)))

    def grant_lists(self) -> dict[str, tuple[str, ...]]:
        """Every grant list by its ``grant_list_key``."""
        return {grant_list_key(found.tenant, found.name): found.ids for found in self.grant_lists_of(None)}

    def grant_lists_of(self, tenant: str | None) -> list[GrantList]:
        """The lists of one tenant, or of all, by (tenant, name)."""
        query = select(*_GRANT_LIST).order_by(grant_lists.c.tenant, grant_lists.c.name)
        if tenant is not None:
            query = query.where(grant_lists.c.tenant == tenant)
        return [_grant_list(*row) for row in self._connection.execute(query)]

    def grant_list(self, tenant: str, name: str) -> GrantList | None:
        """One list, None where there is none."""
        query = select(*_GRANT_LIST).where(grant_lists.c.tenant == tenant, grant_lists.c.name == name)
        row = self._connection.execute(query).one_or_none()
        return None if row is None else _grant_list(*row)

    def record(self, record_id: str) -> Record | None:
        """The record as it stands, None where it is removed or was never there."""
        query = select(changes.c.body).select_from(_ALIVE).where(records.c.id == record_id, records.c.status != REMOVED)
        body = self._connection.execute(query).scalar()
        return None if body is None else Record.from_json(body)

    def bodies_of(self, ids: Sequence[str]) -> list[bytes]:
        """Canonical bodies of these records, in no order; removed and unknown ones are left out."""
        query = select(changes.c.body).select_from(_ALIVE).where(records.c.id.in_(ids), records.c.status != REMOVED)
        return list(self._connection.execute(query).scalars())

    def changes(self, after_seq: int, limit: int) -> list[Change]:
        """At most ``limit`` changes after ``after_seq``, in order, without a gap."""
        query = (
            select(changes.c.seq, changes.c.kind, changes.c.id, changes.c.body)
            .where(changes.c.seq > after_seq)
            .order_by(changes.c.seq)
            .limit(limit)
        )
        return [_change(*row) for row in self._connection.execute(query)]

    def counts(self) -> RegistryCounts:
        """Rows per status, lists, and the last change."""
        query = select(records.c.status, func.count()).group_by(records.c.status)
        by_status: dict[str, int] = {row[0]: row[1] for row in self._connection.execute(query)}
        return RegistryCounts(
            enabled=by_status.get(Status.ENABLED, 0),
            disabled=by_status.get(Status.DISABLED, 0),
            deprecated=by_status.get(Status.DEPRECATED, 0),
            removed=by_status.get(REMOVED, 0),
            grant_lists=self._connection.execute(select(func.count()).select_from(grant_lists)).scalar_one(),
            last_seq=self.seq,
        )

    def stale(self) -> Iterator[tuple[StaleRow, Record]]:
        """Records whose stored hash or schema version differs from what the current code computes, by id."""
        query = (
            select(records.c.search_text_hash, records.c.schema_version, changes.c.body)
            .select_from(_ALIVE)
            .where(records.c.status != REMOVED)
            .order_by(records.c.id)
        )
        for stored_hash, stored_schema, body in self._connection.execution_options(yield_per=_BATCH).execute(query):
            record = Record.from_json(body)
            if stored_hash != record.search_text_hash or stored_schema != SCHEMA_VERSION:
                row = StaleRow(
                    record_id=record.id,
                    stored_hash=stored_hash,
                    current_hash=record.search_text_hash,
                    stored_schema=stored_schema,
                    current_schema=SCHEMA_VERSION,
                )
                yield row, record


def twin_of(body: bytes | None) -> Twin | None:
    """What a change says of a confirmed duplicate, None where nothing holds any more."""
    if body is None:
        return None
    values = orjson.loads(body)
    return Twin(**{**values, "own": tuple(values["own"]), "its": tuple(values["its"])})


def _grant_list(tenant: str, name: str, ids: bytes, seq: int) -> GrantList:
    return GrantList(tenant=tenant, name=name, ids=tuple(orjson.loads(ids)), seq=seq)


def _change(seq: int, kind: str, change_id: str, body: bytes | None) -> Change:
    if kind == "record":
        return Change(seq=seq, record_id=change_id, body=body)
    if kind == "duplicate":
        return Change(seq=seq, duplicate=change_id, twin=twin_of(body))
    return Change(seq=seq, grant_list=change_id, grant_ids=None if body is None else tuple(orjson.loads(body)))
