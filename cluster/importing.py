"""One import: raw items are validated, then written in one transaction; the report names every refusal.

All of an import's sound records are written or none: a source that breaks off half-way leaves the registry as it was.
How a raw record becomes a Record is injected, because wire models belong to the edge.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from cluster.draft import Draft
from cluster.importers.source import (
    Defaults,
    Ignored,
    Incomplete,
    Item,
    Noted,
    Opened,
    RawRecord,
    ReadOnlyClaims,
    Refusal,
)
from cluster.registry import Registry
from cluster.registry_values import Receipt, WriteOutcome
from cluster.source_writer import Source
from cluster.spool import Spool
from shards.errors import InvalidRecord
from shards.record import Record, SideEffect

Parse = Callable[[Mapping[str, object]], Record]
"""Raises ``InvalidRecord`` for values that are no record."""

_PROGRESS_EVERY: Final = 500

_NOTED_FIELDS: Final = 20
"""Ignored fields that get a note each; a file may have any number of them."""

_UNWRITTEN: Final = {
    WriteOutcome.STALE: "version: must be newer than the stored {version}",
    WriteOutcome.FOREIGN: "id: belongs to another tenant",
    WriteOutcome.CLAIMED: "id: is on record already, from elsewhere than this folder",
}


class Phase(StrEnum):
    """What an import is doing."""

    READING = "reading"
    WRITING = "writing"


Progress = Callable[[Phase, float, str], None]
"""Called now and then with the share done, 0..1, and what was done last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did.

    Attributes:
        removed: records of a replaced namespace that the source no longer has.
        refused: records that were not imported, in source order; then those that the registry did not take.
        notes: what else the operator should know, in sentences.
        owners: tenants that own the records of the source, ``"*"`` for all; without those of refused ones. Sorted.
        namespaces: of the same records, sorted.
        example: the id of the first of them; empty where there is none.
        seq: registry position after the import.
    """

    imported: int
    unchanged: int
    removed: int
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...]
    owners: tuple[str, ...]
    namespaces: tuple[str, ...]
    example: str
    seq: int
    seconds: float

    @property
    def records_per_second(self) -> float:
        """Records taken in, unchanged ones included, per second of the whole import."""
        return (self.imported + self.unchanged) / max(self.seconds, 1e-9)


def run_import(
    registry: Registry, items: Iterable[Item], parse: Parse, defaults: Defaults, progress: Progress
) -> ImportReport:
    """Import every sound record of ``items``.

    Raises:
        UnreadableSource: from the importer; nothing was written.
        RegistryUnavailable: nothing was written.
    """
    tenants = defaults.writable
    return _run(
        registry,
        items,
        _Checker(parse, defaults),
        progress,
        lambda records: registry.upsert_many(records, tenants),
    )


def replace_namespaces(
    registry: Registry, items: Iterable[Item], parse: Parse, defaults: Defaults, progress: Progress
) -> ImportReport:
    """As ``run_import``; then remove what the source's namespaces held before and the source no longer has.

    Where a record was refused or the source is incomplete, nothing is removed: absence then proves nothing.
    """
    checker = _Checker(parse, defaults)

    def write(records: Iterable[Draft]) -> list[Receipt]:
        if checker.refused or checker.incomplete:
            checker.notes.append("Nothing was removed, because some records were refused or the source is incomplete.")
            return registry.upsert_many(records, defaults.writable)
        receipts = registry.replace_many(records, defaults.writable)
        if any(receipt.outcome is WriteOutcome.FOREIGN for receipt in receipts):
            checker.notes.append("Nothing was removed where records of another tenant were refused.")
        return receipts

    return _run(registry, items, checker, progress, write)


def replace_source(
    registry: Registry, items: Iterable[Item], parse: Parse, defaults: Defaults, *, source: Source, progress: Progress
) -> ImportReport:
    """Import a folder of documents, each ``Opened`` as the path in the folder; then remove what it has no longer.

    Only records of the same source are removed, and none of a file of which something was refused.

    Raises:
        UnconfirmedRemovals: nothing was written.
        UnreadableSource, RegistryUnavailable: as ``run_import``.
    """
    checker = _Checker(parse, defaults)

    def write(records: Iterable[Draft]) -> list[Receipt]:
        unread = frozenset(refusal.source for refusal in checker.refused)
        paths = (place.source for place in checker.places)
        return registry.replace_source(
            replace(source, unread=unread), zip(paths, records, strict=True), defaults.writable
        )

    return _run(registry, items, checker, progress, write)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a record came from and went to; the same object for all that have it."""

    source: str
    owner: str
    namespace: str


class _Checker:
    """Turns items into records and remembers what it refused.

    Attributes:
        places: of every record it made, in their order.
    """

    def __init__(self, parse: Parse, defaults: Defaults) -> None:
        self._parse = parse
        self._defaults = defaults
        self._seen: set[str] = set()
        self._source = ""
        self._known_places: dict[_Place, _Place] = {}
        self._ignored: Counter[str] = Counter()
        self._noted: Counter[str] = Counter()
        self._claims = 0
        self.refused: list[Refusal] = []
        self.notes: list[str] = []
        self.incomplete = False
        self.places: list[_Place] = []

    def accept(self, item: Item) -> Record | None:
        """The record of an item; None for what is none, which is then among the refusals or notes."""
        match item:
            case RawRecord():
                return self._record(item)
            case Refusal():
                self._refuse(item.name, item.reason, item.place)
            case Incomplete():
                self.incomplete = True
                self.notes.append(item.reason)
            case Opened():
                self._source = item.source
            case Ignored():
                self._ignored[item.field] += item.records
            case ReadOnlyClaims():
                self._claims += item.tools
            case Noted():
                self._noted[item.note] += item.records
        return None

    def finish(self) -> None:
        """Note what was counted; after the last item."""
        for field, records in self._ignored.most_common(_NOTED_FIELDS):
            self.notes.append(f"ignored field {field!r} in {records:,} {'record' if records == 1 else 'records'}")
        if (more := len(self._ignored) - _NOTED_FIELDS) > 0:
            self.notes.append(f"ignored {more:,} more fields")
        for note, records in self._noted.items():
            self.notes.append(f"{note}: {records:,} {'record' if records == 1 else 'records'}")
        if self._claims and self._defaults.side_effect is not SideEffect.READ:
            claim = "tool claims" if self._claims == 1 else "tools claim"
            self.notes.append(f"{self._claims:,} {claim} to be read-only; not believed, see --side-effect")

    def _record(self, raw: RawRecord) -> Record | None:
        try:
            record = self._parse(self._defaults.fill(raw.values))
        except (InvalidRecord, ValueError) as exc:
            self._refuse(raw.label, str(exc), raw.place)
            return None
        if record.id in self._seen:
            self._refuse(record.id, "id: an earlier record of this import has it", raw.place)
            return None
        self._seen.add(record.id)
        place = _Place(source=self._source, owner=record.access.tenant, namespace=record.namespace)
        self.places.append(self._known_places.setdefault(place, place))
        return record

    def _refuse(self, name: str, reason: str, place: str) -> None:
        self.refused.append(Refusal(name=name, reason=reason, source=self._source, place=place))


def _run(
    registry: Registry,
    items: Iterable[Item],
    checker: _Checker,
    progress: Progress,
    write: Callable[[Iterable[Draft]], list[Receipt]],
) -> ImportReport:
    started = time.monotonic()
    with Spool() as spool:
        for number, item in enumerate(items):
            if isinstance(item, RawRecord) and number % _PROGRESS_EVERY == 0:
                progress(Phase.READING, item.share, item.label)
            record = checker.accept(item)
            if record is not None:
                spool.add(record)
        checker.finish()
        if not (spool.count or checker.refused or checker.notes):
            checker.notes.append("The source holds no records.")
        progress(Phase.READING, 1.0, f"{spool.count} records")
        receipts = write(_watched(spool, progress))
    progress(Phase.WRITING, 1.0, f"{spool.count} records")
    outcomes = Counter(receipt.outcome for receipt in receipts)
    # Receipts of removals come after those of the records, so the shorter one is the places.
    told = list(zip(checker.places, receipts, strict=False))
    taken = [(place, receipt) for place, receipt in told if receipt.outcome not in _UNWRITTEN]
    unwritten = [_unwritten(place, receipt) for place, receipt in told if receipt.outcome in _UNWRITTEN]
    return ImportReport(
        imported=outcomes[WriteOutcome.IMPORTED],
        unchanged=outcomes[WriteOutcome.UNCHANGED],
        removed=outcomes[WriteOutcome.REMOVED],
        refused=(*checker.refused, *unwritten),
        notes=tuple(checker.notes),
        owners=tuple(sorted({place.owner for place, _ in taken})),
        namespaces=tuple(sorted({place.namespace for place, _ in taken})),
        example=taken[0][1].record_id if taken else "",
        seq=max((receipt.seq for receipt in receipts), default=registry.last_seq()),
        seconds=time.monotonic() - started,
    )


def _watched(spool: Spool, progress: Progress) -> Iterator[Draft]:
    for number, draft in enumerate(spool.drafts()):
        if number % _PROGRESS_EVERY == 0:
            progress(Phase.WRITING, number / spool.count, draft.id)
        yield draft


def _unwritten(place: _Place, receipt: Receipt) -> Refusal:
    reason = _UNWRITTEN[receipt.outcome].format(version=receipt.version)
    return Refusal(name=receipt.record_id, reason=reason, source=place.source)
