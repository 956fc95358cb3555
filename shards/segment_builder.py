"""SegmentBuilder: loose records to one segment, in compact buffers.

It analyses each record once, as it arrives. It does not know other segments.
"""

from array import array
from itertools import chain

import numpy as np
import numpy.typing as npt

from shards.columns import Column, Field, column_values
from shards.documents import Documents
from shards.impacts import postings_of
from shards.mentions import key_hash
from shards.names import Names, NameTable, name_keys
from shards.postings import Postings, assembled, packed
from shards.record import Record
from shards.segment import SEGMENT_ROWS, Segment, narrowed, next_uid
from shards.text_table import TextTable
from shards.utf8 import encoded


class _Numbering(dict[str, int]):
    """Numbers texts in order of first appearance."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


class SegmentBuilder:
    """Collects records in compact buffers; time and memory are linear in what was added."""

    def __init__(self) -> None:
        self._arrivals: dict[str, int] = {}
        self._versions = array("q")
        self._bodies: list[bytes] = []
        self._terms = _Numbering()
        self._lengths = array("I")
        self._term_ids = array("I")
        self._channels = array("B")
        self._values = {field: _Numbering() for field in Field}
        self._codes = {field: array("I") for field in Field}
        self._key_hashes = array("Q")
        self._key_arrivals = array("I")

    def __len__(self) -> int:
        return len(self._arrivals)

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._arrivals

    def add(self, record: Record, body: bytes) -> None:
        """Take a record in, replacing one of the same id; the builder must not be full."""
        if len(self) >= SEGMENT_ROWS and record.id not in self:
            raise ValueError(f"segment: {len(self) + 1} records are not allowed; expected at most {SEGMENT_ROWS}")
        postings = postings_of(record)
        arrival = len(self._versions)
        self._arrivals[record.id] = arrival
        self._versions.append(record.version)
        self._bodies.append(body)
        self._lengths.append(len(postings))
        self._term_ids.extend(map(self._terms.__getitem__, postings))
        self._channels.extend(chain.from_iterable(postings.values()))
        for field, value in zip(Field, column_values(record), strict=True):
            self._codes[field].append(self._values[field][value])
        for key in name_keys(record):
            self._key_hashes.append(key_hash(key))
            self._key_arrivals.append(arrival)

    def build(self) -> Segment:
        """The segment of all records taken in; empty for none. The builder must not be used afterwards."""
        ids = sorted(self._arrivals)
        order = np.fromiter(map(self._arrivals.__getitem__, ids), np.int64, len(ids))
        rank = np.full(len(self._versions), -1, np.int64)
        rank[order] = np.arange(len(ids))
        columns = {
            field: Column.of(list(self._values[field]), np.asarray(self._codes[field], np.uint32)[order])
            for field in Field
        }
        bodies = [self._bodies[arrival] for arrival in order.tolist()]
        return Segment(
            uid=next_uid(),
            ids=TextTable.of([encoded(record_id) for record_id in ids]),
            versions=narrowed(np.asarray(self._versions, np.int64)[order]),
            postings=self._postings(rank),
            names=Names.of(self._name_table(rank), columns),
            columns=columns,
            documents=Documents.of(bodies, [len(body) for body in bodies]),
        )

    def _postings(self, rank: npt.NDArray[np.int64]) -> Postings:
        texts = sorted((encoded(term), number) for term, number in self._terms.items())
        term_rank = np.zeros(len(texts), np.uint64)
        term_rank[[number for _, number in texts]] = np.arange(len(texts), dtype=np.uint64)
        ordinals = np.repeat(rank, np.asarray(self._lengths, np.int64))
        kept = ordinals >= 0
        terms = term_rank[np.asarray(self._term_ids, np.uint32)[kept]]
        channels = np.asarray(self._channels, np.uint8).reshape(-1, 2)[kept]
        loose = packed(terms, ordinals[kept].astype(np.uint16), channels[:, 0], channels[:, 1])
        return assembled([text for text, _ in texts], loose)

    def _name_table(self, rank: npt.NDArray[np.int64]) -> NameTable:
        ordinals = rank[np.asarray(self._key_arrivals, np.int64)]
        kept = ordinals >= 0
        return NameTable.of(np.asarray(self._key_hashes, np.uint64)[kept], ordinals[kept].astype(np.uint16))
