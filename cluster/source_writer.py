"""One write of a folder of documents: what is new or changed is written, what is gone is removed, or nothing happens.

It neither reads the folder nor begins the transaction.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from cluster.draft import Draft
from cluster.errors import UnconfirmedRemovals
from cluster.registry_values import Receipt, WriteOutcome
from cluster.registry_writer import WriteBatch

FREE_REMOVALS: Final = 20
"""Records that may vanish without a word of the operator, however few the source has."""

FREE_REMOVALS_PERCENT: Final = 20
"""And of a larger source, this share of its records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder of documents, as the registry knows it.

    Attributes:
        name: under which its records are remembered.
        folder: where it lies; another place under the same name looks like another folder.
        unread: files, or folders, that are there but could not be read: their records stay as they are.
        confirmed: whether the operator has said that any removal is meant.
    """

    name: str
    folder: str
    unread: frozenset[str] = field(default=frozenset())
    confirmed: bool = False


def write_source(
    batch: WriteBatch,
    source: Source,
    chunks: Iterable[Sequence[tuple[str, Draft]]],
    tenants: AbstractSet[str] | None,
) -> list[Receipt]:
    """Write records, each with its file; then remove what else the source owns, one receipt each.

    A record that is not the source's own is ``claimed`` and stays as it is. One whose file now names another tenant is
    ``foreign``, because an id keeps its owner, and it is removed: its text is no longer meant for its former tenant.

    Raises:
        UnconfirmedRemovals: without the operator's word, if the folder has moved, holds nothing any more, or has lost
            more than 20 records and 20 percent of them.
    """
    ledger = batch.ledger()
    before, owned = ledger.folder_of(source.name), ledger.files_of(source.name)
    ledger.set_folder(source.name, source.folder)
    receipts: list[Receipt] = []
    kept: dict[str, str] = {}
    for chunk in chunks:
        for (path, record), receipt in zip(chunk, _written(batch, source.name, chunk, tenants), strict=True):
            receipts.append(receipt)
            if receipt.outcome not in (WriteOutcome.FOREIGN, WriteOutcome.CLAIMED):
                kept[record.id] = path
    ledger.enter(source.name, kept, owned)
    gone = [
        record_id for record_id, path in owned.items() if record_id not in kept and not _within(path, source.unread)
    ]
    if gone and not source.confirmed and (reason := _doubt(source, before, len(gone), len(owned), nothing=not kept)):
        raise UnconfirmedRemovals(source.name, len(gone), len(owned), reason)
    for record_id in gone:
        removed = batch.remove(record_id, None, tenants)
        if removed is not None:
            ledger.strike(record_id)
            receipts.append(removed)
    return receipts


def _written(
    batch: WriteBatch, source: str, chunk: Sequence[tuple[str, Draft]], tenants: AbstractSet[str] | None
) -> list[Receipt]:
    owners = batch.ledger().owners([record.id for _, record in chunk])
    own = [record for _, record in chunk if owners.get(record.id, source) == source]
    written = iter(batch.upsert(own, tenants))
    seq = batch.snapshot().seq
    return [
        next(written)
        if owners.get(record.id, source) == source
        else Receipt(record_id=record.id, outcome=WriteOutcome.CLAIMED, seq=seq, version=0)
        for _, record in chunk
    ]


def _doubt(source: Source, before: str | None, gone: int, owned: int, *, nothing: bool) -> str:
    """Why the removals look like a mistake; empty where they do not."""
    if before is not None and before != source.folder:
        return f"it was imported from {before} before, so this may be another folder; give that one its own source"
    if nothing:
        return "the folder holds no documents that can be imported"
    if gone > FREE_REMOVALS and gone * 100 > owned * FREE_REMOVALS_PERCENT:
        return f"that is more than {FREE_REMOVALS} records and {FREE_REMOVALS_PERCENT} percent"
    return ""


def _within(path: str, unread: frozenset[str]) -> bool:
    """Whether a file, or a folder that it is in, could not be read."""
    parts = path.split("/")
    return any("/".join(parts[:end]) in unread for end in range(1, len(parts) + 1))
