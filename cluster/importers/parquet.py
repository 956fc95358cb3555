"""Parquet of records, read in batches. Only known columns of plain types are read: nothing in a file can run code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.errors import UnreadableSource
from cluster.importers.source import RECORD_FIELDS, Item, raw_record

_BATCH: Final = 4_096

_COLUMNS: Final = (RECORD_FIELDS - {"access"}) | {"readonly", "side_effect"}
"""Access rules are nested; a catalogue that needs them comes as JSON Lines."""


def read_parquet(path: Path) -> Iterator[Item]:
    """One item per row; columns that are not of a record are left alone.

    Raises:
        UnreadableSource: if the file is no Parquet file, is damaged, or a record column has another type than text,
            list of text, integer or boolean.
    """
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            columns = _readable_columns(path, table.schema_arrow)
            rows = max(1, table.metadata.num_rows)
            for batch in table.iter_batches(batch_size=_BATCH, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield raw_record(f"row {number}", row, number / rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as exc:
        raise UnreadableSource(str(path), f"cannot be read: {exc}") from exc


def _readable_columns(path: Path, schema: pa.Schema) -> list[str]:
    known = [field for field in schema if field.name in _COLUMNS]
    for field in known:
        if not _plain(field.type):
            raise UnreadableSource(str(path), f"column {field.name!r}: type {field.type} is not text, list of text, "
                                              "integer or boolean")  # fmt: skip
    if not known:
        raise UnreadableSource(str(path), "has none of the columns of a record")
    return [field.name for field in known]


def _plain(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return False
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text(kind.value_type)
    return _text(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind)


def _text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
