"""Validated records in a temporary file, between checking and writing. It decides nothing about them.

So an import of any size needs little memory, and holds the registry's write lock only while it writes. They come back
as drafts: all that is worked out of a record is worked out once, before the lock is taken.
"""

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from cluster.draft import Draft
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
        self._file.write(Draft.of(record).to_lines())
        self.count += 1

    def drafts(self) -> Iterator[Draft]:
        """All records from the first on."""
        self._file.seek(0)
        for head in self._file:
            yield Draft.from_lines(head, self._file.readline()[:-1])
