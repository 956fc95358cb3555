"""ExportStore: exports as they stand in the registry's database, each a list of changes of the registry.

It checks no caller and no limit; ``cluster.exports`` does. All calls block and each is one transaction.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from cluster.errors import RegistryUnavailable
from cluster.registry_schema import WRITING, changes, exports, records, translated

_CHUNK: Final = 2_000
"""Ids or seqs in one statement."""

_RECORD: Final = "record"
"""Kind of a change that is of a record."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One export; times count seconds from 1970.

    Attributes:
        request_id: of the request that opened it.
        scope: fingerprint of the scope it was opened with, narrowing included.
        seq: the registry's last change before it was opened: it is of the state after that.
        total: how many records it has.
        finished_s: when its last page was first read, None before that.
        secret: seals its cursors.
    """

    id: str
    tenant: str
    subject: str
    request_id: str
    scope: str
    seq: int
    total: int
    opened_s: int
    expires_s: int
    finished_s: int | None = None
    secret: bytes = field(repr=False)


_EXPORT: Final = tuple(exports.c[name] for name in Export.__dataclass_fields__)


class ExportStore:
    """Every method raises ``RegistryUnavailable`` when the database refuses or times out.

    Args:
        engine: of the registry's database, whose tables are there.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, export: Export, members: Sequence[str]) -> None:
        """Store an export of these records as they stood at its seq, in their order.

        Raises:
            RegistryUnavailable: also if a record is not in the log of changes, which cannot be once it was indexed.
        """
        with self._writing() as connection:
            found = _changes_of(connection, members, export.seq)
            row = {name: getattr(export, name) for name in Export.__dataclass_fields__}
            connection.execute(insert(exports), [row | {"members": _packed(found)}])

    def get(self, export_id: str) -> Export | None:
        """The export, however old; None for an unknown or forgotten one."""
        with self._reading() as connection:
            row = connection.execute(select(*_EXPORT).where(exports.c.id == export_id)).one_or_none()
            return None if row is None else Export(**row._mapping)  # noqa: SLF001 -- SQLAlchemy's public name for it

    def bodies(self, export_id: str, start: int, count: int) -> list[bytes]:
        """Canonical bodies of some of its records, as they stood at its seq, in order; none where it has expired."""
        with self._reading() as connection:
            packed: bytes = connection.execute(select(exports.c.members).where(exports.c.id == export_id)).scalar_one()
            wanted = _unpacked(packed)[start : start + count].tolist()
            found: dict[int, bytes] = {}
            for chunk in _chunks(wanted):
                rows = connection.execute(select(changes.c.seq, changes.c.body).where(changes.c.seq.in_(chunk)))
                found.update((row.seq, row.body) for row in rows)
            return [found[seq] for seq in wanted]

    def open_ones(self, tenant: str, subject: str, now_s: int) -> int:
        """Exports of a caller that are neither finished nor expired."""
        with self._reading() as connection:
            own = (exports.c.tenant == tenant) & (exports.c.subject == subject)
            live = (exports.c.expires_s > now_s) & exports.c.finished_s.is_(None)
            return connection.execute(select(func.count()).select_from(exports).where(own & live)).scalar_one()

    def finish(self, export_id: str, *, now_s: int, expires_s: int) -> bool:
        """The last page has been read: it expires earlier. False where that was known."""
        with self._writing() as connection:
            first = (exports.c.id == export_id) & exports.c.finished_s.is_(None)
            done = connection.execute(update(exports).where(first).values(finished_s=now_s, expires_s=expires_s))
            return done.rowcount > 0

    def forget(self, *, now_s: int, audit_s: int) -> None:
        """Drop the members of expired exports, and whole entries that are older than ``audit_s``."""
        with self._writing() as connection:
            expired = (exports.c.expires_s <= now_s) & (exports.c.members != b"")
            connection.execute(update(exports).where(expired).values(members=b""))
            connection.execute(delete(exports).where(exports.c.opened_s < now_s - audit_s))

    def entries(self) -> list[Export]:
        """Every entry on record, oldest first: who exported how much, for operators."""
        with self._reading() as connection:
            rows = connection.execute(select(*_EXPORT).order_by(exports.c.opened_s, exports.c.id))
            return [Export(**row._mapping) for row in rows]  # noqa: SLF001 -- as above

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: True})
            with connection.begin():
                yield connection


def _changes_of(connection: Connection, members: Sequence[str], seq: int) -> list[int]:
    """The seq of the change that wrote each member, in their order."""
    found: dict[str, int] = {}
    for chunk in _chunks(members):
        current = select(records.c.id, records.c.seq).where(records.c.id.in_(chunk), records.c.seq <= seq)
        found.update((row.id, row.seq) for row in connection.execute(current))
    # Another process wrote these since. The log has no index on ids, so they are looked for in one pass a chunk.
    for chunk in _chunks([record_id for record_id in members if record_id not in found]):
        written = changes.c.id.in_(chunk) & (changes.c.kind == _RECORD) & (changes.c.seq <= seq)
        earlier = select(changes.c.id, func.max(changes.c.seq)).where(written).group_by(changes.c.id)
        found.update((row[0], row[1]) for row in connection.execute(earlier))
    if len(found) < len(members):
        raise RegistryUnavailable("an indexed record is not in the log of changes")
    return [found[record_id] for record_id in members]


def _packed(seqs: Sequence[int]) -> bytes:
    return zlib.compress(np.array(seqs, "<i8").tobytes(), 1)


def _unpacked(packed: bytes) -> npt.NDArray[np.int64]:
    return np.frombuffer(zlib.decompress(packed) if packed else b"", "<i8").astype(np.int64)


def _chunks(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))
