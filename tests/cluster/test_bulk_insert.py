"""Rows by position and by name are the same rows."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, String, Table, create_engine, select
from sqlalchemy.exc import IntegrityError

from cluster.bulk_insert import insert_rows

THINGS = Table(
    "things",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("body", LargeBinary),
    Column("name", String(8), nullable=False),
)
ROWS = [(1, b"\x00\xff", "a"), (2, None, "ü'%s:x")]


@pytest.fixture(params=["qmark", "named"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    with create_engine("sqlite://", paramstyle=request.param).connect() as opened:
        THINGS.create(opened)
        yield opened


def test_every_row_is_inserted_whether_the_driver_binds_by_position_or_by_name(connection: Connection) -> None:
    insert_rows(connection, THINGS, [])
    insert_rows(connection, THINGS, ROWS)
    assert [tuple(row) for row in connection.execute(select(THINGS))] == ROWS


def test_a_row_that_the_table_refuses_is_an_error(connection: Connection) -> None:
    with pytest.raises(IntegrityError):
        insert_rows(connection, THINGS, [(1, b"", "a"), (1, b"", "b")])
