"""All that crosses the boundary between a router and a shard. Plain values, no behaviour but derived sizes.

Everything is picklable, small (a scope travels compiled, never as ids or a bitmap), and arrays that arrive through
Ray are read-only.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from shards.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMix:
    """How the two per-posting channels are added up; chosen by the ranker per query, obeyed by the kernel.

    The static value of a posting is ``impact * impact_q + name * name_q + presence`` where ``impact_q`` and
    ``name_q`` are its uint8 channels. ``impact`` and ``name`` lie in [0, 15], ``presence`` in [0, 3825], a term's
    weight is at most 2047 and all bonuses of one record together at most 6e8: 64 terms never overflow int32.
    """

    impact: int
    name: int
    presence: int


class MentionField(StrEnum):
    """Which exact look-up a mention asks."""

    NAME = "name"
    CAPABILITY = "capability"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A span of the query that may equal a whole field; each record that has it gets ``bonus`` once per field.

    The record with the highest bonus per field counts once: bonuses of one field do not add up, those of two
    fields do. A record with a bonus is a candidate even where no term matches.
    """

    field: MentionField
    key: str
    bonus: int


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
    """

    scope: Scope
    terms: tuple[str, ...]
    term_weights: tuple[int, ...]
    mix: ScoreMix
    mentions: tuple[Mention, ...]
    pinned: tuple[str, ...]
    preferred: tuple[str, ...]
    n: int
    weights: tuple[int, ...] | None
    remaining_ms: float
    min_seq: int


MAX_TERMS = 64


class Outcome(StrEnum):
    """How a shard ended a query."""

    COMPLETE = "complete"
    EXPIRED = "expired"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardHits:
    """A shard's answer to one query.

    Rows are the top ``n`` by (score descending, id ascending), then pinned and preferred ids that did not make it.
    Only authorized records appear, in rows and in every count.

    Attributes:
        outcome: ``expired`` and ``behind`` come with empty arrays and zero counts.
        ids: record ids, one per row.
        versions: int64[n_rows], version of each record, to fetch its document.
        scores: int32[n_rows], by the weights the shard used, bonus included.
        values: uint8[n_rows, n_terms, 2], impact and name channel of each (row, term); 0 where it does not occur.
        bonuses: int32[n_rows], mention bonus of each row.
        frequencies: int64[n_terms], authorized records holding each term.
        authorized: number of authorized records in this shard.
        matched: number of authorized records with a score above 0.
        threshold: best score that a record left out of the rows can have; -1 if no scored record was left out.
        weights: int64[n_terms], the weights used.
        seq: the last change this shard has applied.
    """

    outcome: Outcome
    ids: tuple[str, ...]
    versions: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int32]
    values: npt.NDArray[np.uint8]
    bonuses: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int64]
    authorized: int
    matched: int
    threshold: int
    weights: npt.NDArray[np.int64]
    seq: int


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
class Change:
    """One registry change as a shard sees it. ``body`` is the canonical record, None where it is gone.

    A change of a grant list carries its ids instead (None = list removed); every shard gets those.
    """

    seq: int
    record_id: str = ""
    body: bytes | None = None
    grant_list: str = ""
    grant_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardStatus:
    """What a shard says of itself; counts cover the whole shard, for operators only."""

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
