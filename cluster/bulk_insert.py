"""Inserting many rows of one table by position, as fast as the driver takes them.

It knows no table and begins no transaction. SQLAlchemy's own way costs as much time per row as SQLite's work on it.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, insert

Row = tuple[object, ...]
"""A value for every column of a table, in the order of its columns."""


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows; none is fine. Databases whose drivers do not bind by position get them by name.

    Raises:
        DBAPIError: as any statement.
    """
    if not rows:
        return
    statement = insert(table).compile(dialect=connection.dialect)
    if statement.positional:
        connection.exec_driver_sql(str(statement), list(rows))
    else:
        names = table.columns.keys()
        connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])
