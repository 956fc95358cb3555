"""ControlPlane: the one seam through which the edge writes records, reads a stored one and asks for the status.

It decides nothing about authority: the edge passes the tenants that the caller may write, the plane obeys them. Two
implementations: ``cluster.local.LocalCluster`` (in process) and ``cluster.ray_control.RayControlPlane`` (a cluster).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cluster.duplicate_store import ConfirmedPair
from cluster.exports import Exporter, ExportOrder, ExportPage
from cluster.health import Health
from shards.messages import ShardStatus
from shards.record import Record, Status


class WriteOutcome(StrEnum):
    """What became of one write.

    ``unknown`` also stands for a record that is removed already, and for one of a tenant that the caller may not
    write, so that all three read the same. ``foreign`` is an upsert of an id that another tenant has or had. ``stale``
    is one whose version is not newer than the version on record (removed records count too). These three wrote nothing.
    """

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    STALE = "stale"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The acknowledgement of one write: it is durable, and every search from now on obeys it.

    Attributes:
        name: the record's id, or the grant list's name.
        version: the record's version on record after the write (``stale``: the stored one); 0 where there is none to
            tell, and for grant lists.
        seq: registry position at which the write is visible; pass it as ``min_seq`` to read one's own write.
    """

    name: str
    outcome: WriteOutcome
    version: int
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyStatus:
    """One copy of a shard as the control plane sees it; ``detail`` is the shard's own word, None before its first.

    ``loaded_records`` of ``expected_records`` is the progress of loading; once ready, both are ``detail.records``.
    """

    shard: int
    ready: bool
    loaded_records: int
    expected_records: int
    replaced: int
    detail: ShardStatus | None


class EmbeddingState(StrEnum):
    """What the embedding of records is about.

    ``off``: no vectors are wanted. ``loading``: the models are being loaded. ``embedding``: records wait for their
    vector. ``indexing``: all have one, graphs and snapshots are being made. ``done``: nothing is left. ``failing``: a
    model or the database does not work; it is tried again, and searches go by words.
    """

    OFF = "off"
    LOADING = "loading"
    EMBEDDING = "embedding"
    INDEXING = "indexing"
    DONE = "done"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingStatus:
    """How far the embedding of records is.

    Attributes:
        embedder: id of the embedder; empty while there is none.
        embedded: live records that have their vector.
        records: live records.
        records_per_s: at which vectors came about in the last seconds; 0 while nothing is embedded.
        refused: texts on which the model failed though it does others; their records stay without a vector.
        fault: why it is ``failing``; empty otherwise.
    """

    state: EmbeddingState
    embedder: str = ""
    embedded: int = 0
    records: int = 0
    records_per_s: float = 0.0
    refused: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """The whole cluster, for operators only: counts cover every tenant.

    Attributes:
        seq: last change of the registry.
        records: records in the registry, removed ones not counted.
        map_version: grows whenever a copy comes or goes.
    """

    health: Health
    seq: int
    records: int
    map_version: int
    copies: tuple[CopyStatus, ...]
    embedding: EmbeddingStatus


class ControlPlane(Protocol):
    """Every method may raise ``RegistryUnavailable``; none raises an error of Ray.

    ``tenants`` names the tenants whose records the caller may write (``"*"`` is the shared ones); None means all.
    A write returns after it is durable in the registry and applied by every shard copy that answers searches.
    """

    async def upsert(self, records: Sequence[Record], tenants: frozenset[str] | None = None) -> tuple[Receipt, ...]:
        """Write records, one receipt each in their order. ``version`` 0 takes the next one; otherwise it must be newer.

        A record whose own tenant is not in ``tenants`` is ``foreign``, and, whoever writes, one whose id another tenant
        has or had: the owner of an id never changes.
        """

    async def remove(self, record_id: str, tenants: frozenset[str] | None = None) -> Receipt:
        """Remove a record for good; its versions are kept, so that a late older write stays out."""

    async def set_status(self, record_id: str, status: Status, tenants: frozenset[str] | None = None) -> Receipt:
        """Enable, disable or deprecate a record."""

    async def record(self, record_id: str) -> Record | None:
        """The stored record whatever its status, None for unknown and removed ids. For the edge's own decisions."""

    async def put_grant_list(self, tenant: str, name: str, ids: Sequence[str]) -> Receipt:
        """Register or replace a tenant's grant list.

        Raises:
            InvalidRequest: if the name is unusable.
        """

    async def grant_list(self, tenant: str, name: str) -> tuple[str, ...] | None:
        """The ids of a tenant's grant list, sorted; None where there is none of this name."""

    async def delete_grant_list(self, tenant: str, name: str) -> Receipt:
        """Remove a grant list: scopes that name it admit nothing through it from the acknowledgement on."""

    async def open_export(self, order: ExportOrder) -> ExportPage:
        """The first page of everything that matches now; every acknowledged write is in.

        Raises:
            ShardUnavailable: while a shard cannot list what it has: an export is whole or is none.
            InvalidRequest, ExportTooLarge, ExportsExceeded: as ``cluster.exports.ExportDesk``.
        """

    async def export_page(self, exporter: Exporter, cursor: str, page_size: int | None = None) -> ExportPage:
        """A later page.

        Raises:
            InvalidRequest, UnknownExport, ExpiredExport, ExportsExceeded: as ``cluster.exports.ExportDesk``.
        """

    async def confirm_duplicate(self, pair: ConfirmedPair) -> None:
        """Say that one record stands for another; what was said of the other before is replaced."""

    async def withdraw_duplicate(self, duplicate: str) -> bool:
        """Take that back; False where nothing was said."""

    async def confirmed_duplicates(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """What was said of these records; whoever hands it on checks that both may be seen and are as they were."""

    async def status(self) -> ClusterStatus:
        """How the cluster is."""
