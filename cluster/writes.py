"""RegistryWrites: the control plane's writes on the registry, one receipt each; what both implementations share.

It blocks, applies nothing to any shard, and is called by one writer at a time, so that the owner of a record cannot
change between the look and the write.
"""

from collections.abc import Sequence

from cluster.control import Receipt, WriteOutcome
from cluster.errors import UnknownGrantList
from cluster.registry import Registry
from cluster.registry_values import Receipt as Written
from cluster.registry_values import WriteOutcome as Stored
from shards.record import Record, Status

_OUTCOMES = {
    Stored.IMPORTED: WriteOutcome.APPLIED,
    Stored.REMOVED: WriteOutcome.APPLIED,
    Stored.UNCHANGED: WriteOutcome.UNCHANGED,
    Stored.STALE: WriteOutcome.STALE,
}


class RegistryWrites:
    """Writes with the caller's authority; methods mean what those of ``ControlPlane`` mean."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``; one transaction for all that may be written."""
        foreign = set() if tenants is None else self._foreign(records, tenants)
        written = iter(self._registry.upsert_many([record for record in records if record.id not in foreign]))
        seq = self._registry.last_seq()
        return tuple(
            Receipt(name=record.id, outcome=WriteOutcome.FOREIGN, version=0, seq=seq)
            if record.id in foreign
            else _receipt(next(written))
            for record in records
        )

    def remove(self, record_id: str, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.remove``."""
        if not self._writable(record_id, tenants):
            return self._unknown(record_id)
        written = self._registry.remove(record_id)
        return self._unknown(record_id) if written is None else _receipt(written)

    def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        written = self._registry.set_status(record_id, status) if self._writable(record_id, tenants) else None
        return self._unknown(record_id) if written is None else _receipt(written)

    def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """See ``ControlPlane.put_grant_list``."""
        before = self._registry.last_seq()
        stored = self._registry.put_grant_list(tenant, name, ids)
        outcome = WriteOutcome.APPLIED if stored.seq > before else WriteOutcome.UNCHANGED
        return Receipt(name=name, outcome=outcome, version=0, seq=stored.seq)

    def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """See ``ControlPlane.grant_list``."""
        try:
            return self._registry.grant_list(tenant, name).ids
        except UnknownGrantList:
            return None

    def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """See ``ControlPlane.delete_grant_list``."""
        try:
            seq = self._registry.delete_grant_list(tenant, name)
        except UnknownGrantList:
            return self._unknown(name)
        return Receipt(name=name, outcome=WriteOutcome.APPLIED, version=0, seq=seq)

    def _foreign(self, records: Sequence[Record], tenants: frozenset[str]) -> set[str]:
        """Ids among ``records`` that belong, or would belong, to a tenant that may not be written."""
        foreign = {record.id for record in records if record.access.tenant not in tenants}
        with self._registry.snapshot() as snapshot:
            for record_id in {record.id for record in records} - foreign:
                stored = snapshot.record(record_id)
                if stored is not None and stored.access.tenant not in tenants:
                    foreign.add(record_id)
        return foreign

    def _writable(self, record_id: str, tenants: frozenset[str] | None) -> bool:
        if tenants is None:
            return True
        stored = self._registry.get(record_id)
        return stored is not None and stored.access.tenant in tenants

    def _unknown(self, name: str) -> Receipt:
        return Receipt(name=name, outcome=WriteOutcome.UNKNOWN, version=0, seq=self._registry.last_seq())


def _receipt(written: Written) -> Receipt:
    return Receipt(name=written.record_id, outcome=_OUTCOMES[written.outcome], version=written.version, seq=written.seq)
