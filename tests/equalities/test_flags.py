"""Flags change what they name and nothing else: the index has whole parity, vectors that only order find nothing."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from cluster.contract import Answer, EvidenceForm, SearchRequest
from cluster.flags import DEFAULT_FLAGS, FULL_HITS, NO_SHADOW, Flag, FlagPlan, Flags
from cluster.shadow import Parity, Shadow
from tests.depth import examples
from tests.equalities.asks import asks
from tests.equalities.test_exact import Nudged
from tests.equalities.test_vector_answers import vector_index_of
from tests.indexes import LOOSE, Ask, Searchable, comparable, index_of, request_of
from tests.worlds import World, any_id, worlds

INDEXED = Flag.INDEXED_CANDIDATE_RETRIEVAL
WHOLE = DEFAULT_FLAGS.flipped(INDEXED)
ORDERING = DEFAULT_FLAGS.flipped(Flag.VECTOR_CANDIDATE_RETRIEVAL)
BY_WORDS = DEFAULT_FLAGS.flipped(Flag.HYBRID_TOOL_DISCOVERY)

PATIENCE_S = 60.0


def answered(index: Searchable, asked: Sequence[Ask], flags: Flags = DEFAULT_FLAGS) -> list[Answer]:
    """The answers where these flags hold."""

    async def search() -> list[Answer]:
        return [comparable(await index.router.search(replace(request_of(ask), flags=flags))) for ask in asked]

    return asyncio.run(search())


def ids(answer: Answer) -> list[str]:
    return [hit.record.id for hit in answer.hits]


async def shadowed(index: Searchable, requests: Sequence[SearchRequest]) -> Parity:
    """The parity of the index after these requests, each with its shadow."""
    plan = FlagPlan(shadow_percent={**NO_SHADOW, INDEXED: 100})
    shadow = Shadow(index.router, plan=lambda: plan, busy=lambda: False)
    # A machine that is busy with other things must not make a comparison late, and so none.
    with patch("cluster.shadow.TIMEOUT_S", PATIENCE_S):
        for request in requests:
            shadow.after(request, await index.router.search(request))
            await shadow.idle()
    return shadow.parity()[INDEXED]


@examples(40, deep=1500)
@given(world=worlds(), shards=st.integers(1, 3), asked=st.lists(asks, min_size=8, max_size=8))
def test_the_shadow_of_the_index_finds_whole_parity(
    world: World, shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    parity = asyncio.run(shadowed(index_of(world, shards=shards), [request_of(ask) for ask in asked]))
    assert parity == Parity(compared=len(asked), equal=len(asked), incomparable=0, skipped=0)
    compared["shadow of the index"] += parity.compared


@examples(25)
@given(world=worlds(), shards=st.integers(1, 3), bare=st.sets(any_id, max_size=1), asked=st.lists(asks, min_size=6))
def test_without_the_index_the_whole_answer_is_the_same_vectors_included(
    world: World, shards: int, bare: set[str], asked: list[Ask], compared: Counter[str]
) -> None:
    index = vector_index_of(world, bare, shards=shards)
    for indexed, whole in zip(answered(index, asked), answered(index, asked, WHOLE), strict=True):
        assert indexed.exact
        assert whole == replace(indexed, flags=WHOLE)
        compared["whole ranking"] += 1


@examples(10)
@given(world=worlds(), asked=st.lists(asks, min_size=6), step=st.sampled_from((1, 500, 20_000)))
def test_without_the_index_a_ranker_that_proves_nothing_is_exact(world: World, asked: list[Ask], step: int) -> None:
    index = index_of(world, shards=2, ranker=Nudged(step, bound=None))
    bounded = index_of(world, shards=2, ranker=Nudged(step, bound=step))
    pairs = zip(answered(index, asked, WHOLE), answered(bounded, asked), strict=True)
    for whole, proved in pairs:
        assert whole.exact
        if proved.exact:
            assert ids(whole) == ids(proved)


@examples(25)
@given(world=worlds(), bare=st.sets(any_id, max_size=1), asked=st.lists(asks, min_size=6))
def test_vectors_that_only_order_find_what_words_find_in_the_order_of_both(
    world: World, bare: set[str], asked: list[Ask], compared: Counter[str]
) -> None:
    plain = [replace(ask, question=replace(ask.question, pinned=(), preferred=())) for ask in asked]
    roomy = [replace(ask, budget=LOOSE) for ask in plain]
    index = vector_index_of(world, bare)
    found = answered(index, roomy, BY_WORDS)
    hybrid = answered(index, [replace(ask, budget=replace(LOOSE, evidence_k=100)) for ask in plain])
    words = answered(index, [replace(ask, budget=replace(LOOSE, evidence_k=100)) for ask in plain], BY_WORDS)
    for by_words, both, all_words, ordered in zip(found, hybrid, words, answered(index, roomy, ORDERING), strict=True):
        named = set(ids(all_words))
        assert ids(ordered) == [one for one in ids(both) if one in named][: LOOSE.evidence_k]
        assert ordered.spent.matched == by_words.spent.matched
        assert ordered.exact
        compared["vectors that only order"] += 1


@examples(20)
@given(world=worlds(), bare=st.sets(any_id, max_size=2), shards=st.integers(2, 4), asked=st.lists(asks, min_size=6))
def test_no_flag_lets_the_number_of_shards_change_an_answer(
    world: World, bare: set[str], shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    one, many = vector_index_of(world, bare), vector_index_of(world, bare, shards=shards)
    for flags in (ORDERING, BY_WORDS, WHOLE, ORDERING.flipped(INDEXED)):
        assert answered(many, asked, flags) == answered(one, asked, flags)
        compared["flags and shards"] += len(asked)


@examples(20)
@given(world=worlds(), asked=st.lists(asks, min_size=6))
def test_progressive_answers_have_the_same_hits_and_full_records_first(world: World, asked: list[Ask]) -> None:
    index = index_of(world)
    flags = DEFAULT_FLAGS.flipped(Flag.PROGRESSIVE_SCHEMA_LOADING)
    for usual, progressive in zip(answered(index, asked), answered(index, asked, flags), strict=True):
        assert ids(progressive) == ids(usual)
        assert progressive.spent.evidence_tokens <= usual.spent.evidence_tokens
        for rank, hit in enumerate(progressive.hits):
            cut = rank >= FULL_HITS and hit.record.summary is not hit.record.full
            assert hit.form is (EvidenceForm.SUMMARY if cut else EvidenceForm.FULL)
