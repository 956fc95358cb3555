"""DuplicateStore: which record somebody said another one stands for, in the registry's database, and its taking back.

It changes no record, compares none and knows no caller. All calls block; each is one transaction.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import Connection, Engine, delete, insert, select

from cluster.registry_schema import WRITING, duplicates, translated

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


class DuplicateStore:
    """Every method raises ``RegistryUnavailable`` when the database refuses or times out.

    Args:
        engine: of the registry's database, whose tables are there.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, pair: ConfirmedPair) -> None:
        """Store a pair in place of what was said of its duplicate before."""
        with self._writing() as connection:
            connection.execute(delete(duplicates).where(duplicates.c.duplicate == pair.duplicate))
            connection.execute(insert(duplicates), [asdict(pair)])

    def drop(self, duplicate: str) -> bool:
        """Forget what was said of a record; False where nothing was."""
        with self._writing() as connection:
            gone = connection.execute(delete(duplicates).where(duplicates.c.duplicate == duplicate))
            return gone.rowcount > 0

    def of(self, ids: Sequence[str]) -> tuple[ConfirmedPair, ...]:
        """The pairs whose duplicate is one of these, by its id."""
        found: list[ConfirmedPair] = []
        with translated(), self._engine.connect() as connection, connection.begin():
            for start in range(0, len(ids), _CHUNK):
                wanted = duplicates.c.duplicate.in_(ids[start : start + _CHUNK])
                rows = connection.execute(select(*_PAIR).where(wanted))
                found += [ConfirmedPair(**row._mapping) for row in rows]  # noqa: SLF001 -- SQLAlchemy's public name
        return tuple(sorted(found, key=lambda pair: pair.duplicate))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: True})
            with connection.begin():
                yield connection
