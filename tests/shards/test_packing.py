"""Messages that crossed as bytes are the messages that were sent, and other bytes are a typed error."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.errors import MalformedMessage
from shards.mentions import MentionField, Mentions
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
from shards.packing import (
    ScopeCache,
    pack_documents,
    pack_hits,
    pack_queries,
    pack_requests,
    unpack_documents,
    unpack_hits,
    unpack_queries,
    unpack_requests,
)
from shards.record import SideEffect
from shards.scope import Denial, Grant, Narrowing, Scope
from tests.depth import examples
from tests.shards.makers import EVERYTHING, query, record

texts = st.text(st.characters(), max_size=6)  # lone surrogates too
plain_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
text_tuples = st.lists(texts, max_size=4).map(tuple)
counts = st.integers(0, 2**40)
text_sets = st.frozensets(plain_texts, max_size=3)
open_sets = st.one_of(st.none(), text_sets)

grants = st.builds(
    Grant,
    reason=plain_texts,
    tenants=text_sets,
    permissions=text_sets,
    mode=plain_texts,
    side_effects=st.frozensets(st.sampled_from(SideEffect)),
    namespaces=open_sets,
    ids=open_sets,
    grant_list=st.one_of(st.none(), plain_texts),
)
narrowings = st.builds(
    Narrowing,
    **dict.fromkeys((field.name for field in fields(Narrowing) if field.name != "grant_list"), open_sets),
    grant_list=st.one_of(st.none(), plain_texts),
)
scopes = st.builds(
    Scope,
    grants=st.lists(grants, max_size=2).map(tuple),
    denials=st.lists(st.builds(Denial, reason=plain_texts, namespaces=text_sets, ids=text_sets), max_size=2).map(tuple),
    narrowing=narrowings,
)
spans = st.lists(st.tuples(texts, st.integers(1, 5 * 10**8)), max_size=3)
mentions = st.dictionaries(st.sampled_from(MentionField), spans).map(Mentions.of)
vectors = st.builds(
    VectorQuery,
    embedder=texts,
    values=st.lists(st.integers(-(2**15), 2**15 - 1), max_size=9).map(lambda values: np.array(values, np.int16)),
    floor=st.integers(-(2**31), 2**31),
)


@st.composite
def queries(draw: st.DrawFn) -> ShardQuery:
    terms = draw(text_tuples)
    per_term = st.lists(st.integers(0, 2**31), min_size=len(terms), max_size=len(terms)).map(tuple)
    factors = st.integers(0, 65_535)
    return ShardQuery(
        scope=draw(scopes),
        terms=terms,
        term_weights=draw(per_term),
        mix=draw(st.builds(ScoreMix, impact=factors, name=factors, presence=factors, similarity=factors)),
        mentions=draw(mentions),
        pinned=draw(text_tuples),
        preferred=draw(text_tuples),
        n=draw(counts),
        weights=draw(st.one_of(st.none(), per_term)),
        remaining_ms=draw(st.floats(allow_nan=False)),
        min_seq=draw(counts),
        vector=draw(st.one_of(st.none(), vectors)),
        bodies=draw(counts),
    )


near_terms = st.builds(NearTerm, position=counts, term=texts, likeness=counts, frequency=counts, spoken=st.booleans())

labels = st.tuples(texts, texts, texts)
twins = st.builds(Twin, duplicate=texts, canonical=texts, own=labels, its=labels)


@st.composite
def answers(draw: st.DrawFn) -> ShardHits:
    n_rows, n_terms = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))

    def array(dtype: type[np.integer[Any]], *shape: int) -> Any:  # noqa: ANN401 -- of any integers
        limits = np.iinfo(dtype)
        return seed.integers(limits.min, limits.max, shape, dtype, endpoint=True)

    return ShardHits(
        outcome=draw(st.sampled_from(Outcome)),
        ids=tuple(draw(st.lists(texts, min_size=n_rows, max_size=n_rows))),
        versions=array(np.int64, n_rows),
        scores=array(np.int32, n_rows),
        values=array(np.uint8, n_rows, n_terms, 2),
        bonuses=array(np.int32, n_rows),
        likenesses=array(np.int32, n_rows),
        frequencies=array(np.int64, n_terms),
        authorized=draw(counts),
        matched=draw(counts),
        threshold=draw(st.integers(-1, 2**31 - 1)),
        weights=array(np.int64, n_terms),
        seq=draw(counts),
        unembedded=draw(counts),
        approximate=draw(st.booleans()),
        near=tuple(draw(st.lists(near_terms, max_size=2))),
        near_expired=draw(st.booleans()),
        bodies=tuple(draw(st.lists(st.binary(max_size=9), max_size=n_rows))),
        twins=tuple(draw(st.lists(twins, max_size=n_rows))),
    )


def plain(value: object) -> object:
    """Everything of a message, with the type and the dtype of every part."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, ShardQuery | ShardHits | VectorQuery | Mentions):
        return type(value), {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return type(value), value


@examples(150)
@given(batch=st.lists(queries(), max_size=3).map(tuple))
def test_queries_arrive_as_they_were_sent(batch: tuple[ShardQuery, ...]) -> None:
    assert plain(unpack_queries(pack_queries(batch), ScopeCache())) == plain(batch)


@examples(150)
@given(batch=st.lists(answers(), max_size=3).map(tuple))
def test_hits_arrive_as_they_were_sent_and_read_only(batch: tuple[ShardHits, ...]) -> None:
    arrived = unpack_hits(pack_hits(batch))
    assert plain(arrived) == plain(batch)
    assert not any(hits.values.flags.writeable or hits.scores.flags.writeable for hits in arrived)
    assert all(hits.versions.flags.aligned and hits.scores.flags.aligned for hits in arrived)


@examples(60)
@given(batch=st.lists(st.builds(DocumentRequest, scope=scopes, ids=text_tuples), max_size=3).map(tuple))
def test_requests_for_documents_arrive_as_they_were_sent(batch: tuple[DocumentRequest, ...]) -> None:
    assert unpack_requests(pack_requests(batch), ScopeCache()) == batch


documents = st.builds(Document, id=texts, version=counts, body=st.binary(max_size=20))


@examples(60)
@given(batch=st.lists(st.lists(documents, max_size=3).map(tuple), max_size=3).map(tuple))
def test_documents_arrive_as_they_were_sent(batch: tuple[tuple[Document, ...], ...]) -> None:
    assert unpack_documents(pack_documents(batch)) == batch


def test_a_scope_crosses_once_per_batch_and_is_unpacked_once_per_cache() -> None:
    one, other = EVERYTHING, Scope(grants=())
    cache = ScopeCache()
    batch = (query("a", scope=one), query("b", scope=other), query("c", scope=replace(one)))
    packed = pack_queries(batch)
    assert packed.count(one.packed) == 1
    first, second, third = unpack_queries(packed, cache)
    (again,) = unpack_queries(pack_queries(batch[:1]), cache)
    assert first.scope is third.scope is again.scope
    assert (first.scope, second.scope) == (one, other)


def test_scopes_that_differ_in_nothing_but_their_reasons_keep_them() -> None:
    (grant,) = EVERYTHING.grants
    other = Scope(grants=(replace(grant, reason="another"),))
    batch = tuple(DocumentRequest(scope=scope, ids=()) for scope in (EVERYTHING, other))
    assert unpack_requests(pack_requests(batch), ScopeCache()) == batch


HITS = pack_hits(
    (
        ShardHits(
            outcome=Outcome.COMPLETE, ids=("a", "ب"), versions=np.array([1, 2]), scores=np.array([4, 3], np.int32),
            values=np.ones((2, 1, 2), np.uint8), bonuses=np.zeros(2, np.int32), likenesses=np.zeros(2, np.int32),
            frequencies=np.array([2]), authorized=2, matched=2, threshold=-1, weights=np.array([7]), seq=1,
            near=(NearTerm(position=0, term="c", likeness=9, frequency=1, spoken=True),), bodies=(b"{}",),
            twins=(Twin(duplicate="a", canonical="ب", own=("", "1", ""), its=("fa", "2", "p")),),
        ),
    )
)  # fmt: skip
MESSAGES: list[tuple[bytes, Callable[[bytes], object]]] = [
    (HITS, unpack_hits),
    (pack_queries((query("a", vector=VectorQuery(embedder="e", values=np.ones(3, np.int16), floor=1)),)),
     lambda packed: unpack_queries(packed, ScopeCache())),
    (pack_requests((DocumentRequest(scope=EVERYTHING, ids=("a",)),)),
     lambda packed: unpack_requests(packed, ScopeCache())),
    (pack_documents(((Document(id="a", version=1, body=record("a").to_json()),),)), unpack_documents),
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES)
def test_bytes_that_are_cut_short_or_too_long_are_no_message(
    message: tuple[bytes, Callable[[bytes], object]],
) -> None:
    packed, unpack = message
    unpack(packed)
    for broken in (*(packed[:length] for length in range(len(packed))), packed + b"\0"):
        with pytest.raises(MalformedMessage):
            unpack(broken)


@examples(200)
@given(kind=st.sampled_from(range(len(MESSAGES))), place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_damaged_byte_gives_a_message_or_the_typed_error(kind: int, place: int, value: int) -> None:
    packed, unpack = MESSAGES[kind]
    damaged = bytearray(packed)
    damaged[place % len(packed)] = value
    try:
        unpack(bytes(damaged))
    except MalformedMessage:
        return


@pytest.mark.parametrize("other", [packed for packed, _ in MESSAGES[1:]])
def test_a_message_of_another_kind_is_refused(other: bytes) -> None:
    with pytest.raises(MalformedMessage, match="kind"):
        unpack_hits(other)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"grants":[{}],"denials":[],"narrowing":{}}',
        b'{"grants":1,"denials":[],"narrowing":{}}',
    ],
)
def test_bytes_that_are_no_scope_are_refused(packed: bytes) -> None:
    with pytest.raises(MalformedMessage, match="scope"):
        Scope.unpacked(packed)
