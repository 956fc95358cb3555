"""VectorCache: the vectors of texts that were embedded before, durable in a database, by the hash of the text.

It embeds nothing and decides nothing; what is lost here costs time, never an answer. All calls block: asynchronous
callers use a thread. Any number of processes may share one database.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from sqlalchemy import URL, Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from cluster.errors import RegistryUnavailable
from cluster.registry_schema import REMOVED, WRITING, open_engine, records, translated, vectors

_CHUNK: Final = 500
"""Hashes in one statement."""

_ATTEMPTS: Final = 5

_LIVE: Final = select(records.c.search_text_hash).where(records.c.status != REMOVED)


class VectorCache:
    """Vectors by (embedder, ``search_text_hash``); each is the bytes of int8[dims].

    Every method raises ``RegistryUnavailable`` when the database refuses or times out.

    Args:
        url: of a database, commonly the registry's; the table is made where it is missing.
    """

    def __init__(self, url: str | URL) -> None:
        self._engine = open_engine(url)
        with self._writing() as connection:
            vectors.create(connection, checkfirst=True)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def get(self, embedder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """The stored vectors among these, by hash."""
        with translated(), self._engine.connect() as connection, connection.begin():
            return _stored(connection, embedder, hashes)

    def put(self, embedder: str, found: Mapping[str, bytes]) -> None:
        """Store vectors by hash, all or none; durable when it returns. Others of the same texts are replaced."""
        for attempt in range(_ATTEMPTS):
            try:
                with self._writing() as connection:
                    _write(connection, embedder, found)
            except RegistryUnavailable as exc:
                # Another process stored one of these texts just now, which only SQLite keeps from happening.
                if attempt + 1 == _ATTEMPTS or not isinstance(exc.__cause__, IntegrityError):
                    raise
            else:
                return

    def drop_unused(self, most: int) -> int:
        """Drop the vectors of at most ``most`` texts that no live record of the registry has; how many texts that were.

        Vectors of other embedders stay as long as their text does: going back to a model costs nothing then.
        """
        with translated(), self._engine.connect() as connection, connection.begin():
            unused = vectors.c.search_text_hash.not_in(_LIVE)
            hashes = connection.execute(select(vectors.c.search_text_hash).where(unused).distinct().limit(most))
            gone = list(hashes.scalars())
        if gone:
            with self._writing() as connection:
                for part in _chunks(gone):
                    # Looked at again under the lock: a record may have taken its old text up in between.
                    connection.execute(delete(vectors).where(vectors.c.search_text_hash.in_(part), unused))
        return len(gone)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(), self._engine.connect() as plain:
            connection = plain.execution_options(**{WRITING: True})
            with connection.begin():
                yield connection


def _stored(connection: Connection, embedder: str, hashes: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for part in _chunks(hashes):
        query = select(vectors.c.search_text_hash, vectors.c.vector).where(
            vectors.c.embedder == embedder, vectors.c.search_text_hash.in_(part)
        )
        found.update((row.search_text_hash, row.vector) for row in connection.execute(query))
    return found


def _write(connection: Connection, embedder: str, found: Mapping[str, bytes]) -> None:
    stored = _stored(connection, embedder, list(found))
    for part in _chunks([key for key, vector in stored.items() if vector != found[key]]):
        connection.execute(delete(vectors).where(vectors.c.embedder == embedder, vectors.c.search_text_hash.in_(part)))
    rows = [
        {"embedder": embedder, "search_text_hash": key, "vector": vector}
        for key, vector in found.items()
        if stored.get(key) != vector
    ]
    if rows:
        connection.execute(insert(vectors), rows)


def _chunks(hashes: Sequence[str]) -> Iterator[Sequence[str]]:
    return (hashes[start : start + _CHUNK] for start in range(0, len(hashes), _CHUNK))
