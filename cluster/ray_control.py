"""RayControlPlane: the ``ControlPlane`` that reaches the supervisor's actor, so that no error of Ray passes it.

It retries nothing: a write that broke off may have happened, and its caller has to look.
"""

import logging
from collections.abc import Sequence
from typing import Any

from ray.exceptions import RayError, RayTaskError

from cluster.control import ClusterStatus, Receipt
from cluster.duplicate_store import ConfirmedPair
from cluster.errors import ClusterError, RegistryUnavailable
from cluster.exports import Exporter, ExportOrder, ExportPage
from cluster.roster import MapView
from shards.record import Record, Status

_log = logging.getLogger(__name__)


class RayControlPlane:
    """The supervisor in another process; ``handle`` is that of a ``cluster.placement.SupervisorActor``.

    Every method raises ``RegistryUnavailable`` while the supervisor cannot be reached, and what it raises itself.
    """

    def __init__(self, handle: Any) -> None:  # noqa: ANN401 -- Ray's handles are untyped
        self._handle = handle

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None = None) -> tuple[Receipt, ...]:
        """See ``ControlPlane.upsert``."""
        receipts: tuple[Receipt, ...] = await _call(self._handle.upsert, tuple(records), tenants)
        return receipts

    async def remove(self, record_id: str, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.remove``."""
        receipt: Receipt = await _call(self._handle.remove, record_id, tenants)
        return receipt

    async def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None = None) -> Receipt:
        """See ``ControlPlane.set_status``."""
        receipt: Receipt = await _call(self._handle.set_status, record_id, status, tenants)
        return receipt

    async def record(self, record_id: str) -> Record | None:
        """See ``ControlPlane.record``."""
        record: Record | None = await _call(self._handle.record, record_id)
        return record

    async def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """See ``ControlPlane.put_grant_list``."""
        receipt: Receipt = await _call(self._handle.put_grant_list, tenant, name, tuple(ids))
        return receipt

    async def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """See ``ControlPlane.grant_list``."""
        ids: tuple[str, ...] | None = await _call(self._handle.grant_list, tenant, name)
        return ids

    async def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """See ``ControlPlane.delete_grant_list``."""
        receipt: Receipt = await _call(self._handle.delete_grant_list, tenant, name)
        return receipt

    async def open_export(self, order: ExportOrder) -> ExportPage:
        """See ``ControlPlane.open_export``."""
        page: ExportPage = await _call(self._handle.open_export, order)
        return page

    async def export_page(self, exporter: Exporter, cursor: str, page_size: int | None = None) -> ExportPage:
        """See ``ControlPlane.export_page``."""
        page: ExportPage = await _call(self._handle.export_page, exporter, cursor, page_size)
        return page

    async def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """See ``ControlPlane.confirm_duplicate``."""
        await _call(self._handle.confirm_duplicate, pair)

    async def withdraw_duplicate(self, duplicate: str) -> bool:
        """See ``ControlPlane.withdraw_duplicate``."""
        withdrawn: bool = await _call(self._handle.withdraw_duplicate, duplicate)
        return withdrawn

    async def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """See ``ControlPlane.confirmed_duplicates``."""
        pairs: tuple[ConfirmedPair, ...] = await _call(self._handle.confirmed_duplicates, tuple(ids))
        return pairs

    async def status(self) -> ClusterStatus:
        """See ``ControlPlane.status``."""
        status: ClusterStatus = await _call(self._handle.status)
        return status

    async def map_after(self, version: int, timeout_s: float) -> MapView:
        """See ``Supervisor.map_after``."""
        view: MapView = await _call(self._handle.map_after, version, timeout_s)
        return view

    async def suspect(self, shard: int) -> None:
        """See ``Supervisor.suspect``."""
        await _call(self._handle.suspect, shard)


async def _call(method: Any, *arguments: object) -> Any:  # noqa: ANN401 -- Ray's handles are untyped
    try:
        return await method.remote(*arguments)
    except RayTaskError as exc:
        if isinstance(exc.cause, ClusterError):
            raise exc.cause from None
        _log.error("control_call_failed", extra={"fault": type(exc.cause).__name__})
        raise RegistryUnavailable("the supervisor failed") from None
    except RayError as exc:
        raise RegistryUnavailable(f"the supervisor cannot be reached: {type(exc).__name__}") from None
