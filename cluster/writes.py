"""RegistryWrites: the control plane's writes on the registry, one receipt each; what both implementations share.

It blocks and applies nothing to any shard. Whose records may be written is checked by the registry, inside the
transaction of the write, so that nobody can change a record's owner in between.
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
    Stored.FOREIGN: WriteOutcome.FOREIGN,
}


class RegistryWrites:
    """Writes with the caller's authority; methods mean what those of ``ControlPlane`` mean."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``; one transaction for all that may be written."""
        return tuple(_receipt(written) for written in self._registry.upsert_many(records, tenants))

    def remove(self, record_id: str, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.remove``."""
        written = self._registry.remove(record_id, tenants=tenants)
        # Unchanged means that it was removed before, which must read like an id that never was.
        if written is None or written.outcome is Stored.UNCHANGED:
            return self._unknown(record_id)
        return _receipt(written)

    def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        written = self._registry.set_status(record_id, status, tenants)
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

    def _unknown(self, name: str) -> Receipt:
        return Receipt(name=name, outcome=WriteOutcome.UNKNOWN, version=0, seq=self._registry.last_seq())


def _receipt(written: Written) -> Receipt:
    return Receipt(name=written.record_id, outcome=_OUTCOMES[written.outcome], version=written.version, seq=written.seq)
