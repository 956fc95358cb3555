"""Fan-out: ask all shards at once, take what is there at the deadline, and say why the rest is missing.

One lane per shard holds its micro-batchers. Nothing is merged, hedged or retried here, but for a shard that is
behind the asked ``seq``, which is asked again a few times while there is time.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from cluster.batcher import Batcher
from cluster.budget import Deadline
from cluster.contract import Gap
from cluster.errors import ShardUnavailable
from cluster.shard_client import ShardClient
from cluster.shard_map import ShardCopy
from shards.messages import Document, DocumentRequest, Outcome, ShardHits, ShardQuery

BEHIND_PAUSES_MS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Pauses before a shard that is behind is asked again: a feed in progress arrives within a few of them."""

_UNFINISHED: Final = {Outcome.EXPIRED: Gap.TIMEOUT, Outcome.BEHIND: Gap.BEHIND}

Reply = TypeVar("Reply")


class Lane:
    """The way to one shard: its batchers while a copy is alive."""

    def __init__(self, copy: ShardCopy, max_batch: int) -> None:
        self.shard = copy.shard
        self.client = copy.client
        self._searches, self._documents = _batchers(copy.shard, copy.client, max_batch)

    def search(self, query: ShardQuery, deadline: Deadline) -> "asyncio.Future[ShardHits]":
        """A future of the reply; fails as ``Batcher.submit`` does.

        Raises:
            ShardUnavailable: if no copy of the shard is alive.
        """
        if self._searches is None:
            raise ShardUnavailable(self.shard, "no copy is alive")
        if query.min_seq:
            return asyncio.ensure_future(_caught_up(self._searches, query, deadline))
        return self._searches.submit(query, deadline)

    def documents(self, request: DocumentRequest, deadline: Deadline) -> "asyncio.Future[tuple[Document, ...]]":
        """As ``search``, for documents."""
        if self._documents is None:
            raise ShardUnavailable(self.shard, "no copy is alive")
        return self._documents.submit(request, deadline)

    def retire(self) -> None:
        """See ``Batcher.retire``."""
        for batcher in (self._searches, self._documents):
            if batcher is not None:
                batcher.retire()


def _batchers(
    shard: int, client: ShardClient | None, max_batch: int
) -> tuple[
    Batcher[ShardQuery, ShardHits] | None,
    Batcher[DocumentRequest, tuple[Document, ...]] | None,
]:
    if client is None:
        return None, None
    return (
        Batcher(shard, client.search, stamp=_with_remaining, max_batch=max_batch),
        Batcher(shard, client.documents, stamp=lambda request, _: request, max_batch=max_batch),
    )


def _with_remaining(query: ShardQuery, remaining_ms: float) -> ShardQuery:
    # Every query passes here once per shard, and ``dataclasses.replace`` takes three times as long.
    return ShardQuery(
        scope=query.scope,
        terms=query.terms,
        term_weights=query.term_weights,
        mix=query.mix,
        mentions=query.mentions,
        pinned=query.pinned,
        preferred=query.preferred,
        n=query.n,
        weights=query.weights,
        remaining_ms=remaining_ms,
        min_seq=query.min_seq,
        vector=query.vector,
        bodies=query.bodies,
    )


async def _caught_up(batcher: Batcher[ShardQuery, ShardHits], query: ShardQuery, deadline: Deadline) -> ShardHits:
    """The shard's reply once it has applied ``query.min_seq``, or its last ``behind``."""
    for pause_ms in BEHIND_PAUSES_MS:
        hits = await batcher.submit(query, deadline)
        # Twice the pause: waking up late must not turn a known reason into a time-out.
        if hits.outcome is not Outcome.BEHIND or deadline.remaining_ms() <= 2 * pause_ms:
            return hits
        await asyncio.sleep(pause_ms / 1000)
    return await batcher.submit(query, deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What came back: complete answers by shard, and a reason for each shard without one."""

    hits: Mapping[int, ShardHits]
    gaps: Mapping[int, Gap]

    def without(self, lost: Mapping[int, Gap]) -> "Replies":
        """These replies, but for shards that were lost later on."""
        if not lost:
            return self
        hits = {shard: reply for shard, reply in self.hits.items() if shard not in lost}
        return Replies(hits=hits, gaps={**self.gaps, **lost})


async def ask_shards(lanes: Sequence[Lane], query: ShardQuery, deadline: Deadline) -> Replies:
    """Search these shards at once; ends at the deadline at the latest, whatever they do."""
    replies, gaps = await gather({lane.shard: partial(lane.search, query, deadline) for lane in lanes}, deadline)
    hits = {shard: reply for shard, reply in replies.items() if reply.outcome is Outcome.COMPLETE}
    late = {shard: _UNFINISHED[reply.outcome] for shard, reply in replies.items() if shard not in hits}
    return Replies(hits=hits, gaps=gaps | late)


async def gather(
    asks: Mapping[int, Callable[[], "asyncio.Future[Reply]"]], deadline: Deadline
) -> tuple[dict[int, Reply], dict[int, Gap]]:
    """Start one call per shard, and take the replies that are there at the deadline; no future stays behind.

    Returns:
        Replies by shard, and why each other shard has none.
    """
    asked: dict[int, asyncio.Future[Reply]] = {}
    replies: dict[int, Reply] = {}
    gaps: dict[int, Gap] = {}
    try:
        for shard, ask in asks.items():
            try:
                asked[shard] = ask()
            except ShardUnavailable:
                gaps[shard] = Gap.UNAVAILABLE
        await _settled(asked.values(), deadline)
        for shard, future in asked.items():
            if (gap := _gap(future)) is None:
                replies[shard] = future.result()
            else:
                gaps[shard] = gap
    finally:
        # Also where the request itself was cancelled: its caller is gone, so nobody waits for these.
        for future in asked.values():
            future.cancel()
    return replies, gaps


async def _settled(futures: Collection["asyncio.Future[Reply]"], deadline: Deadline) -> None:
    """Wait until all are done, or the deadline: ``asyncio.wait`` with one future and one timer and no more.

    Callbacks stay on those that are not done; who called cancels them.
    """
    pending = [future for future in futures if not future.done()]
    if not pending:
        return
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()
    left = len(pending)

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    def count(_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            wake()

    timer = loop.call_later(deadline.remaining_ms() / 1000, wake)
    for future in pending:
        future.add_done_callback(count)
    try:
        await waiter
    finally:
        timer.cancel()


def _gap(future: "asyncio.Future[Reply]") -> Gap | None:
    """Why there is no reply in this future, None if there is one."""
    if not future.done():
        return Gap.TIMEOUT
    if future.cancelled():
        return Gap.UNAVAILABLE
    match future.exception():
        case TimeoutError():
            return Gap.TIMEOUT
        case ShardUnavailable():
            return Gap.UNAVAILABLE
    return None
