"""Embedding: gives every record of the copies that answer searches its vector, in the background, for ever.

Copies say what they lack; it looks the texts up in the cache, embeds the rest in a thread of its own, stores the
vectors, and only then hands them out. It holds no lock and takes part in no write: a copy takes a vector only while
the record's text is the one that was embedded, so that nothing here can make it stale.
"""

import asyncio
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from cluster.control import EmbeddingState, EmbeddingStatus
from cluster.copies import Copy, Slot
from cluster.embedder import Embedder
from cluster.embedding_pace import EmbeddingPace
from cluster.errors import EmbeddingFailed, RegistryUnavailable, ShardUnavailable
from cluster.partition import shard_of
from cluster.registry import Registry
from cluster.roster import Roster
from cluster.stored_text import StoredText
from cluster.vector_cache import VectorCache
from cluster.vectorizer import Embedded, Vectorizer, Vectors
from shards.errors import ShardError
from shards.messages import NewVector
from shards.record import bucket_of

PAGE: Final = 512
"""Records that a copy is asked for at once, and vectors that it is handed at once."""

_PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0, 15.0, 60.0)
"""Before the next try, by the number of failures in a row."""

_STUCK_S: Final = 0.5
"""Before the next look where copies lack what they cannot be given now: one loads, hangs, or is behind the registry."""

_TRIES: Final = 3
"""For a text on which the model fails, each after all others had theirs; then its record stays without a vector."""

_NICENESS: Final = 10

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

Hashes = dict[str, str]
"""``search_text_hash`` by record id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSource:
    """Where vectors come from; ``load`` makes the embedder, which takes seconds, or raises ``EmbeddingFailed``."""

    load: Callable[[], Embedder]
    cache: VectorCache


class Embedding:
    """The loop over one roster. It runs once, in one event loop.

    Args:
        patience_s: how long a copy is waited for before the others go on without it.

    Attributes:
        complete: set whenever every record that can have a vector was given it; ``finished`` is the answer to it.
    """

    def __init__(
        self, source: VectorSource, registry: Registry, roster: Roster, *, shards: int, patience_s: float
    ) -> None:
        self.complete = asyncio.Event()
        self._source = source
        self._registry = registry
        self._roster = roster
        self._shards = shards
        self._patience_s = patience_s
        # One thread of its own: the event loop never waits for a model, and a model never for the threads of others.
        self._worker = ThreadPoolExecutor(1, "embedding", _stand_back)
        self._vectorizer: Vectorizer | None = None
        self._pace = EmbeddingPace()
        self._state = EmbeddingState.LOADING
        self._failures = 0
        self._fault = ""
        self._refusals: Counter[str] = Counter()
        self._aside: set[str] = set()
        self._unstored: Vectors = {}
        self._page: Hashes = {}
        self._progress = True

    async def run(self) -> None:
        """Work, for ever. What fails is told, and tried again after a pause that grows."""
        try:
            while True:
                try:
                    pause_s = await self._step()
                except (EmbeddingFailed, RegistryUnavailable) as exc:
                    await self._failed(exc)
                else:
                    if pause_s != 0:
                        await self._roster.news.wait(pause_s)
        finally:
            self._worker.shutdown(wait=False, cancel_futures=True)

    def finished(self) -> None:
        """What follows the last vector is done as well."""
        if self._state is EmbeddingState.INDEXING:
            self._state = EmbeddingState.DONE

    def broken(self, fault: BaseException) -> None:
        """A defect ended the work for good; only a new supervisor begins it anew."""
        self._fault = f"ended by {type(fault).__name__}"

    def status(self) -> EmbeddingStatus:
        """How far it is, by the last word of the copies that answer searches."""
        embedder = "" if self._vectorizer is None else self._vectorizer.embedder.id
        embedded = records = 0
        for shard, slot in enumerate(self._roster.serving()):
            detail = None if slot is None else slot.detail
            if detail is None:
                records += next(slot.expected_records for slot in self._roster.slots if slot.shard == shard)
            else:
                records += detail.records
                embedded += detail.records - detail.unembedded if detail.embedder == embedder != "" else 0
        return EmbeddingStatus(
            state=EmbeddingState.FAILING if self._fault else self._state,
            embedder=embedder,
            embedded=embedded,
            records=records,
            records_per_s=round(self._pace.records_per_s, 1) if self._state is EmbeddingState.EMBEDDING else 0.0,
            refused=sum(times >= _TRIES for times in self._refusals.values()),
            fault=self._fault,
        )

    async def _step(self) -> float | None:
        """One short piece of work. How long news may be waited for before the next: 0 not at all, None for ever."""
        vectorizer = self._vectorizer
        if vectorizer is None:
            vectorizer = self._vectorizer = await self._load()
            self._state = EmbeddingState.EMBEDDING
        # What was just written goes before the backlog: its writer may be about to search for it.
        if fresh := self._roster.news.take(self._pace.call):
            await self._embed(vectorizer, await self._texts(fresh))
            return 0.0
        if not self._page:
            return await self._next_page(vectorizer)
        ids = list(self._page)[: self._pace.call]
        # Where the registry has a newer text already, the copies are about to ask for the vector of that.
        texts = [text for text in await self._texts(ids) if text.text_hash == self._page[text.record_id]]
        await self._embed(vectorizer, texts)
        for record_id in ids:
            del self._page[record_id]
        return 0.0

    async def _texts(self, ids: Sequence[str]) -> list[StoredText]:
        bodies = await asyncio.to_thread(self._registry.bodies, ids)
        return [StoredText.of(body) for body in bodies]

    async def _load(self) -> Vectorizer:
        embedder = await self._in_thread(self._source.load)
        _log.info("embedder_loaded", extra={"embedder": embedder.id, "dims": embedder.dims})
        return Vectorizer(embedder, self._source.cache)

    async def _next_page(self, vectorizer: Vectorizer) -> float | None:
        """Hand out what is known of all that copies lack, and keep the rest as the page to work through."""
        lacking, everybody = await self._lacking(vectorizer.embedder.id)
        progress = self._progress
        # No progress is worth a pause; the page after the pause is worth a try.
        self._progress = not lacking or not progress
        if not lacking and everybody:
            if again := {key for key in self._aside if self._refusals[key] < _TRIES}:
                self._aside -= again
                return _STUCK_S
            self._succeeded()
            self._state = EmbeddingState.INDEXING
            self.complete.set()
            return None
        if not lacking or not progress:
            return _STUCK_S
        self._state = EmbeddingState.EMBEDDING
        known = await asyncio.to_thread(vectorizer.known, list(set(lacking.values())))
        await self._hand_out(vectorizer.embedder.id, lacking, known)
        self._page = {record_id: key for record_id, key in lacking.items() if key not in known}
        return 0.0

    async def _lacking(self, embedder: str) -> tuple[Hashes, bool]:
        """Some of what copies lack and can be given, and whether every shard was asked and all its copies answered."""
        # Those that are put aside stay missing: the others must not hide behind them.
        limit = PAGE + len(self._aside)
        asked = (self._reach(slot, copy.missing_vectors(embedder, limit)) for slot, copy in self._roster.ready())
        answers = await asyncio.gather(*asked)
        named = [one for answer in answers for one in answer or ()]
        everybody = None not in answers and None not in self._roster.serving()
        if everybody and all(len(answer or ()) < limit for answer in answers):
            self._forget_all_but(frozenset(one.search_text_hash for one in named))
        lacking = {one.record_id: one.search_text_hash for one in named if one.search_text_hash not in self._aside}
        return lacking, everybody

    def _forget_all_but(self, lacking: frozenset[str]) -> None:
        """Forget the failures on texts that no record lacks a vector for any more: it changed, went, or has one."""
        self._aside &= lacking
        for gone in self._refusals.keys() - lacking:
            del self._refusals[gone]

    async def _embed(self, vectorizer: Vectorizer, texts: Sequence[StoredText]) -> None:
        """Bring texts to their vectors, and these to the copies."""
        started_s = time.monotonic()
        known = await asyncio.to_thread(vectorizer.known, list({text.text_hash for text in texts}))
        held = {*known, *self._unstored, *self._aside}
        new = {text.text_hash: text for text in texts if text.text_hash not in held}
        if new:
            self._state = EmbeddingState.EMBEDDING
            made = await self._in_thread(lambda: self._made(vectorizer, new.values()))
            self._refusals.update(made.refused)
            self._aside |= made.refused
            self._unstored |= made.vectors
        if self._unstored:
            await asyncio.to_thread(vectorizer.keep, self._unstored)
            known |= self._unstored
            self._unstored = {}
            self._progress = True
            self._succeeded()
        await self._hand_out(vectorizer.embedder.id, {text.record_id: text.text_hash for text in texts}, known)
        if new:
            self._pace.finished(len(texts), time.monotonic() - started_s)

    def _made(self, vectorizer: Vectorizer, new: Iterable[StoredText]) -> Embedded:
        """In the thread of the embedder."""
        texts = {text.text_hash: text.embedding_text() for text in new}
        started_s = time.monotonic()
        made = vectorizer.embed(texts)
        self._pace.called(len(texts), time.monotonic() - started_s)
        return made

    async def _hand_out(self, embedder: str, hashes: Hashes, vectors: Vectors) -> None:
        parts: dict[int, list[NewVector]] = {}
        for record_id, key in hashes.items():
            if key in vectors:
                vector = NewVector(record_id=record_id, search_text_hash=key, values=vectors[key])
                parts.setdefault(shard_of(bucket_of(record_id), self._shards), []).append(vector)
        await asyncio.gather(
            *(
                self._hand(slot, copy, embedder, parts[slot.shard])
                for slot, copy in self._roster.ready()
                if slot.shard in parts
            )
        )

    async def _hand(self, slot: Slot, copy: Copy, embedder: str, vectors: Sequence[NewVector]) -> None:
        taken = await self._reach(slot, copy.take_vectors(embedder, vectors))
        if taken:
            self._progress = True
            slot.unsaved_vectors += taken

    async def _reach(self, slot: Slot, call: Awaitable[Result]) -> Result | None:
        """The answer of a copy, None where it has none: whether it lives is for ``cluster.keeper`` to find out."""
        try:
            async with asyncio.timeout(self._patience_s):
                return await call
        except (TimeoutError, ShardUnavailable, ShardError) as exc:
            _log.warning("copy_without_vectors", extra={"shard": slot.shard, "reason": type(exc).__name__})
            return None

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    async def _failed(self, exc: EmbeddingFailed | RegistryUnavailable) -> None:
        pause_s = _PAUSES_S[min(self._failures, len(_PAUSES_S) - 1)]
        self._failures += 1
        self._fault = str(exc)
        _log.warning("embedding_failed", extra={"fault": self._fault, "pause_s": pause_s})
        await asyncio.sleep(pause_s)

    def _succeeded(self) -> None:
        self._failures = 0
        self._fault = ""


def _stand_back() -> None:
    """Have this thread, and those that a model starts from it, take only the time that searches and writes leave."""
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        with suppress(OSError):  # a sandbox may forbid it, and it works without
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
