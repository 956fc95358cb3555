"""The last look-up: documents of ids from the shards that own them, with a cache of records ready to be handed over.

The cache knows no principals. It is asked only for (id, version) pairs that a shard has just returned as authorized
rows for this very request, so a warm entry can never show what its reader may not see.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from cluster.budget import Deadline
from cluster.contract import Gap, Piece
from cluster.evidence import piece_of
from cluster.fanout import Lane, gather
from cluster.merge import Pool
from cluster.tokens import ESTIMATE, TokenCounter
from shards.cache import BoundedCache
from shards.messages import Document, DocumentRequest, ShardHits
from shards.scope import Scope

ENTRY_BYTES: Final = 1024
"""What an entry costs beside its JSON: its objects, and the cache's own."""

SUMMARY_BYTES: Final = 2048
"""Most that is set aside for the JSON of a summary, which may be made later and hardly ever outgrows the record."""

RECENT: Final = 32
"""Results over which the share of those with a missing record is averaged."""

OFTEN: Final = 0.1
"""A second call to a shard costs some ten times what documents do that come along for nothing."""


class Brought:
    """Documents that came along with rows, of any number of replies; looked for only where the library lacks one."""

    def __init__(self, replies: Iterable[tuple[tuple[str, ...], ShardHits]] = ()) -> None:
        self._replies = list(replies)

    def copy(self) -> "Brought":
        """The same, to add others to."""
        return Brought(self._replies)

    def add(self, hits: ShardHits, most: int) -> None:
        """Take those of the first ``most`` rows of a reply."""
        if hits.bodies and most:
            self._replies.append((hits.ids[: min(most, len(hits.bodies))], hits))

    def body(self, record_id: str, version: int) -> bytes | None:
        """The document of an id at exactly this version, None if it did not come along."""
        for ids, hits in self._replies:
            if record_id in ids and hits.versions[row := ids.index(record_id)] == version:
                return hits.bodies[row]
        return None


class DocumentCache:
    """Least recently used records by (id, version), bounded in estimated bytes; 0 bytes keep nothing."""

    def __init__(self, limit_bytes: int, counter: TokenCounter = ESTIMATE) -> None:
        self._counter = counter
        self._pieces: BoundedCache[tuple[str, int], Piece] = BoundedCache(limit_bytes)

    def get(self, record_id: str, version: int) -> Piece | None:
        """The record at exactly this version, if held."""
        return self._pieces.get((record_id, version))

    def put(self, document: Document) -> Piece:
        """Make a document ready and hold it."""
        piece = piece_of(document.body, self._counter)
        size = len(piece.full.json)
        self._pieces.put((document.id, document.version), piece, ENTRY_BYTES + size + min(size, SUMMARY_BYTES))
        return piece


class Library:
    """Looks records up, in the cache first. Tokens are counted once, when a record enters it."""

    def __init__(self, cache_bytes: int, counter: TokenCounter = ESTIMATE) -> None:
        self._cache = DocumentCache(cache_bytes, counter)
        self._missed = 1.0

    @property
    def misses_often(self) -> bool:
        """Whether so many results lack a record here that documents had better come along with the rows."""
        return self._missed > OFTEN

    async def pieces(
        self,
        rows: Pool,
        bodies: "Brought",
        scope: Scope,
        lanes: Sequence[Lane],
        deadline: Deadline,
    ) -> tuple[dict[int, Piece], dict[int, Gap]]:
        """Records of these rows by position, and the shards that did not give theirs.

        A record that was removed or closed to the caller since it was found is left out.
        """
        pieces: dict[int, Piece] = {}
        wanted: dict[int, list[str]] = {}
        brought = 0
        for row, (record_id, version) in enumerate(zip(rows.ids, rows.versions.tolist(), strict=True)):
            if (piece := self._cache.get(record_id, version)) is not None:
                pieces[row] = piece
            elif (body := bodies.body(record_id, version)) is not None:
                pieces[row] = self._cache.put(Document(id=record_id, version=version, body=body))
                brought += 1
            else:
                wanted.setdefault(rows.shards[row], []).append(record_id)
        self._missed += ((brought > 0 or bool(wanted)) - self._missed) / RECENT
        if not wanted:
            return pieces, {}
        documents, gaps = await fetch(lanes, scope, wanted, deadline)
        for row, record_id in enumerate(rows.ids):
            if row not in pieces and record_id in documents:
                pieces[row] = self._cache.put(documents[record_id])
        return pieces, gaps


async def fetch(
    lanes: Sequence[Lane], scope: Scope, wanted: Mapping[int, Sequence[str]], deadline: Deadline
) -> tuple[dict[str, Document], dict[int, Gap]]:
    """Documents of the ids wanted per shard that are authorized now, and the shards that did not tell.

    ``lanes`` holds all shards, by number.
    """
    requests = {shard: DocumentRequest(scope=scope, ids=tuple(ids)) for shard, ids in wanted.items()}
    replies, gaps = await gather(
        {shard: partial(lanes[shard].documents, request, deadline) for shard, request in requests.items()}, deadline
    )
    # A shard may only add what it was asked for: the rest is cut again here.
    return (
        {
            document.id: document
            for shard, documents in replies.items()
            for document in documents
            if document.id in wanted[shard]
        },
        gaps,
    )
