"""Shard: the life of one partition of the index: load, serve, change, save, open.

One thread calls it (a sync actor, or an event loop). It knows nothing of Ray, buckets, callers or other shards.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shards import snapshot, vector_arrivals
from shards.analyzer import ANALYZER_ID
from shards.errors import InvalidRecord, ShardNotReady, StaleFeed
from shards.grants import GrantLists
from shards.graph_work import GraphWork
from shards.index import ShardIndex
from shards.loading import BulkLoad
from shards.messages import (
    Change,
    Document,
    DocumentRequest,
    Listing,
    ListingRequest,
    MissingVector,
    NewVector,
    ShardHits,
    ShardQuery,
    ShardStatus,
    Twin,
)
from shards.near import known_words
from shards.record import Record
from shards.segment import next_uid

Clock = Callable[[], float]
"""A monotonic clock in seconds; tests inject their own."""


class Shard:
    """One partition. It answers nothing until ``finish_load`` or ``open`` has made it ready."""

    def __init__(self, number: int, clock: Clock = time.monotonic) -> None:
        self._number = number
        self._clock = clock
        self._index = ShardIndex()
        self._load: BulkLoad | None = None
        self._graph_work = GraphWork()
        self._ready = False

    @classmethod
    def open(cls, number: int, directory: Path, clock: Clock = time.monotonic) -> "Shard":
        """A ready shard from the files of ``save``.

        Raises:
            CorruptSnapshot: if any byte is damaged or missing, or the files are of another shard, format or analyzer.
        """
        shard = cls(number, clock)
        shard._index = snapshot.read(directory, number)
        known_words.prepare()
        shard._ready = True
        return shard

    def begin_load(self) -> None:
        """Start a bulk load from nothing; whatever the shard held is dropped and it is not ready until the end."""
        self._ready = False
        self._index = ShardIndex()
        self._load = BulkLoad()

    def load_batch(self, bodies: Sequence[bytes]) -> None:
        """Take in canonical records, any status; a repeated id replaces the earlier record.

        Raises:
            ShardNotReady: without ``begin_load``.
            InvalidRecord: if a body breaks the record's contract; begin the load again.
        """
        load = self._loading()
        for body in bodies:
            load.add(Record.from_json(body), body)

    def finish_load(self, seq: int, grant_lists: Mapping[str, tuple[str, ...]], twins: Sequence[Twin] = ()) -> None:
        """End the bulk load: the records are the state at ``seq``; from here on the shard is ready.

        ``twins`` are of records that are loaded.

        Raises:
            ShardNotReady: without ``begin_load``.
        """
        parts = self._loading().finish()
        self._index = ShardIndex(
            parts=parts,
            lists=GrantLists().changed(grant_lists, next_uid()),
            seq=seq,
            twins={twin.duplicate: twin for twin in twins},
        )
        self._load = None
        known_words.prepare()
        self._ready = True

    def apply(self, after_seq: int, upto_seq: int, changes: Sequence[Change]) -> int:
        """Apply the changes after ``after_seq`` up to ``upto_seq``, all or none; the last change of an id wins.

        Returns:
            The seq the shard has applied now. A batch it has already applied changes nothing.

        Raises:
            ShardNotReady: while loading.
            StaleFeed: if the batch does not start where the shard ended.
            InvalidRecord: if a body breaks the record's contract or is of another id.
        """
        self._require_ready()
        if upto_seq <= self._index.seq:
            return self._index.seq
        if after_seq != self._index.seq:
            raise StaleFeed(self._index.seq, after_seq)
        bodies = {change.record_id: change.body for change in changes if change.record_id}
        lists = {change.grant_list: change.grant_ids for change in changes if change.grant_list}
        twins = {change.duplicate: change.twin for change in changes if change.duplicate}
        added = BulkLoad()
        for record_id, body in bodies.items():
            if body is not None:
                added.add(_parsed(record_id, body), body)
        self._index = self._index.changed(added.finish(), bodies, lists, upto_seq, twins)
        return upto_seq

    def missing_vectors(self, embedder: str, limit: int) -> tuple[MissingVector, ...]:
        """Up to ``limit`` live records without a vector of this embedder, always the same ones until they get it.

        Raises:
            ShardNotReady: before the shard is loaded.
        """
        self._require_ready()
        return vector_arrivals.missing(self._index.parts, embedder, limit)

    def take_vectors(self, embedder: str, vectors: Sequence[NewVector]) -> int:
        """Take the vectors of live records that lack one and whose text still has the hash; pass over the others.

        A shard holds vectors of one embedder: the first one taken of another ends those of the one before. ``seq`` and
        who may see what stay as they are.

        Returns:
            How many were taken.

        Raises:
            ShardNotReady: before the shard is loaded.
            InvalidVector: if the embedder has no id or a vector has not the length of the others; none is taken then.
        """
        self._require_ready()
        arrived = vector_arrivals.arrived(self._index.parts, embedder, vectors)
        self._index = self._index.with_parts(arrived.parts)
        return arrived.taken

    def build_graph(self) -> bool:
        """Go on with the graph of a large segment whose vectors are there, for some 20 ms; False if nothing is left.

        Raises:
            ShardNotReady: before the shard is loaded.
        """
        self._require_ready()
        parts = self._graph_work.advance(self._index.parts)
        if parts is None:
            return False
        self._index = self._index.with_parts(parts)
        return True

    def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        """Answer a batch; each query's remaining time counts from the start of this call.

        Raises:
            ShardNotReady: before the shard is loaded.
            InvalidVector: if a query's vector has not the form of those of its embedder here.
        """
        self._require_ready()
        index, received_s = self._index, self._clock()
        return index.search_batch(batch, lambda query: self._expiry(query, received_s))

    def documents(self, batch: tuple[DocumentRequest, ...]) -> tuple[tuple[Document, ...], ...]:
        """Current documents of authorized, enabled ids; others are left out without a word.

        Raises:
            ShardNotReady: before the shard is loaded.
        """
        self._require_ready()
        index = self._index
        return tuple(index.documents(request) for request in batch)

    def listing(self, request: ListingRequest) -> Listing:
        """Everything authorized that matches, whatever it scores: for exports, never for a search.

        Raises:
            ShardNotReady: before the shard is loaded.
        """
        self._require_ready()
        return self._index.listing(request)

    def status(self) -> ShardStatus:
        """Counts and sizes of the whole shard, also while it loads."""
        segments = [part.segment for part in self._index.parts]
        vectors = [part.vectors for part in self._index.parts if part.vectors is not None]
        embedder = vector_arrivals.embedder_of(self._index.parts)
        return ShardStatus(
            shard=self._number,
            ready=self._ready,
            seq=self._index.seq,
            records=self._index.records,
            segments=len(segments),
            postings=sum(len(segment.postings.impacts) for segment in segments),
            index_bytes=sum(segment.nbytes for segment in segments),
            document_bytes=sum(segment.documents.nbytes for segment in segments),
            pid=os.getpid(),
            analyzer=ANALYZER_ID,
            embedder=embedder,
            unembedded=vector_arrivals.unembedded(self._index.parts, embedder),
            vector_bytes=sum(part.nbytes for part in vectors),
            graph_bytes=sum(part.graph.nbytes for part in vectors if part.graph is not None),
        )

    def save(self, directory: Path) -> None:
        """Write the current state to ``directory``; an earlier snapshot there stays valid until the new one is whole.

        Raises:
            ShardNotReady: before the shard is loaded.
        """
        self._require_ready()
        snapshot.write(self._index, directory, self._number)

    def _require_ready(self) -> None:
        if not self._ready:
            raise ShardNotReady(self._number)

    def _loading(self) -> BulkLoad:
        if self._load is None:
            raise ShardNotReady(self._number)
        return self._load

    def _expiry(self, query: ShardQuery, received_s: float) -> Callable[[], bool]:
        ends_s = received_s + query.remaining_ms / 1000
        return lambda: self._clock() >= ends_s


def _parsed(record_id: str, body: bytes) -> Record:
    record = Record.from_json(body)
    if record.id != record_id:
        raise InvalidRecord("id", record.id, f"{record_id!r}, the id of the change")
    return record
