"""READ THIS FIRST. The story of a request: ``Router.search`` tells it in ten lines, each line opens one file.

The router holds a fleet of lanes to shards, a ranker, a dispatcher and a bounded library of records; it knows no HTTP,
no credentials, no Ray, and no record that a shard did not just return for this very scope.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from cluster.batcher import MAX_BATCH
from cluster.budget import Deadline
from cluster.collapse import collapsed
from cluster.composing import answer_of, doubt_of, hits_of
from cluster.contract import Answer, RankedList, SearchRequest, VectorState
from cluster.discovery import Discovery
from cluster.dispatcher import Dispatcher
from cluster.documents import Library, fetch
from cluster.embedder import Embedder
from cluster.errors import InvalidRequest, ShardUnavailable
from cluster.evidence import assemble
from cluster.flags import FULL_HITS
from cluster.fleet import Fleet
from cluster.merge import Pool
from cluster.narrower import Narrower
from cluster.partition import shard_of
from cluster.query import AnalyzedRequest, plan_query
from cluster.query_vectors import NOT_ASKED, QueryVector, QueryVectors
from cluster.ranker import Ranker
from cluster.retrieval import Retrieval, Retrieved, cuts_of
from cluster.shard_map import ShardMap
from cluster.stopwatch import Stopwatch
from cluster.tokens import ESTIMATE, TokenCounter
from shards.cache import BoundedCache
from shards.record import Record, bucket_of
from shards.scope import Scope

DOCUMENT_CACHE_BYTES: Final = 128 * 2**20
"""Some 50,000 tools: 5,000 different questions about 149,005 tools showed 25,000."""

SCOPES: Final = 4096
"""Scopes whose number of authorized records is remembered, so that the next search of them needs one round."""

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
        embedder: of the vectors that the shards hold; None searches by words alone.
        absence: what answers say of vectors where the embedder is None: see ``QueryVectors``.
        discovery: how much of the ranked list is shown; the default turns nobody away and shortens nothing.
        max_batch: most queries in one call to a shard.
        document_cache_bytes: estimated bytes of records kept ready, 0 for none.
        counter: of the tokens of evidence.
    """

    def __init__(
        self,
        shard_map: ShardMap,
        *,
        ranker: Ranker,
        dispatcher: Dispatcher,
        embedder: Embedder | None = None,
        absence: VectorState = VectorState.OFF,
        discovery: Discovery = Discovery(),  # noqa: B008 -- frozen, and shared by whoever wants nothing else
        max_batch: int = MAX_BATCH,
        document_cache_bytes: int = DOCUMENT_CACHE_BYTES,
        counter: TokenCounter = ESTIMATE,
    ) -> None:
        self._fleet = Fleet.of(shard_map, max_batch)
        self._ranker = ranker
        self._dispatcher = dispatcher
        self._vectors = QueryVectors(embedder, absence)
        self._discovery = discovery
        self._max_batch = max_batch
        self._library = Library(document_cache_bytes, counter)
        self.counter = counter
        self._crowds: BoundedCache[str, int] = BoundedCache(SCOPES)
        self._narrower = Narrower()

    async def search(self, request: SearchRequest) -> Answer:
        """Answer one request: typed, inside every ceiling, at the deadline at the latest.

        Raises:
            InvalidRequest: if more records are pinned than ``budget.evidence_k``.
        """
        watch, fleet = Stopwatch(request.deadline.clock), self._fleet
        question = _plan(request)
        watch.lap("plan")
        vector = await self._vector(request)
        watch.lap("embed")
        retrieval = self._retrieval(request, question, vector, fleet, with_bodies=self._library.misses_often)
        found = await retrieval.run(cuts_of(request.budget, self._ranker.bound), whole_list=False)
        self._remember_crowd(request.scope, found)
        found = await self._narrower.otherwise(request, found, self._ranker, fleet.lanes)
        watch.lap("search")
        # What was spent stays what the search took; who is shown comes from what is left.
        single = collapsed(request, found.ranking, found.said)
        left = found if single.ranking is found.ranking else replace(found, ranking=single.ranking)
        shown = await self._discovery.shown(request, left, fleet.lanes, _before(request.deadline))
        pieces, gaps = await self._library.pieces(
            shown.rows, found.bodies, request.scope, fleet.lanes, request.deadline
        )
        watch.lap("documents")
        full_hits = FULL_HITS if request.flags.progressive_schema_loading else None
        evidence = assemble(
            pieces, _pinned(request, shown.rows), request.budget, full_hits=full_hits, counter=self.counter
        )
        hits = hits_of(request, found, shown, pieces, evidence, cited=single.cited)
        watch.lap("evidence")
        # A shard that cannot give its own documents counts as not searched.
        coverage = fleet.coverage(request.scope, found.replies.without(gaps))
        plan = self._dispatcher.plan(request.query, hits, request.shape) if hits else None
        return answer_of(
            request,
            found,
            shown,
            hits=hits,
            plan=plan,
            evidence=evidence,
            coverage=coverage,
            timings_ms=watch.timings_ms(),
            ranker=self._ranker.version,
            tokens_by=self.counter.name,
        )

    async def candidates(self, request: SearchRequest) -> RankedList:
        """The ranked candidates of a request at a cut of ``budget.candidate_k``, before documents and evidence.

        Raises:
            InvalidRequest: as ``search``.
        """
        fleet, question = self._fleet, _plan(request)
        vector = await self._vector(request)
        retrieval = self._retrieval(request, question, vector, fleet, with_bodies=False)
        found = await retrieval.run((request.budget.candidate_k,), whole_list=True)
        self._remember_crowd(request.scope, found)
        rows, scores = found.ranking.result(request.pinned, request.budget.rerank_k)
        coverage = fleet.coverage(request.scope, found.replies)
        return RankedList(
            ids=rows.ids,
            scores=tuple(scores),
            matched=rows.matched,
            exact=doubt_of(found, coverage) is None,
            coverage=coverage,
            vectors=found.vectors,
            likenesses=tuple(rows.likenesses.tolist()),
        )

    async def documents(self, scope: Scope, ids: Sequence[str], deadline: Deadline) -> tuple[Record, ...]:
        """Records of these ids that the scope admits now, in the order asked; the others are left out alike.

        Raises:
            ShardUnavailable: if a shard that owns one of the ids did not answer before the deadline.
        """
        lanes = self._fleet.lanes
        asked = tuple(dict.fromkeys(ids))
        wanted: dict[int, list[str]] = {}
        for record_id in asked:
            wanted.setdefault(shard_of(bucket_of(record_id), len(lanes)), []).append(record_id)
        found, gaps = await fetch(lanes, scope, wanted, deadline)
        for shard, gap in sorted(gaps.items()):
            raise ShardUnavailable(shard, gap.value)
        return tuple(Record.from_json(found[record_id].body) for record_id in asked if record_id in found)

    @property
    def shard_map(self) -> ShardMap:
        """The map in use."""
        return self._fleet.shard_map

    def replace_map(self, shard_map: ShardMap) -> None:
        """Use another map from the next request on; an older one than the one in use is ignored.

        Requests that run finish on the lanes they started with.
        """
        if shard_map.version >= self.shard_map.version:
            self._fleet = self._fleet.succeeded_by(shard_map, self._max_batch)

    def close(self) -> None:
        """Break off what nobody waits for any more; running requests still end by themselves."""
        self._fleet.retire()
        self._vectors.close()

    async def _vector(self, request: SearchRequest) -> QueryVector:
        if not request.flags.hybrid_tool_discovery:
            return NOT_ASKED
        return await self._vectors.of(request.query, request.deadline)

    def _retrieval(
        self,
        request: SearchRequest,
        question: AnalyzedRequest,
        vector: QueryVector,
        fleet: Fleet,
        *,
        with_bodies: bool,
    ) -> Retrieval:
        crowd = self._crowds.get(request.scope.fingerprint) or 0
        deadline = _before(request.deadline)
        return Retrieval(
            request,
            question,
            vector,
            crowd=crowd,
            ranker=self._ranker,
            lanes=fleet.lanes,
            deadline=deadline,
            with_bodies=with_bodies,
        )

    def _remember_crowd(self, scope: Scope, found: Retrieved) -> None:
        if not found.replies.gaps:
            self._crowds.put(scope.fingerprint, found.question.crowd, size_bytes=1)


def _plan(request: SearchRequest) -> AnalyzedRequest:
    if len(request.pinned) > request.budget.evidence_k:
        raise InvalidRequest(
            "pinned", f"{len(request.pinned)} ids", f"at most evidence_k = {request.budget.evidence_k}"
        )
    return plan_query(request.query)


def _pinned(request: SearchRequest, rows: Pool) -> Collection[int]:
    """The rows that the caller pinned."""
    return {row for row, record_id in enumerate(rows.ids) if record_id in request.pinned} if request.pinned else ()


def _before(deadline: Deadline) -> Deadline:
    """The end of a search, with time left for the documents."""
    reserved_ms = min(RESERVED_MS, deadline.remaining_ms() / RESERVED_SHARE)
    return deadline.earlier(reserved_ms / 1000)
