"""QueryVectors: the vector of a query, in time or not at all.

It knows no shard and no ranker; what an answer does without a vector is decided by ``cluster.retrieval``.
"""

import asyncio
import logging
import threading
import weakref
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final

import numpy as np

from cluster.budget import Deadline
from cluster.contract import VectorState, VectorUse
from cluster.embedder import EmbeddedQuery, Embedder
from cluster.errors import EmbeddingFailed
from shards.cache import BoundedCache

PATIENCE_SHARE: Final = 4
"""A query waits for its vector for one part in this many of the time it has left, and then goes on by words."""

MOST_WAITING: Final = 32
"""Queries in the line to the model. A model that hangs fills it, and from then on nobody waits for that model."""

REMEMBERED: Final = 1024
"""Vectors kept, by the exact text: with the longest texts about 10 MB."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryVector:
    """What became of one query: ``embedded`` is None unless ``use.state`` is ``used``."""

    use: VectorUse
    embedded: EmbeddedQuery | None = None


NOT_ASKED: Final = QueryVector(use=VectorUse(state=VectorState.OFF))
"""Of a query for which no vector is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Job:
    text: str
    reply: "Future[QueryVector]" = field(default_factory=Future)


class QueryVectors:
    """Asks one embedder, in a thread of its own, so that the event loop never waits for a model.

    Args:
        embedder: None for none.
        absence: what every query is then: ``off``, or ``failed`` where there should be an embedder.
    """

    def __init__(self, embedder: Embedder | None, absence: VectorState = VectorState.OFF) -> None:
        self._embedder = embedder
        self._absence = absence
        self._known = _Known(REMEMBERED)
        self._line: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        # The thread holds no reference to this object, so that one that is dropped ends its thread, too.
        self._end_thread = weakref.finalize(self, self._line.put, None)

    async def of(self, text: str, deadline: Deadline) -> QueryVector:
        """The vector of a query, or why there is none; within its share of the time left."""
        if self._embedder is None:
            return QueryVector(use=VectorUse(state=self._absence))
        if (known := self._known.get(text)) is not None:
            return known
        if self._line.qsize() >= MOST_WAITING:
            return _without(self._embedder, VectorState.TIMEOUT)
        self._start_thread(self._embedder)
        job = _Job(text=text)
        self._line.put(job)
        return await _reply(job, self._embedder, deadline.remaining_ms() / PATIENCE_SHARE / 1000)

    def close(self) -> None:
        """End the thread once it has worked off its line."""
        self._end_thread()

    def _start_thread(self, embedder: Embedder) -> None:
        if self._thread is None:
            # A daemon, because a model that hangs must not keep the process from ending.
            arguments = (self._line, embedder, self._known)
            self._thread = threading.Thread(target=_work, args=arguments, name="query-vectors", daemon=True)
            self._thread.start()


class _Known:
    """The least recently used of ``most`` vectors goes; shared by the event loop and the thread."""

    def __init__(self, most: int) -> None:
        self._vectors: BoundedCache[str, QueryVector] = BoundedCache(most)
        self._lock = threading.Lock()

    def get(self, text: str) -> QueryVector | None:
        with self._lock:
            return self._vectors.get(text)

    def put(self, text: str, vector: QueryVector) -> None:
        with self._lock:
            self._vectors.put(text, vector, 1)


async def _reply(job: _Job, embedder: Embedder, patience_s: float) -> QueryVector:
    waiting = asyncio.wrap_future(job.reply)
    try:
        await asyncio.wait([waiting], timeout=patience_s)
        if not waiting.done():
            return _without(embedder, VectorState.TIMEOUT)
        if (fault := waiting.exception()) is not None:
            # Not its message: that could repeat the query.
            logger.error("query_not_embedded", extra={"embedder": embedder.id, "fault": type(fault).__name__})
            return _without(embedder, VectorState.FAILED)
        return waiting.result()
    finally:
        # A job that has not begun never will; one that has leaves its vector to the next who asks.
        waiting.cancel()


def _work(line: "SimpleQueue[_Job | None]", embedder: Embedder, known: _Known) -> None:
    """The thread: one job at a time, until None comes."""
    while (job := line.get()) is not None:
        if not job.reply.set_running_or_notify_cancel():
            continue
        try:
            vector = known.get(job.text) or _embedded(embedder, job.text)
        except BaseException as error:  # noqa: BLE001 -- foreign code, and a panic of a Rust tokenizer is no Exception
            job.reply.set_exception(error)
        else:
            known.put(job.text, vector)
            job.reply.set_result(vector)


def _embedded(embedder: Embedder, text: str) -> QueryVector:
    embedded = embedder.embed_query(text)
    if embedded is None:
        return _without(embedder, VectorState.LANGUAGE)
    values = embedded.vector.values
    if values.shape != (embedder.dims,) or values.dtype != np.int16:
        raise EmbeddingFailed(embedder.id, f"it made {values.dtype}{values.shape} instead of int16({embedder.dims},)")
    return QueryVector(use=VectorUse(state=VectorState.USED, embedder=embedder.id), embedded=embedded)


def _without(embedder: Embedder, state: VectorState) -> QueryVector:
    return QueryVector(use=VectorUse(state=state, embedder=embedder.id))
