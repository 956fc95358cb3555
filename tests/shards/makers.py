"""Small records, scopes and queries, and the naive loop that a shard's answers are held against."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from shards.analyzer import name_key
from shards.grants import GrantLists
from shards.impacts import postings_of
from shards.index import ShardIndex
from shards.loading import BulkLoad
from shards.mentions import NO_MENTIONS, MentionField, Mentions, key_hash
from shards.messages import (
    Change,
    NewVector,
    ScoreMix,
    ShardHits,
    ShardQuery,
    VectorQuery,
)
from shards.record import Access, Kind, Record, SideEffect, Status
from shards.scope import Denial, Grant, Narrowing, Scope
from shards.shard import Shard
from shards.statistics import frequency_weight

MIX: Final = ScoreMix(impact=7, name=3, presence=50)
MIX_OF_BOTH: Final = replace(MIX, similarity=900)
EMBEDDER: Final = "hashed-1"
DIMS: Final = 12
ALL: Final = Grant(
    reason="test",
    tenants=frozenset({"*", "acme", "zeta"}),
    permissions=frozenset({"p1", "p2"}),
    mode="analyzer",
    side_effects=frozenset(SideEffect),
)
EVERYTHING: Final = Scope(grants=(ALL,))


def record(record_id: str, description: str = "", **values: object) -> Record:
    """An enabled, shared tool."""
    base = Record(
        id=record_id, kind=Kind.TOOL, name="tool", namespace="ns", description=description, access=Access(tenant="*")
    )
    return replace(base, **{"version": 1, **values})  # type: ignore[arg-type]


def query(*terms: str, scope: Scope = EVERYTHING, **values: object) -> ShardQuery:
    """A query for ten rows without a deadline."""
    base = ShardQuery(
        scope=scope,
        terms=terms,
        term_weights=(256,) * len(terms),
        mix=MIX,
        mentions=NO_MENTIONS,
        pinned=(),
        preferred=(),
        n=10,
        weights=None,
        remaining_ms=60_000.0,
        min_seq=0,
    )
    return replace(base, **values)  # type: ignore[arg-type]


def loaded(
    records: Iterable[Record], *, seq: int = 1, lists: Mapping[str, tuple[str, ...]] | None = None, number: int = 0
) -> Shard:
    """A ready shard."""
    shard = Shard(number)
    shard.begin_load()
    shard.load_batch([one.to_json() for one in records])
    shard.finish_load(seq, lists or {})
    return shard


def index_of(
    records: Iterable[Record], segment_rows: int, lists: Mapping[str, tuple[str, ...]] | None = None
) -> ShardIndex:
    """An index of segments of at most ``segment_rows`` records."""
    load = BulkLoad(segment_rows)
    for one in records:
        load.add(one, one.to_json())
    return ShardIndex(parts=load.finish(), lists=GrantLists().changed(lists or {}, 1), seq=1)


def upsert(seq: int, one: Record) -> Change:
    """The change that writes a record."""
    return Change(seq=seq, record_id=one.id, body=one.to_json())


def vector_of(one: Record, embedder: str = EMBEDDER) -> bytes:
    """Twelve numbers of this text alone; records of equal texts have equal vectors."""
    return hashlib.blake2b(f"{embedder} {one.search_text_hash}".encode(), digest_size=DIMS).digest()


def new_vector(one: Record, embedder: str = EMBEDDER) -> NewVector:
    """The vector of a record as an embedder would send it."""
    return NewVector(record_id=one.id, search_text_hash=one.search_text_hash, values=vector_of(one, embedder))


def vector_query(seed: int, floor: int = 20_000, embedder: str = EMBEDDER) -> VectorQuery:
    """A query that is likest to other records for each seed; about half of all records are like it at all."""
    digest = hashlib.blake2b(f"query {seed}".encode(), digest_size=DIMS).digest()
    values = np.frombuffer(digest, np.int8).astype(np.int16) * 40
    return VectorQuery(embedder=embedder, values=values, floor=floor)


def likeness(query: VectorQuery, vector: bytes) -> int:
    """``clip((dot - floor) >> 10, 0, 2047)`` in plain integers."""
    signed = [byte - 256 if byte > 127 else byte for byte in vector]
    dot = sum(one * other for one, other in zip(query.values.tolist(), signed, strict=True))
    return min(2047, max(0, (dot - query.floor) // 1024))


def plain(hits: ShardHits) -> dict[str, object]:
    """All of an answer as plain values, without its seq."""
    arrays = ("versions", "scores", "values", "bonuses", "likenesses", "frequencies", "weights")
    values = ("outcome", "ids", "authorized", "matched", "threshold", "unembedded", "approximate")
    return {name: getattr(hits, name).tolist() for name in arrays} | {name: getattr(hits, name) for name in values}


def admits(scope: Scope, one: Record, lists: Mapping[str, Sequence[str]]) -> bool:
    """The meaning of a scope, one record at a time."""
    return (
        one.status is Status.ENABLED
        and any(_grants(grant, one, lists) for grant in scope.grants)
        and not any(_denies(denial, one) for denial in scope.denials)
        and _leaves(scope.narrowing, one, lists)
    )


def _grants(grant: Grant, one: Record, lists: Mapping[str, Sequence[str]]) -> bool:
    return (
        one.access.tenant in grant.tenants
        and set(one.access.permissions) <= grant.permissions
        and (not one.access.modes or grant.mode in one.access.modes)
        and one.access.side_effect in grant.side_effects
        and (grant.namespaces is None or _fits(grant.namespaces, one))
        and (grant.ids is None or one.id in grant.ids)
        and (grant.grant_list is None or one.id in lists.get(grant.grant_list, ()))
    )


def _denies(denial: Denial, one: Record) -> bool:
    return one.id in denial.ids or _fits(denial.namespaces, one)


def _leaves(narrowing: Narrowing, one: Record, lists: Mapping[str, Sequence[str]]) -> bool:
    pairs = (
        (narrowing.kinds, one.kind),
        (narrowing.products, one.product),
        (narrowing.locales, one.locale),
        (narrowing.releases, one.release),
        (narrowing.domains, one.domain),
        (narrowing.capabilities, one.capability),
        (narrowing.ids, one.id),
    )
    return (
        all(wanted is None or value in wanted for wanted, value in pairs)
        and (narrowing.namespaces is None or _fits(narrowing.namespaces, one))
        and (narrowing.grant_list is None or one.id in lists.get(narrowing.grant_list, ()))
    )


def _fits(patterns: Iterable[str], one: Record) -> bool:
    return any(
        one.namespace.startswith(pattern[:-1]) if pattern.endswith("*") else one.namespace == pattern
        for pattern in patterns
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Naive:
    """What a shard must say, by loops over plain postings and vectors (of ``EMBEDDER``, by record id)."""

    records: Sequence[Record]
    lists: Mapping[str, Sequence[str]]
    vectors: Mapping[str, bytes] = field(default_factory=dict)

    def answer(self, asked: ShardQuery) -> dict[str, object]:
        """The whole answer as ``plain`` gives it; the index must hold exactly these records."""
        visible = {one.id: one for one in self.records if admits(asked.scope, one, self.lists)}
        held = {record_id: postings_of(one) for record_id, one in visible.items()}
        frequencies = [sum(term in postings for postings in held.values()) for term in asked.terms]
        weights = [
            frequency_weight(len(visible), frequency, weight)
            for frequency, weight in zip(frequencies, asked.term_weights, strict=True)
        ]
        if asked.weights is not None and visible:
            weights = list(asked.weights)
        values = {one: [list(postings.get(term, (0, 0))) for term in asked.terms] for one, postings in held.items()}
        bonuses = {record_id: bonus_of(one, asked.mentions) for record_id, one in visible.items()}
        alike = self._likenesses(asked.vector, visible)
        scores = {
            one: bonuses[one] + _sum(weights, values[one], asked.mix) + asked.mix.similarity * alike.get(one, 0)
            for one in visible
        }
        ranking = sorted((one for one in visible if scores[one] > 0), key=lambda one: (-scores[one], one))
        extras = [one for one in dict.fromkeys((*asked.pinned, *asked.preferred)) if one in visible]
        rows = list(dict.fromkeys((*ranking[: asked.n], *extras)))
        return {
            "outcome": "complete",
            "ids": tuple(rows),
            "versions": [visible[one].version for one in rows],
            "scores": [scores[one] for one in rows],
            "values": [values[one] for one in rows],
            "bonuses": [bonuses[one] for one in rows],
            "likenesses": [alike.get(one, 0) for one in rows],
            "frequencies": frequencies,
            "weights": weights,
            "authorized": len(visible),
            "matched": len(ranking),
            "threshold": max((scores[one] for one in ranking if one not in rows), default=-1),
            "unembedded": len(visible) - len(alike) if asked.vector else 0,
            "approximate": False,
        }

    def _likenesses(self, query: VectorQuery | None, visible: Iterable[str]) -> dict[str, int]:
        """By id, for the records that have a vector of the query's embedder."""
        if query is None or query.embedder != EMBEDDER:
            return {}
        return {one: likeness(query, self.vectors[one]) for one in visible if one in self.vectors}


def _sum(weights: Sequence[int], values: Sequence[Sequence[int]], mix: ScoreMix) -> int:
    return sum(
        weight * (mix.impact * impact + mix.name * name + mix.presence)
        for weight, (impact, name) in zip(weights, values, strict=True)
        if impact
    )


def mentions_of(*spans: tuple[MentionField, str, int]) -> Mentions:
    """Mentions of (field, text, bonus) by the normal form of the text."""
    return Mentions.of(
        {field: [(name_key(text), bonus) for one, text, bonus in spans if one is field] for field in MentionField}
    )


def bonus_of(one: Record, mentions: Mentions) -> int:
    """The best bonus per field, summed over fields."""
    texts = {
        MentionField.NAME: (one.name, *one.aliases),
        MentionField.CAPABILITY: (one.capability,),
        MentionField.DOMAIN: (one.domain,),
    }
    best = {
        field: [mentions.among(field).get(key_hash(key), 0) for text in texts[field] if (key := name_key(text))]
        for field in MentionField
    }
    return sum(max(bonuses, default=0) for bonuses in best.values())
