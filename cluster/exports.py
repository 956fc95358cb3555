"""Exports: everything authorized that matched at one ``seq``, page by page, each record once and only once.

What is in an export is fixed when it is opened and kept beside the registry's log, so neither writes nor restarts
move a page. It decides nothing about who may see a record now: whoever hands a page out asks the shards again.
"""

import hashlib
import heapq
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cluster.errors import ExpiredExport, ExportsExceeded, ExportTooLarge, InvalidRequest, UnknownExport
from cluster.export_cursor import ID_BYTES, SECRET_BYTES, Cursor
from cluster.export_limits import ExportLimits
from cluster.export_pace import Pace
from cluster.export_store import Export, ExportStore
from shards.messages import Listing, ListingRequest
from shards.scope import Scope

PAGE_BYTES: Final = 8 * 2**20
"""Canonical JSON in one page; a page of large records ends early, and the next one goes on behind it."""

GRACE_S: Final = 600
"""How long the cursors of a finished export still serve: an answer may have been lost on its way."""

RETRY_S: Final = 60
"""When a caller with too many begun exports may ask again; finishing one is what helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """Who exports. ``authority`` is the fingerprint of its scope without any narrowing."""

    subject: str
    tenant: str
    authority: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """A new export.

    Attributes:
        scope: narrowing included.
        terms: of the query, analysed; records that hold one of them match, and with none all do.
        page_size: records of the first page, None for as many as the limits allow.
    """

    exporter: Exporter
    scope: Scope
    terms: tuple[str, ...]
    page_size: int | None
    request_id: str

    @property
    def listing(self) -> ListingRequest:
        """What every shard is asked for."""
        return ListingRequest(scope=self.scope, terms=self.terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPage:
    """Records ``start`` to ``end`` of an export, by id.

    Attributes:
        opened_by: id of the request that opened the export, for operators.
        seq: the last change it includes, for operators.
        position: opaque token of the index state; exports of one state have the same.
        bodies: canonical JSON as the records stood at ``seq``; nobody may see them before the shards were asked again.
        cursor: of the next page, empty on the last one.
        expires_s: when its cursors end, in seconds from 1970.
    """

    opened_by: str
    seq: int
    position: str
    total: int
    start: int
    end: int
    bodies: tuple[bytes, ...]
    cursor: str
    expires_s: int


class ExportDesk:
    """Opens exports and reads their pages, within the limits. ``admit`` is cheap; all else blocks on the database.

    Args:
        now_s: wall clock, in seconds from 1970.
        clock: monotonic, for the pace of pages.
    """

    def __init__(
        self,
        store: ExportStore,
        limits: ExportLimits = ExportLimits(),  # noqa: B008 -- frozen
        *,
        now_s: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._limits = limits
        self._now_s = now_s
        self._pace = Pace(limits.pages_per_minute, clock)

    def admit(self, exporter: Exporter) -> None:
        """Count one page for its reader, before anything is looked up.

        Raises:
            ExportsExceeded: if it has read as many as one minute allows.
        """
        self._pace.admit((exporter.tenant, exporter.subject))

    def open(self, order: ExportOrder, listings: Sequence[Listing]) -> ExportPage:
        """The first page of a new export: what every shard listed, all at one seq.

        Raises:
            InvalidRequest: if the page size is none.
            ExportTooLarge: if more records match than one export may have.
            ExportsExceeded: if the caller has begun too many others.
        """
        size = self._size(order.page_size)
        exporter, now_s = order.exporter, int(self._now_s())
        self._store.forget(now_s=now_s, audit_s=self._limits.audit_s)
        if self._store.open_ones(exporter.tenant, exporter.subject, now_s) >= self._limits.open_per_caller:
            raise ExportsExceeded("open_per_caller", self._limits.open_per_caller, RETRY_S)
        total = sum(len(listing.ids) for listing in listings)
        if total > self._limits.max_records:
            raise ExportTooLarge(total, self._limits.max_records)
        export = Export(
            id=secrets.token_hex(ID_BYTES),
            tenant=exporter.tenant,
            subject=exporter.subject,
            request_id=order.request_id,
            scope=order.scope.fingerprint,
            seq=min(listing.seq for listing in listings),
            total=total,
            opened_s=now_s,
            expires_s=now_s + self._limits.lifetime_s,
            secret=secrets.token_bytes(SECRET_BYTES),
        )
        # By id, whatever the number of shards.
        self._store.put(export, list(heapq.merge(*(listing.ids for listing in listings))))
        return self._page(export, exporter, 0, size)

    def page(self, exporter: Exporter, cursor: str, page_size: int | None = None) -> ExportPage:
        """A later page; the same cursor gives the same page until the export expires.

        Raises:
            InvalidRequest: if the page size is none.
            UnknownExport: if the cursor was not given to this caller with this authority, or is forgotten.
            ExpiredExport: if it was, too long ago.
        """
        size = self._size(page_size)
        place = Cursor.read(cursor)
        export = self._store.get(place.export_id)
        if export is None:
            raise UnknownExport("forgotten")
        if not place.holds_for(secret=export.secret, bound_to=_bound_to(export, exporter)):
            raise UnknownExport("sealed for another caller or authority")
        if export.expires_s <= self._now_s():
            raise ExpiredExport(export.expires_s)
        return self._page(export, exporter, place.start, size)

    def _page(self, export: Export, exporter: Exporter, start: int, size: int) -> ExportPage:
        bodies = _fitting(self._store.bodies(export.id, start, size))
        end = start + len(bodies)
        cursor = ""
        if end < export.total:
            bound_to = _bound_to(export, exporter)
            cursor = str(Cursor.sealed(export.id, end, secret=export.secret, bound_to=bound_to))
        else:
            now_s = int(self._now_s())
            self._store.finish(export.id, now_s=now_s, expires_s=min(export.expires_s, now_s + GRACE_S))
        return ExportPage(
            opened_by=export.request_id,
            seq=export.seq,
            position=hashlib.blake2b(str(export.seq).encode(), digest_size=8, person=b"export").hexdigest(),
            total=export.total,
            start=start,
            end=end,
            bodies=tuple(bodies),
            cursor=cursor,
            expires_s=export.expires_s,
        )

    def _size(self, wanted: int | None) -> int:
        most = self._limits.page_size
        if wanted is not None and not 1 <= wanted <= most:
            raise InvalidRequest("page_size", str(wanted), f"an integer from 1 to {most}")
        return most if wanted is None else wanted


def _bound_to(export: Export, exporter: Exporter) -> str:
    """What a cursor of this export in these hands is sealed with; each part but the first is free of spaces."""
    caller = hashlib.blake2b(repr((exporter.tenant, exporter.subject)).encode(), digest_size=16).hexdigest()
    return f"{caller} {exporter.authority} {export.scope} {export.seq}"


def _fitting(bodies: Sequence[bytes]) -> Sequence[bytes]:
    """As many as one page may weigh, and one at least."""
    weight = 0
    for place, body in enumerate(bodies):
        weight += len(body)
        if weight > PAGE_BYTES and place:
            return bodies[:place]
    return bodies
