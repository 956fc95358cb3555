"""The registry's tables and how its database is opened. It holds no rule about versions or sequence numbers.

``changes`` is the log and the only place of bodies; ``records`` is the current state and points into it by ``seq``.
Removed records keep their row, so that their version is never forgotten. ``vectors`` is a cache beside them
(``cluster.vector_cache``): whatever is in it can be made again. ``exports`` and ``duplicates`` are what callers left
about records; of the latter indexes hear what holds of it, by ``twins``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from cluster.errors import RegistryUnavailable

FORMAT: Final = 1
"""Version of these tables; a database of another format is refused, never guessed at."""

REMOVED: Final = "removed"
"""Status of a tombstone; no ``shards.record.Status``, because a removed record is no record."""

WRITING: Final = "shortlist_writing"
"""Execution option of a connection that takes the write lock when its transaction begins."""

_SQLITE_SETTINGS: Final = (
    "busy_timeout=30000",  # ms; first, because the switch to WAL already needs the lock
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "cache_size=-65536",  # KiB: an import's index pages stay in memory
)

_Seq = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()

feed = Table(
    "feed",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("last_seq", _Seq, nullable=False),
)
"""One row. Writers lock it first, so numbers are handed out in the order in which transactions commit."""

changes = Table(
    "changes",
    metadata,
    Column("seq", _Seq, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("id", String(1024), nullable=False),
    Column("bucket", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("op", String(16), nullable=False),
    Column("body", LargeBinary),
    Column("at", String(32), nullable=False),
)

records = Table(
    "records",
    metadata,
    Column("id", String(512), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("tenant", String(256), nullable=False),
    Column("namespace", String(256), nullable=False),
    Column("bucket", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("seq", _Seq, ForeignKey("changes.seq"), nullable=False),
    Column("status", String(16), nullable=False),
    Column("content_hash", String(32), nullable=False),
    Column("search_text_hash", String(32), nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("indexed_at", String(32), nullable=False),
    Index("records_by_bucket", "bucket", "id"),
    Index("records_by_namespace", "tenant", "namespace"),
)

grant_lists = Table(
    "grant_lists",
    metadata,
    Column("tenant", String(256), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("ids", LargeBinary, nullable=False),
    Column("seq", _Seq, ForeignKey("changes.seq"), nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("embedder", String(256), primary_key=True),
    Column("search_text_hash", String(32), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""No foreign key: a vector outlives its record, so that a text that comes back is not embedded again."""

exports = Table(
    "exports",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(256), nullable=False),
    Column("subject", String(1024), nullable=False),
    Column("request_id", String(64), nullable=False),
    Column("scope", String(32), nullable=False),
    Column("seq", _Seq, nullable=False),
    Column("total", Integer, nullable=False),
    Column("opened_s", BigInteger, nullable=False),
    Column("expires_s", BigInteger, nullable=False),
    Column("finished_s", BigInteger),
    Column("secret", LargeBinary, nullable=False),
    Column("members", LargeBinary, nullable=False),
    Index("exports_by_caller", "tenant", "subject", "expires_s"),
)
"""One row an export: who opened it, when, at which seq, which changes its records are (``cluster.export_store``)."""

duplicates = Table(
    "duplicates",
    metadata,
    Column("duplicate", String(512), primary_key=True),
    Column("canonical", String(512), nullable=False),
    Column("tenant", String(256), nullable=False),
    Column("duplicate_hash", String(32), nullable=False),
    Column("canonical_hash", String(32), nullable=False),
    Column("subject", String(1024), nullable=False),
    Column("at", String(32), nullable=False),
)
"""Which record somebody said another one stands for, while the texts of both have these hashes
(``cluster.duplicate_store``); the records themselves know nothing of it."""

twins = Table(
    "twins",
    metadata,
    Column("duplicate", String(512), primary_key=True),
    Column("seq", _Seq, ForeignKey("changes.seq"), nullable=False),
)
"""Those of ``duplicates`` that hold as the records stand now, and the change that told the indexes so."""

sources = Table(
    "sources",
    metadata,
    Column("name", String(256), primary_key=True),
    Column("folder", String(4096), nullable=False),
)
"""One row a folder of documents that was imported (``cluster.source_ledger``)."""

source_records = Table(
    "source_records",
    metadata,
    Column("record_id", String(512), primary_key=True),
    Column("source", String(256), ForeignKey("sources.name"), nullable=False),
    Column("path", String(4096), nullable=False),
    Index("source_records_by_source", "source"),
)
"""Which folder a record is of, and which of its files."""


def sqlite_url(path: Path) -> URL:
    """The URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def open_engine(url: str | URL) -> Engine:
    """An engine whose SQLite connections are durable (WAL, every commit synced) and whose writers lock at BEGIN.

    Other databases serialise writers by the row lock on ``feed`` and read snapshots at REPEATABLE READ. A SQLite
    file and its folder are made where they are missing, for their owner only.

    Raises:
        RegistryUnavailable: if the URL, its driver or the folder cannot be used. The URL is not repeated: it may hold
            a password.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return create_engine(parsed, isolation_level="REPEATABLE READ", hide_parameters=True)
        # Parameters are records and ids, which belong in no traceback.
        engine = create_engine(parsed, hide_parameters=True)
        if parsed.database:
            file = Path(parsed.database)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # It holds the records of every tenant; SQLite gives its side files the mode of the file.
            if not file.exists():
                file.touch(mode=0o600, exist_ok=True)
    except (ArgumentError, ModuleNotFoundError) as exc:
        raise RegistryUnavailable("registry.url names no database that can be used from here") from exc
    except OSError as exc:
        raise RegistryUnavailable(f"{exc.filename}: {exc.strerror}") from exc
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def translated() -> Iterator[None]:
    """Database errors as our own. Only the driver's words are kept: statements would carry record text."""
    try:
        yield
    except DBAPIError as exc:
        raise RegistryUnavailable(str(exc.orig)) from exc
    except PoolTimeout as exc:
        raise RegistryUnavailable("no free connection in time") from exc


def _prepare_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    # The driver's own implicit BEGIN comes too late and is never IMMEDIATE; None leaves transactions to us.
    connection.isolation_level = None
    cursor = connection.cursor()
    for setting in _SQLITE_SETTINGS:
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A reader that turns writer inside one transaction gets SQLITE_BUSY at once; a writer therefore locks first.
    writing = connection.get_execution_options().get(WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
