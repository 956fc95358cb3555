"""Parquet, read in batches. Only known columns of plain types are read: nothing in a file can run code."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.errors import UnreadableSource
from cluster.importers.fields import RECORD_FIELDS, check_field
from cluster.importers.source import Defaults, Ignored, Item, Row, reason_of, row_items

_BATCH: Final = 4_096

_COLUMNS: Final = (RECORD_FIELDS - {"access"}) | {"readonly", "side_effect"}
"""Access rules are nested; a catalogue that needs them comes as JSON Lines."""


def read_parquet(path: Path, defaults: Defaults) -> Iterator[Item]:
    """One item per row; at the end, which columns were left out.

    Raises:
        UnreadableSource: as ``parquet_rows``, and if a column holds access rules or looks like a mistyped one.
    """
    names, rows = _columns(path)
    if "access" in names:
        # Left out, it would open the records to callers they were closed to.
        raise UnreadableSource(str(path), "column 'access': access rules are read from JSON Lines only")
    ignored = [name for name in names if name not in _COLUMNS]
    for name in ignored:
        try:
            check_field(name)
        except ValueError as exc:
            raise UnreadableSource(str(path), f"column {exc}") from exc
    yield from row_items(parquet_rows(path, _COLUMNS), defaults.namespace_of(path))
    for name in ignored:
        yield Ignored(field=name, records=rows)


def parquet_rows(path: Path, known: Collection[str]) -> Iterator[Row]:
    """One row per row, of the known columns only.

    Raises:
        UnreadableSource: if the file is no Parquet file, is damaged, has none of the columns, one of them twice, or one
            of another type than text, list of text, integer or boolean.
    """
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            columns = _readable_columns(path, table.schema_arrow, known)
            rows = max(1, table.metadata.num_rows)
            for batch in table.iter_batches(batch_size=_BATCH, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield Row(place=f"row {number}", value=row, share=number / rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as exc:
        raise UnreadableSource(str(path), reason_of(exc)) from exc


def _columns(path: Path) -> tuple[list[str], int]:
    """The names of a file's columns, and how many rows it has."""
    try:
        with pq.ParquetFile(path) as table:
            return table.schema_arrow.names, table.metadata.num_rows
    except (pa.ArrowException, OSError, UnicodeDecodeError) as exc:
        raise UnreadableSource(str(path), reason_of(exc)) from exc


def _readable_columns(path: Path, schema: pa.Schema, known: Collection[str]) -> list[str]:
    found = [field for field in schema if field.name in known]
    for field in found:
        if not _plain(field.type):
            raise UnreadableSource(str(path), f"column {field.name!r}: type {field.type} is not text, list of text, "
                                              "integer or boolean")  # fmt: skip
    names = [field.name for field in found]
    for name in names:
        if names.count(name) > 1:
            raise UnreadableSource(str(path), f"column {name!r}: there are {names.count(name)} of this name")
    if not found:
        raise UnreadableSource(str(path), f"has none of the columns {', '.join(sorted(known))}")
    return names


def _plain(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return False
    if pa.types.is_dictionary(kind):
        # How data frames store a column of few different values.
        return _text(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text(kind.value_type)
    return _text(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind)


def _text(kind: pa.DataType) -> bool:
    # A column, or a list, that is empty in every row has no type.
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
    return any(is_kind(kind) for is_kind in kinds)
