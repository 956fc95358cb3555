"""The ledger of folders of documents: which records came from which folder, by which file. It decides nothing.

A record is of one folder at most, and an import of a folder removes only records that the ledger has under its name.
So no import can take away what another folder, another file of records or a writer over HTTP has put there.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select, update

from cluster.registry_schema import REMOVED, records, source_records, sources


class SourceLedger:
    """The ledger inside one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def folder_of(self, source: str) -> str | None:
        """The folder that was imported last under this name, None for a new name."""
        folder: str | None = self._connection.execute(select(sources.c.folder).where(sources.c.name == source)).scalar()
        return folder

    def set_folder(self, source: str, folder: str) -> None:
        """Remember the folder of a name."""
        if self.folder_of(source) is None:
            self._connection.execute(insert(sources).values(name=source, folder=folder))
        else:
            self._connection.execute(update(sources).where(sources.c.name == source).values(folder=folder))

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """The source of each of these records that are on record; ``""`` where it is of none. Unknown ids are left out.

        A removed record is owned by nobody but a source that still has it in the ledger.
        """
        query = (
            select(records.c.id, records.c.status, source_records.c.source)
            .select_from(records.outerjoin(source_records, source_records.c.record_id == records.c.id))
            .where(records.c.id.in_(ids))
        )
        rows = self._connection.execute(query)
        return {row[0]: row[2] or "" for row in rows if row[2] is not None or row[1] != REMOVED}

    def files_of(self, source: str) -> dict[str, str]:
        """The file of every record of a source, by id."""
        query = (
            select(source_records.c.record_id, source_records.c.path)
            .where(source_records.c.source == source)
            .order_by(source_records.c.record_id)
        )
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def enter(self, source: str, files: Mapping[str, str], known: Mapping[str, str]) -> None:
        """Put records under a source, id to file; ``known`` is what ``files_of`` gave before."""
        new = [
            {"record_id": record_id, "source": source, "path": path}
            for record_id, path in files.items()
            if record_id not in known
        ]
        if new:
            self._connection.execute(insert(source_records), new)
        for record_id, path in files.items():
            if known.get(record_id, path) != path:
                self._connection.execute(
                    update(source_records).where(source_records.c.record_id == record_id).values(path=path)
                )

    def strike(self, record_id: str) -> None:
        """Take a record out of the ledger."""
        self._connection.execute(delete(source_records).where(source_records.c.record_id == record_id))
