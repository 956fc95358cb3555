"""READ THIS FIRST. The story of a request: ``Router.search`` tells it in ten lines, each line opens one file.

The router holds lanes to shards, a ranker, a dispatcher and two bounded caches; it knows no HTTP, no credentials, no
Ray, and no record that a shard did not just return for this very scope.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from cluster.batcher import MAX_BATCH
from cluster.budget import Deadline, Spent
from cluster.contract import Answer, Coverage, RankedList, SearchRequest
from cluster.coverage import KnownCounts, coverage_of, miss_of
from cluster.dispatcher import Dispatcher
from cluster.documents import DocumentCache, fetch
from cluster.errors import InvalidRequest, ShardUnavailable
from cluster.evidence import Evidence, Finalist, Piece, assemble
from cluster.explain import term_parts
from cluster.fanout import Lane, Replies
from cluster.merge import winners
from cluster.partition import shard_of
from cluster.query import AnalyzedRequest, plan_query
from cluster.ranker import Ranker
from cluster.retrieval import Retrieval, Retrieved, cuts_of
from cluster.shard_map import ShardMap
from cluster.stopwatch import Stopwatch
from shards.record import Record, bucket_of
from shards.scope import Scope

DOCUMENT_CACHE_BYTES: Final = 64 * 2**20

RESERVED_MS: Final = 100
"""Time kept back from the fan-out at most, so that a hung shard leaves the others' documents time to arrive."""

RESERVED_SHARE: Final = 4
"""Of a short budget, one part in this many is kept back."""


class Router:
    """Searches all shards of a map as one. Belongs to one event loop at a time.

    Args:
        shard_map: the shards; replaced whole by ``replace_map``.
        ranker: decides relevance.
        dispatcher: decides the delivery.
        max_batch: most queries in one call to a shard.
        document_cache_bytes: estimated bytes of parsed records kept, 0 for none.
    """

    def __init__(
        self,
        shard_map: ShardMap,
        *,
        ranker: Ranker,
        dispatcher: Dispatcher,
        max_batch: int = MAX_BATCH,
        document_cache_bytes: int = DOCUMENT_CACHE_BYTES,
    ) -> None:
        self._map = shard_map
        self._lanes = tuple(Lane(copy, max_batch) for copy in shard_map.copies)
        self._ranker = ranker
        self._dispatcher = dispatcher
        self._max_batch = max_batch
        self._cache = DocumentCache(document_cache_bytes)
        self._known = KnownCounts()

    @property
    def shard_map(self) -> ShardMap:
        """The map in use."""
        return self._map

    async def search(self, request: SearchRequest) -> Answer:
        """Answer one request: typed, inside every ceiling, at the deadline at the latest.

        Raises:
            InvalidRequest: if more records are pinned than ``budget.evidence_k``.
        """
        watch, lanes = Stopwatch(request.deadline.clock), self._lanes
        question = _plan(request)
        watch.lap("plan")
        found = await self._retrieve(request, question, lanes, cuts_of(request.budget, self._ranker.bound))
        watch.lap("search")
        pieces, replies = await self._look_up(request, found, lanes)
        watch.lap("documents")
        evidence = assemble(
            _finalists(request, question, found, pieces),
            evidence_k=request.budget.evidence_k,
            evidence_tokens=request.budget.evidence_tokens,
        )
        watch.lap("evidence")
        return self._answer(request, found, evidence, self._coverage(request.scope, replies, lanes), watch)

    async def candidates(self, request: SearchRequest) -> RankedList:
        """The ranked candidates of a request at a cut of ``budget.candidate_k``, before documents and evidence.

        Raises:
            InvalidRequest: as ``search``.
        """
        lanes, question = self._lanes, _plan(request)
        found = await self._retrieve(request, question, lanes, (request.budget.candidate_k,), whole_list=True)
        ranking = found.ranking
        chosen = winners(ranking.rows, ranking.scores, frozenset(request.pinned), request.budget.rerank_k)
        coverage = self._coverage(request.scope, found.replies, lanes)
        return RankedList(
            ids=tuple(ranking.rows.ids[row] for row in chosen),
            scores=tuple(int(ranking.scores[row]) for row in chosen),
            matched=ranking.rows.matched,
            exact=ranking.settled and coverage.full,
            coverage=coverage,
        )

    async def documents(self, scope: Scope, ids: Sequence[str], deadline: Deadline) -> tuple[Record, ...]:
        """Records of these ids that the scope admits now, in the order asked; the others are left out alike.

        Raises:
            ShardUnavailable: if a shard that owns one of the ids did not answer before the deadline.
        """
        lanes = self._lanes
        wanted: dict[int, list[str]] = {}
        for record_id in dict.fromkeys(ids):
            wanted.setdefault(shard_of(bucket_of(record_id), len(lanes)), []).append(record_id)
        found, gaps = await fetch(lanes, scope, wanted, deadline)
        for shard, gap in sorted(gaps.items()):
            raise ShardUnavailable(shard, gap.value)
        return tuple(Record.from_json(found[record_id].body) for record_id in dict.fromkeys(ids) if record_id in found)

    def replace_map(self, shard_map: ShardMap) -> None:
        """Use another map from the next request on; an older one than the one in use is ignored.

        Requests that run finish on the lanes they started with. Lanes to the same client are kept, with their queues.
        """
        if shard_map.version < self._map.version:
            return
        if shard_map.layout != self._map.layout:
            self._known.forget()
        held = {(lane.shard, id(lane.client)): lane for lane in self._lanes}
        lanes = tuple(
            held.get((copy.shard, id(copy.client))) or Lane(copy, self._max_batch) for copy in shard_map.copies
        )
        for lane in set(self._lanes).difference(lanes):
            lane.retire()
        self._map, self._lanes = shard_map, lanes

    def close(self) -> None:
        """Break off what nobody waits for any more; running requests still end by themselves."""
        for lane in self._lanes:
            lane.retire()

    async def _retrieve(
        self,
        request: SearchRequest,
        question: AnalyzedRequest,
        lanes: Sequence[Lane],
        cuts: Sequence[int],
        *,
        whole_list: bool = False,
    ) -> Retrieved:
        reserved_ms = min(RESERVED_MS, request.deadline.remaining_ms() / RESERVED_SHARE)
        deadline = Deadline(request.deadline.at_s - reserved_ms / 1000, request.deadline.clock)
        retrieval = Retrieval(request, question, ranker=self._ranker, lanes=lanes, deadline=deadline)
        found = await retrieval.run(cuts, whole_list=whole_list)
        self._known.learn(request.scope.fingerprint, found.replies)
        return found

    async def _look_up(
        self, request: SearchRequest, found: Retrieved, lanes: Sequence[Lane]
    ) -> tuple[dict[int, Piece], Replies]:
        """Records of the winning rows by position; a shard that cannot give its own counts as not searched.

        A record that was removed or closed to the caller since the search is left out without a successor.
        """
        rows = found.ranking.rows
        chosen = winners(rows, found.ranking.scores, frozenset(request.pinned), request.budget.evidence_k)
        pieces: dict[int, Piece] = {}
        wanted: dict[int, list[str]] = {}
        for row in chosen:
            piece = self._cache.get(rows.ids[row], int(rows.versions[row]))
            if piece is not None:
                pieces[row] = piece
            else:
                wanted.setdefault(rows.shards[row], []).append(rows.ids[row])
        documents, gaps = await fetch(lanes, request.scope, wanted, request.deadline)
        pieces |= {
            row: self._cache.put(documents[rows.ids[row]])
            for row in chosen
            if row not in pieces and rows.ids[row] in documents
        }
        return pieces, found.replies.without(gaps)

    def _coverage(self, scope: Scope, replies: Replies, lanes: Sequence[Lane]) -> Coverage:
        buckets = {lane.shard: lane.buckets for lane in lanes}
        return coverage_of(replies, buckets, scope.fingerprint, self._known)

    def _answer(
        self, request: SearchRequest, found: Retrieved, evidence: Evidence, coverage: Coverage, watch: Stopwatch
    ) -> Answer:
        rows, hits = found.ranking.rows, evidence.hits
        index_scores = dict(zip(rows.ids, rows.scores.tolist(), strict=True))
        shown = sum(1 for hit in hits if index_scores[hit.record.id] > 0)
        return Answer(
            request_id=request.request_id,
            hits=hits,
            miss=None if hits else miss_of(coverage, dropped=evidence.dropped),
            plan=self._dispatcher.plan(request.query, hits) if hits else None,
            budget=request.budget,
            spent=Spent(
                candidates=found.ranking.candidates,
                reranked=len(rows.ids),
                evidence=len(hits),
                evidence_tokens=evidence.tokens,
                matched=rows.matched,
                dropped=evidence.dropped,
            ),
            coverage=coverage,
            truncated=rows.matched > shown,
            exact=found.ranking.settled and coverage.full,
            index_position=_position(found.replies),
            ranker=self._ranker.version,
            timings_ms=watch.timings_ms(),
            seq=min((reply.seq for reply in found.replies.hits.values()), default=0),
        )


def _plan(request: SearchRequest) -> AnalyzedRequest:
    if len(request.pinned) > request.budget.evidence_k:
        raise InvalidRequest(
            "pinned", f"{len(request.pinned)} ids", f"at most evidence_k = {request.budget.evidence_k}"
        )
    return plan_query(request.query)


def _finalists(
    request: SearchRequest, question: AnalyzedRequest, found: Retrieved, pieces: dict[int, Piece]
) -> list[Finalist]:
    rows, scores = found.ranking.rows, found.ranking.scores
    return [
        Finalist(
            piece=pieces[row],
            score=int(scores[row]),
            bonus=int(rows.bonuses[row]),
            pinned=rows.ids[row] in request.pinned,
            parts=term_parts(row, rows, question.terms, found.mix) if request.explain else (),
        )
        for row in sorted(pieces)
    ]


def _position(replies: Replies) -> str:
    """Opaque token of the states that were searched; equal states of equal shards give equal tokens."""
    states = sorted((shard, hits.seq) for shard, hits in replies.hits.items())
    return hashlib.blake2b(repr(states).encode(), digest_size=8).hexdigest()
