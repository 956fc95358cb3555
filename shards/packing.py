"""Packing: batches of queries, hits, requests and documents as bytes and back, for the calls between processes.

It is the one place that knows the layout of these messages; ``shards.frame`` knows how values become bytes. Nothing
here checks what a message means, only that it is whole.
"""

import struct
from collections.abc import Sequence
from typing import Final

from shards.cache import BoundedCache
from shards.errors import MalformedMessage
from shards.frame import FrameReader, FrameWriter
from shards.mentions import Mentions
from shards.messages import (
    Document,
    DocumentRequest,
    NearTerm,
    Outcome,
    ScoreMix,
    ShardHits,
    ShardQuery,
    Twin,
    VectorQuery,
)
from shards.scope import Scope

SCOPE_CACHE_BYTES: Final = 16 * 2**20
"""Of packed scopes that a receiver keeps unpacked: thousands of principals."""

_QUERIES, _HITS, _REQUESTS, _DOCUMENTS = 1, 2, 3, 4
_OUTCOMES: Final = tuple(Outcome)
_OUTCOME_NUMBERS: Final = {outcome: number for number, outcome in enumerate(_OUTCOMES)}
_NONE: Final = -1
_FLOAT: Final = struct.Struct("=d")
_BITS: Final = struct.Struct("=q")


class ScopeCache:
    """Scopes by their bytes, so that one that was sent before is not unpacked again."""

    def __init__(self, ceiling_bytes: int = SCOPE_CACHE_BYTES) -> None:
        self._scopes: BoundedCache[bytes, Scope] = BoundedCache(ceiling_bytes)

    def scope(self, packed: bytes) -> Scope:
        """The scope of these bytes.

        Raises:
            MalformedMessage: if they are none.
        """
        scope = self._scopes.get(packed)
        if scope is None:
            scope = Scope.unpacked(packed)
            self._scopes.put(packed, scope, len(packed))
        return scope


def pack_queries(batch: Sequence[ShardQuery]) -> bytes:
    """A batch of queries, each distinct scope once."""
    frame = FrameWriter()
    places = _pack_scopes(frame, [query.scope for query in batch])
    for query, place in zip(batch, places, strict=True):
        _pack_query(frame, query, place)
    return frame.packed(_QUERIES, len(batch))


def unpack_queries(packed: bytes, scopes: ScopeCache) -> tuple[ShardQuery, ...]:
    """The batch.

    Raises:
        MalformedMessage: if these are not the bytes of a batch of queries.
    """
    frame = FrameReader(packed, _QUERIES)
    known = _unpack_scopes(frame, scopes)
    batch = tuple(_unpack_query(frame, known) for _ in range(frame.messages))
    frame.close()
    return batch


def pack_hits(batch: Sequence[ShardHits]) -> bytes:
    """A batch of answers."""
    frame = FrameWriter()
    for hits in batch:
        _pack_hits(frame, hits)
    return frame.packed(_HITS, len(batch))


def unpack_hits(packed: bytes) -> tuple[ShardHits, ...]:
    """The batch; its arrays are read-only.

    Raises:
        MalformedMessage: if these are not the bytes of a batch of answers.
    """
    frame = FrameReader(packed, _HITS)
    batch = tuple(_unpack_hits(frame) for _ in range(frame.messages))
    frame.close()
    return batch


def pack_requests(batch: Sequence[DocumentRequest]) -> bytes:
    """A batch of requests for documents."""
    frame = FrameWriter()
    places = _pack_scopes(frame, [request.scope for request in batch])
    for request, place in zip(batch, places, strict=True):
        frame.numbers += (place, len(request.ids))
        frame.texts += request.ids
    return frame.packed(_REQUESTS, len(batch))


def unpack_requests(packed: bytes, scopes: ScopeCache) -> tuple[DocumentRequest, ...]:
    """The batch.

    Raises:
        MalformedMessage: if these are not the bytes of a batch of requests.
    """
    frame = FrameReader(packed, _REQUESTS)
    known = _unpack_scopes(frame, scopes)
    batch = []
    for _ in range(frame.messages):
        place, count = frame.numbers(2)
        batch.append(DocumentRequest(scope=_scope_at(known, place), ids=frame.texts(count)))
    frame.close()
    return tuple(batch)


def pack_documents(batch: Sequence[Sequence[Document]]) -> bytes:
    """A batch of replies to requests for documents."""
    frame = FrameWriter()
    for documents in batch:
        frame.numbers.append(len(documents))
        for document in documents:
            frame.numbers += (document.version, len(document.body))
            frame.texts.append(document.id)
            frame.blobs.append(document.body)
    return frame.packed(_DOCUMENTS, len(batch))


def unpack_documents(packed: bytes) -> tuple[tuple[Document, ...], ...]:
    """The batch.

    Raises:
        MalformedMessage: if these are not the bytes of a batch of documents.
    """
    frame = FrameReader(packed, _DOCUMENTS)
    batch = []
    for _ in range(frame.messages):
        (count,) = frame.numbers(1)
        numbers, ids = frame.numbers(2 * count), frame.texts(count)
        pairs = zip(ids, numbers[::2], numbers[1::2], strict=True)
        batch.append(tuple(Document(id=one, version=version, body=frame.blob(size)) for one, version, size in pairs))
    frame.close()
    return tuple(batch)


def _pack_scopes(frame: FrameWriter, scopes: Sequence[Scope]) -> list[int]:
    """Put each distinct scope into the frame; the place of each among them."""
    distinct: dict[bytes, int] = {}
    places = [distinct.setdefault(scope.packed, len(distinct)) for scope in scopes]
    frame.numbers.append(len(distinct))
    frame.numbers += map(len, distinct)
    frame.blobs += distinct
    return places


def _unpack_scopes(frame: FrameReader, scopes: ScopeCache) -> list[Scope]:
    (count,) = frame.numbers(1)
    return [scopes.scope(frame.blob(length)) for length in frame.numbers(count)]


def _scope_at(scopes: Sequence[Scope], place: int) -> Scope:
    if not 0 <= place < len(scopes):
        raise MalformedMessage("scope", f"number {place} of {len(scopes)}")
    return scopes[place]


def _pack_query(frame: FrameWriter, query: ShardQuery, scope: int) -> None:
    mix, mentions, vector, weights = query.mix, query.mentions, query.vector, query.weights
    frame.numbers += (
        scope,
        len(query.terms),
        len(query.pinned),
        len(query.preferred),
        mix.impact,
        mix.name,
        mix.presence,
        mix.similarity,
        *mentions.bounds[1:],
        query.n,
        query.min_seq,
        query.bodies,
        _BITS.unpack(_FLOAT.pack(query.remaining_ms))[0],
        _NONE if vector is None else len(vector.values),
        _NONE if weights is None else len(weights),
    )
    frame.numbers += query.term_weights
    frame.texts += query.terms
    frame.texts += query.pinned
    frame.texts += query.preferred
    frame.hashes.append(mentions.hashes)
    frame.ints.append(mentions.bonuses)
    if weights is not None:
        frame.numbers += weights
    if vector is not None:
        frame.numbers.append(vector.floor)
        frame.texts.append(vector.embedder)
        frame.shorts.append(vector.values)


def _unpack_query(frame: FrameReader, scopes: Sequence[Scope]) -> ShardQuery:
    (
        scope,
        n_terms,
        n_pinned,
        n_preferred,
        impact,
        name,
        presence,
        similarity,
        first,
        second,
        n_mentions,
        n,
        min_seq,
        bodies,
        remaining,
        dims,
        n_weights,
    ) = frame.numbers(17)
    if not 0 <= first <= second <= n_mentions:
        raise MalformedMessage("mentions", f"bounds {first}, {second}, {n_mentions}")
    return ShardQuery(
        scope=_scope_at(scopes, scope),
        terms=frame.texts(n_terms),
        term_weights=tuple(frame.numbers(n_terms)),
        mix=ScoreMix(impact=impact, name=name, presence=presence, similarity=similarity),
        mentions=Mentions(
            hashes=frame.hashes(n_mentions), bonuses=frame.ints(n_mentions), bounds=(0, first, second, n_mentions)
        ),
        pinned=frame.texts(n_pinned),
        preferred=frame.texts(n_preferred),
        n=n,
        weights=None if n_weights == _NONE else tuple(frame.numbers(n_weights)),
        remaining_ms=_FLOAT.unpack(_BITS.pack(remaining))[0],
        min_seq=min_seq,
        vector=None if dims == _NONE else _unpack_vector(frame, dims),
        bodies=bodies,
    )


def _unpack_vector(frame: FrameReader, dims: int) -> VectorQuery:
    (floor,), (embedder,) = frame.numbers(1), frame.texts(1)
    return VectorQuery(embedder=embedder, values=frame.shorts(dims), floor=floor)


def _pack_hits(frame: FrameWriter, hits: ShardHits) -> None:
    frame.numbers += (
        _OUTCOME_NUMBERS[hits.outcome],
        len(hits.ids),
        len(hits.frequencies),
        hits.authorized,
        hits.matched,
        hits.threshold,
        hits.seq,
        hits.unembedded,
        hits.approximate,
        hits.near_expired,
        len(hits.near),
        len(hits.bodies),
        len(hits.twins),
    )
    frame.texts += hits.ids
    frame.longs += (hits.versions, hits.frequencies, hits.weights)
    frame.ints += (hits.scores, hits.bonuses, hits.likenesses)
    frame.octets.append(hits.values)
    for near in hits.near:
        frame.numbers += (near.position, near.likeness, near.frequency, near.spoken)
        frame.texts.append(near.term)
    if hits.bodies:
        frame.numbers += map(len, hits.bodies)
        frame.blobs += hits.bodies
    for twin in hits.twins:
        frame.texts += (twin.duplicate, twin.canonical, *twin.own, *twin.its)


def _unpack_hits(frame: FrameReader) -> ShardHits:
    (
        outcome,
        n_rows,
        n_terms,
        authorized,
        matched,
        threshold,
        seq,
        unembedded,
        approximate,
        near_expired,
        n_near,
        n_bodies,
        n_twins,
    ) = frame.numbers(13)
    if not 0 <= outcome < len(_OUTCOMES):
        raise MalformedMessage("outcome", f"number {outcome}")
    longs = frame.longs(n_rows + 2 * n_terms)
    ints = frame.ints(3 * n_rows)
    return ShardHits(
        outcome=_OUTCOMES[outcome],
        ids=frame.texts(n_rows),
        versions=longs[:n_rows],
        scores=ints[:n_rows],
        values=frame.octets(2 * n_rows * n_terms).reshape(n_rows, n_terms, 2),
        bonuses=ints[n_rows : 2 * n_rows],
        likenesses=ints[2 * n_rows :],
        frequencies=longs[n_rows : n_rows + n_terms],
        authorized=authorized,
        matched=matched,
        threshold=threshold,
        weights=longs[n_rows + n_terms :],
        seq=seq,
        unembedded=unembedded,
        approximate=bool(approximate),
        near=_unpack_near(frame, n_near) if n_near else (),
        near_expired=bool(near_expired),
        bodies=tuple(map(frame.blob, frame.numbers(n_bodies))) if n_bodies else (),
        twins=tuple(_unpack_twin(frame) for _ in range(n_twins)) if n_twins else (),
    )


def _unpack_twin(frame: FrameReader) -> Twin:
    duplicate, canonical, locale, release, product, *its = frame.texts(8)
    its_locale, its_release, its_product = its
    return Twin(
        duplicate=duplicate,
        canonical=canonical,
        own=(locale, release, product),
        its=(its_locale, its_release, its_product),
    )


def _unpack_near(frame: FrameReader, count: int) -> tuple[NearTerm, ...]:
    numbers, terms = frame.numbers(4 * count), frame.texts(count)
    places = (numbers[start : start + 4] for start in range(0, 4 * count, 4))
    return tuple(
        NearTerm(position=position, term=term, likeness=likeness, frequency=frequency, spoken=bool(spoken))
        for term, (position, likeness, frequency, spoken) in zip(terms, places, strict=True)
    )
