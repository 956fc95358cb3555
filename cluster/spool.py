"""Validated records in a temporary file, between checking and writing. It decides nothing about them.

So an import of any size needs little memory, and holds the registry's write lock only while it writes.
"""

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from shards.record import Record


class Spool:
    """Records in the order in which they were added; gone when closed."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by __exit__
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, record: Record) -> None:
        """Append a record."""
        self._file.write(record.to_json() + b"\n")
        self.count += 1

    def records(self) -> Iterator[Record]:
        """All records from the first on."""
        self._file.seek(0)
        for line in self._file:
            yield Record.from_json(line)
