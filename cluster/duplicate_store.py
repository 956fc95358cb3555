"""Confirmed duplicates in the registry's database: which record somebody said another one stands for, and what holds.

It changes no record, compares none and knows no caller. Everything happens inside transactions of ``cluster.registry``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Final

import orjson
from sqlalchemy import Connection, delete, insert, or_, select

from cluster.registry_reader import Snapshot, twin_of
from cluster.registry_schema import changes, duplicates, twins
from shards.messages import Twin
from shards.record import Record

_CHUNK: Final = 500
"""Ids in one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedPair:
    """``canonical`` stands for ``duplicate``; both are records of ``tenant``.

    Attributes:
        duplicate_hash: ``search_text_hash`` of what was compared; the pair holds while both texts are the same.
        subject: who said so.
        at: RFC 3339 UTC.
    """

    duplicate: str
    canonical: str
    tenant: str
    duplicate_hash: str
    canonical_hash: str
    subject: str
    at: str


_PAIR: Final = tuple(duplicates.c[name] for name in ConfirmedPair.__dataclass_fields__)


class DuplicateLedger:
    """What was said of duplicates, as one transaction sees it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, pair: ConfirmedPair) -> None:
        """Store a pair in place of what was said of its duplicate before."""
        self._connection.execute(delete(duplicates).where(duplicates.c.duplicate == pair.duplicate))
        self._connection.execute(insert(duplicates), [asdict(pair)])

    def drop(self, duplicate: str) -> bool:
        """Forget what was said of a record; False where nothing was."""
        return self._connection.execute(delete(duplicates).where(duplicates.c.duplicate == duplicate)).rowcount > 0

    def of(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """The pairs whose duplicate is one of these, by its id."""
        found: list[ConfirmedPair] = []
        for part in _chunks(ids):
            rows = self._connection.execute(select(*_PAIR).where(duplicates.c.duplicate.in_(part)))
            found += [ConfirmedPair(**row._mapping) for row in rows]  # noqa: SLF001 -- SQLAlchemy's public name
        return tuple(sorted(found, key=lambda pair: pair.duplicate))

    def turned(self, touched: Iterable[str]) -> dict[str, Twin | None]:
        """What holds now of duplicates, by id, where writes to these records made it another thing; None for nothing.

        A pair holds while both of its records are there with the texts that were compared.
        """
        if not self._any():
            return {}
        ids = sorted(touched)
        said = {pair.duplicate: pair for part in _chunks(ids) for pair in self._touching(part)}
        concerned = sorted(said.keys() | set(ids))
        before = {one: twin for part in _chunks(concerned) for one, twin in self._holding(part)}
        records: dict[str, Record | None] = {}
        now = {one: self._twin(pair, records) for one, pair in said.items()}
        return {one: now.get(one) for one in concerned if now.get(one) != before.get(one)}

    def note(self, duplicate: str, seq: int | None) -> None:
        """Store which change says what holds of a duplicate, None where nothing does."""
        self._connection.execute(delete(twins).where(twins.c.duplicate == duplicate))
        if seq is not None:
            self._connection.execute(insert(twins).values(duplicate=duplicate, seq=seq))

    def _any(self) -> bool:
        """Whether anything was ever said; asked first, because most writes are to a registry without a pair."""
        return any(self._connection.execute(select(one.c.duplicate).limit(1)).scalar() for one in (duplicates, twins))

    def _touching(self, ids: Sequence[str]) -> list[ConfirmedPair]:
        query = select(*_PAIR).where(or_(duplicates.c.duplicate.in_(ids), duplicates.c.canonical.in_(ids)))
        return [ConfirmedPair(**row._mapping) for row in self._connection.execute(query)]  # noqa: SLF001 -- as above

    def _holding(self, ids: Sequence[str]) -> list[tuple[str, Twin | None]]:
        query = (
            select(twins.c.duplicate, changes.c.body)
            .select_from(twins.join(changes, changes.c.seq == twins.c.seq))
            .where(twins.c.duplicate.in_(ids))
        )
        return [(one, twin_of(body)) for one, body in self._connection.execute(query)]

    def _twin(self, pair: ConfirmedPair, records: dict[str, Record | None]) -> Twin | None:
        for one in (pair.duplicate, pair.canonical):
            if one not in records:
                records[one] = Snapshot(self._connection).record(one)
        duplicate, canonical = records[pair.duplicate], records[pair.canonical]
        if duplicate is None or canonical is None:
            return None
        if (duplicate.search_text_hash, canonical.search_text_hash) != (pair.duplicate_hash, pair.canonical_hash):
            return None
        return Twin(
            duplicate=pair.duplicate,
            canonical=pair.canonical,
            own=(duplicate.locale, duplicate.release, duplicate.product),
            its=(canonical.locale, canonical.release, canonical.product),
        )


def body_of(twin: Twin) -> bytes:
    """A twin in the log of changes; ``cluster.registry_reader.twin_of`` reads it."""
    return orjson.dumps(asdict(twin))


def _chunks(ids: Iterable[str]) -> Iterable[list[str]]:
    rest = iter(ids)
    while part := list(islice(rest, _CHUNK)):
        yield part
