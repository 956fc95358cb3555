"""BulkLoad: many records into full segments, in one pass and linear time.

It starts from nothing; changes of a shard that already answers go through ``ShardIndex.changed``.
"""

from shards.part import Part
from shards.record import Record
from shards.segment import SEGMENT_ROWS
from shards.segment_builder import SegmentBuilder


class BulkLoad:
    """Collects records and closes a segment whenever one is full. A repeated id replaces the earlier record."""

    def __init__(self, segment_rows: int = SEGMENT_ROWS) -> None:
        """Make segments of at most ``segment_rows`` records."""
        self._segment_rows = segment_rows
        self._parts: list[Part] = []
        self._closed: set[str] = set()
        self._repeated: set[str] = set()
        self._builder = SegmentBuilder()

    def add(self, record: Record, body: bytes) -> None:
        """Take in one record and its canonical JSON."""
        if len(self._builder) >= self._segment_rows and record.id not in self._builder:
            self._close()
        self._builder.add(record, body)
        if record.id in self._closed:
            self._repeated.add(record.id)

    def finish(self) -> tuple[Part, ...]:
        """Parts of all records; the load must not be used afterwards."""
        self._close()
        return tuple(part for part in self._parts if part.count > 0)

    def _close(self) -> None:
        if len(self._builder) == 0:
            return
        if self._repeated:
            self._parts = [part.without(self._repeated) for part in self._parts]
            self._repeated = set()
        segment = self._builder.build()
        self._builder = SegmentBuilder()
        self._closed.update(segment.ids)
        self._parts.append(Part.of(segment))
