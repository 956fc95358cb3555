"""Vectors change no equality of whole answers: hidden records, the number of shards and past updates do not matter.

Every answer also agrees with the oracle, which compares vectors in plain Python; some records have none, so that both
sides of the rule for missing vectors are met.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from cluster.contract import Answer, VectorState, VectorUse
from cluster.router import Router
from cluster.shard_client import LocalShardClient
from shards.messages import VectorQuery
from shards.record import Record
from tests.cluster.rig import router_over, with_vectors
from tests.depth import examples
from tests.embedders import WordEmbedder
from tests.equalities.asks import asks
from tests.equalities.test_incremental import Model, Step, histories
from tests.indexes import RANKER, Alike, Ask, answers, expected_hits, index_of, verdict_on
from tests.oracle import Oracle, likeness_of
from tests.worlds import SENTINEL, World, any_id, hidden, worlds

EMBEDDER: Final = WordEmbedder()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndex:
    """An index whose records have the vectors of their meanings, but for some."""

    router: Router


def vector_index_of(
    world: World, bare: Collection[str], *, more: Iterable[Record] = (), shards: int = 1
) -> VectorIndex:
    """``bare`` are the ids of records without a vector."""
    more = tuple(more)
    index = index_of(world, more=more, shards=shards)
    meanings = {record.id: meaning(record) for record in (*world.records, *more) if record.id not in bare}
    clients = [LocalShardClient(shard) for shard in with_vectors(index.shards, meanings, EMBEDDER)]
    return VectorIndex(router=router_over(clients, ranker=RANKER, embedder=EMBEDDER))


def meaning(record: Record) -> str:
    """Some of the words of its fields, so that meaning and words differ."""
    return f"{record.name} {record.description} {record.domain} {record.product}"


def likeness(record: Record, query: VectorQuery) -> int:
    """The oracle's, of the record's meaning."""
    (row,) = EMBEDDER.embed_records([meaning(record)]).tolist()
    return likeness_of(row, query.values.tolist(), query.floor)


def assert_right(answer: Answer, oracle: Oracle, ask: Ask, bare: Collection[str]) -> None:
    """State, hits, scores and counts are those of the oracle."""
    visible = oracle.visible(ask.scope)
    missing = sum(record.id in bare for record in visible)
    embedded = EMBEDDER.embed_query(ask.question.text)
    assert embedded is not None
    used = missing * 100 <= len(visible)
    state = VectorState.USED if used else VectorState.EMBEDDING
    assert answer.vectors == VectorUse(state=state, embedder=EMBEDDER.id, missing=missing)
    alike = {record.id: likeness(record, embedded.vector) for record in visible if record.id not in bare}
    verdict = verdict_on(oracle, ask, Alike(embedded=embedded, likenesses=alike) if used else None)
    assert [(hit.record.id, hit.score) for hit in answer.hits] == expected_hits(oracle, ask, verdict)
    assert answer.exact
    assert (answer.spent.matched, answer.coverage.authorized) == (verdict.matched, verdict.authorized)
    for hit in answer.hits:
        similar = hit.similarity.score if hit.similarity else 0
        assert hit.score == hit.bonus + sum(part.score for part in hit.parts) + similar


bare = st.one_of(st.frozensets(any_id, min_size=1, max_size=30), st.just(frozenset()))


@examples(25, deep=1000)
@given(
    world=worlds(),
    bare=bare,
    count=st.sampled_from((0, 1, 50)),
    hidden_bare=st.booleans(),
    shards=st.integers(1, 3),
    asked=st.lists(asks, min_size=3, max_size=6),
)
def test_hidden_records_and_their_vectors_change_nothing_in_an_answer(
    *,
    world: World,
    bare: frozenset[str],
    count: int,
    hidden_bare: bool,
    shards: int,
    asked: list[Ask],
    compared: Counter[str],
) -> None:
    crowd = hidden(count)
    without = bare | {record.id for record in crowd} if hidden_bare else bare
    oracle = Oracle((*world.records, *crowd), world.grant_lists)
    open_to_all = answers(vector_index_of(world, without, more=crowd, shards=shards), asked)
    for ask, answer in zip(asked, open_to_all, strict=True):
        private = World(records=tuple(oracle.visible(ask.scope)), grant_lists=world.grant_lists)
        assert [answer] == answers(vector_index_of(private, bare, shards=shards), [ask])
        assert SENTINEL not in repr(answer)
        assert_right(answer, oracle, ask, without)
        alike = any(hit.similarity and hit.similarity.score for hit in answer.hits)
        compared[f"whole answers, vectors {answer.vectors.state}{', hits by likeness' if alike else ''}"] += 1


@examples(15)
@given(
    world=worlds(),
    bare=bare,
    crowd=st.sampled_from((0, 0, 200)),
    asked=st.lists(asks, min_size=3, max_size=5),
)
def test_one_shard_answers_with_vectors_as_two_three_and_five(
    world: World, bare: frozenset[str], crowd: int, asked: list[Ask], compared: Counter[str]
) -> None:
    one = answers(vector_index_of(world, bare, more=hidden(crowd)), asked)
    for shards in (2, 3, 5):
        assert answers(vector_index_of(world, bare, more=hidden(crowd), shards=shards), asked) == one
        compared["whole answers with vectors over shard counts"] += len(asked)


@examples(12)
@given(
    start=worlds(max_size=15),
    history=histories,
    shards=st.integers(1, 3),
    asked=st.lists(asks, min_size=2, max_size=3),
)
def test_an_index_that_followed_every_change_answers_with_vectors_as_one_built_from_the_end(
    *, start: World, history: list[list[Step]], shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    model, live, seq = Model(start), index_of(start, shards=shards, embedder=EMBEDDER), 7
    for batch in history:
        seq = live.apply([model.change(step, seq + place) for place, step in enumerate(batch, start=1)])
        found = answers(live, asked)
        assert found == answers(index_of(model.world, embedder=EMBEDDER), asked)
        assert all(answer.vectors.state is VectorState.USED and answer.exact for answer in found)
        compared["states after changes, with vectors"] += len(asked)
