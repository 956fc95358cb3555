"""All that crosses the boundary between a router and a shard. Plain values, no behaviour but derived sizes.

Everything is picklable, small (a scope travels compiled, never as ids or a bitmap), and arrays that arrive through
Ray are read-only.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from shards.mentions import Mentions
from shards.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMix:
    """How the parts of a score are added up; chosen by the ranker per query, obeyed by the kernel.

    The static value of a posting is ``impact * impact_q + name * name_q + presence`` where ``impact_q`` and
    ``name_q`` are its uint8 channels; a record's vector adds ``similarity * s`` where ``s`` is its likeness to the
    query (``VectorQuery``). ``impact`` and ``name`` lie in [0, 15], ``presence`` in [0, 3825], ``similarity`` in
    [0, 65535], a term's weight is at most 2047, a likeness at most 2047 and all bonuses of one record together at most
    5e8: with 64 terms that is 1.504e9 + 0.135e9 + 0.5e9, which int32 holds.
    """

    impact: int
    name: int
    presence: int
    similarity: int = 0


LIKENESS_SHIFT: Final = 10
"""Bits that a dot product loses on the way to a likeness."""

MOST_LIKENESS: Final = 2047

MOST_DIMS: Final = 8_192
"""Numbers of a vector: two kilobytes would do for every model that comes in a package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearTerm:
    """A term that a word of the query may have meant, where no authorized record of the shard holds that word.

    Attributes:
        position: of the word in ``ShardQuery.terms``.
        term: held by an authorized record; a term of a text, or a mark (``shards.analysis.marks``).
        likeness: 1..256, of the word and the term alone.
        frequency: authorized records of the shard that hold the term, at least 1.
        spoken: it says the word in another script, rather than being spelt like it.
    """

    position: int
    term: str
    likeness: int
    frequency: int
    spoken: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VectorQuery:
    """The query as a vector. A record's likeness is ``clip((dot - floor) >> LIKENESS_SHIFT, 0, MOST_LIKENESS)``.

    Integers throughout, so that no order of summation and no batch can change a bit; 1024 is what its makers call a
    sure likeness. A record without a vector of this very embedder has likeness 0.

    Attributes:
        embedder: id of the embedder that made the vector; vectors of another one do not count.
        values: int16[dims]; no dot product with int8[dims] may leave int32.
        floor: dot products up to this say nothing.
    """

    embedder: str
    values: npt.NDArray[np.int16]
    floor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardQuery:
    """One query for one shard.

    Attributes:
        terms: distinct analysed terms, at most ``MAX_TERMS``.
        term_weights: weight of each term relative to its frequency weight, 1..256 (256 = full).
        pinned: ids that are returned whatever they score, if authorized.
        preferred: ids that stay candidates whatever they score, if authorized.
        n: the cut, at least 1.
        weights: summed integer weights of the terms for the second round, else None (own frequencies).
        remaining_ms: time left when the message was sent; the shard stops at it.
        min_seq: the shard must have applied this seq, 0 for any.
        vector: the query as a vector, None for a search by words alone.
        bodies: of how many of its first rows the reply shall bring the documents along.
    """

    scope: Scope
    terms: tuple[str, ...]
    term_weights: tuple[int, ...]
    mix: ScoreMix
    mentions: Mentions
    pinned: tuple[str, ...]
    preferred: tuple[str, ...]
    n: int
    weights: tuple[int, ...] | None
    remaining_ms: float
    min_seq: int
    vector: VectorQuery | None = None
    bodies: int = 0


MAX_TERMS: Final = 64


class Outcome(StrEnum):
    """How a shard ended a query."""

    COMPLETE = "complete"
    EXPIRED = "expired"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What somebody confirmed of a record, and what still holds: another one stands for it.

    Attributes:
        duplicate: id of the record that is stood for.
        canonical: id of the one that stands for it; whoever hears of it may not see that one.
        own: locale, release and product of the duplicate.
        its: those of the canonical.
    """

    duplicate: str
    canonical: str
    own: tuple[str, str, str]
    its: tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardHits:
    """A shard's answer to one query.

    Rows are the top ``n`` by (score descending, id ascending), then pinned and preferred ids that did not make it.
    Only authorized records appear, in rows and in every count.

    Attributes:
        outcome: ``expired`` and ``behind`` come with empty arrays and zero counts.
        ids: record ids, one per row.
        versions: int64[n_rows], version of each record, to fetch its document.
        scores: int32[n_rows], by the weights the shard used, bonus and similarity included.
        values: uint8[n_rows, n_terms, 2], impact and name channel of each (row, term); 0 where it does not occur.
        bonuses: int32[n_rows], mention bonus of each row.
        likenesses: int32[n_rows], likeness of each row's vector to the query's; 0 without one.
        frequencies: int64[n_terms], authorized records holding each term.
        authorized: number of authorized records in this shard.
        matched: number of authorized records with a score above 0.
        threshold: best score that a record left out of the rows can have; -1 if no scored record was left out.
        weights: int64[n_terms], the weights used.
        seq: the last change this shard has applied.
        unembedded: authorized records without a vector of the query's embedder; 0 for a query without one.
        approximate: a graph chose some of the rows, so that the threshold proves nothing.
        near: what words may have meant that no authorized record here holds; only for a query without ``weights``.
            A term that is among the nearest of all shards is in the reply of every shard that holds it.
        near_expired: the time ran out over ``near``, which is empty then; all else is complete.
        bodies: documents of the first rows, as many as were asked for.
        twins: of those rows that somebody confirmed to be duplicates.
    """

    outcome: Outcome
    ids: tuple[str, ...]
    versions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int32]
    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    likenesses: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int64]
    authorized: int
    matched: int
    threshold: int
    weights: npt.NDArray[np.int64]
    seq: int
    unembedded: int = 0
    approximate: bool = False
    near: tuple[NearTerm, ...] = ()
    near_expired: bool = False
    bodies: tuple[bytes, ...] = ()
    twins: tuple[Twin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRequest:
    """Fetch the documents of ids that are authorized *now*; others are left out of the reply without a word."""

    scope: Scope
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The current canonical JSON of a record (``Record.to_json``)."""

    id: str
    version: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingRequest:
    """Everything that the scope admits and that holds one of the terms; with no terms, everything it admits."""

    scope: Scope
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """All that a ``ListingRequest`` asks for, at one index state; ``ids`` ascend.

    Attributes:
        versions: of each id at this state.
        seq: the last change this state includes.
    """

    ids: tuple[str, ...]
    versions: tuple[int, ...]
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One registry change as a shard sees it. ``body`` is the canonical record, None where it is gone.

    A change of a grant list carries its ids instead (None = list removed); every shard gets those. One of a confirmed
    duplicate carries its id and what holds of it (None = nothing any more); the duplicate's shard gets that.
    """

    seq: int
    record_id: str = ""
    body: bytes | None = None
    grant_list: str = ""
    grant_ids: tuple[str, ...] | None = None
    duplicate: str = ""
    twin: Twin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingVector:
    """A live record without a vector, and the hash of the text that has to be embedded."""

    record_id: str
    search_text_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVector:
    """A vector for a record; it is taken only while the record's text still has this hash.

    ``values`` are the bytes of int8[dims].
    """

    record_id: str
    search_text_hash: str
    values: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardStatus:
    """What a shard says of itself; counts cover the whole shard, for operators only.

    ``embedder`` is the id of the embedder whose vectors the shard takes, empty for none; ``unembedded`` counts live
    records without such a vector.
    """

    shard: int
    ready: bool
    seq: int
    records: int
    segments: int
    postings: int
    index_bytes: int
    document_bytes: int
    pid: int
    analyzer: str
    embedder: str = ""
    unembedded: int = 0
    vector_bytes: int = 0
    graph_bytes: int = 0
