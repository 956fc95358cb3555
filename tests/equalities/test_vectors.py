"""The invariants with vectors, shard by shard: exact scans are part of the score like any word.

Which records have a vector is drawn too: searches are answered while embedding goes on.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluster.partition import shard_of
from cluster.query import plan_query
from shards.mentions import NO_MENTIONS
from shards.messages import NewVector, Outcome, ScoreMix, ShardHits, ShardQuery, VectorQuery
from shards.record import Record, bucket_of
from shards.scope import Scope
from shards.shard import Shard
from tests.depth import examples
from tests.oracle import Asked, Mix, Oracle, likeness_of
from tests.shards.makers import loaded, plain
from tests.worlds import (
    SENTINEL,
    Question,
    World,
    callers,
    floors,
    hidden,
    query_vectors,
    questions,
    vector_of,
    worlds,
)

EMBEDDER = "drawn-1"
MIX = ScoreMix(impact=5, name=2, presence=40, similarity=700)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A question of words and of a vector; ``weights`` are a second round's, None for a first."""

    scope: Scope
    question: Question
    values: tuple[int, ...]
    floor: int
    similarity: int
    weights: bool
    n: int

    @property
    def query(self) -> ShardQuery:
        plan = plan_query(self.question.text)
        return ShardQuery(
            scope=self.scope,
            terms=plan.terms,
            term_weights=plan.term_weights,
            mix=replace(MIX, similarity=self.similarity),
            mentions=NO_MENTIONS,
            pinned=self.question.pinned,
            preferred=self.question.preferred,
            n=self.n,
            weights=tuple(SECOND_ROUND[: len(plan.terms)]) if self.weights else None,
            remaining_ms=60_000.0,
            min_seq=0,
            vector=VectorQuery(embedder=EMBEDDER, values=np.array(self.values, np.int16), floor=self.floor),
        )

    def asked(self, vectors: Mapping[str, Sequence[int]]) -> Asked:
        """The question to the oracle; only records with a vector have a likeness."""
        query = self.query
        return Asked(
            terms=query.terms,
            weights=query.term_weights,
            mentions=(),
            mix=Mix(impact=MIX.impact, name=MIX.name, presence=MIX.presence, similarity=self.similarity),
            given=query.weights,
            likenesses={one: likeness_of(vector, self.values, self.floor) for one, vector in vectors.items()},
        )


SECOND_ROUND = (1, 2047, 90, 91, 500, 3, 700, 12)
drawn = st.builds(
    Drawn,
    scope=callers,
    question=questions(),
    values=query_vectors,
    floor=floors,
    similarity=st.sampled_from((700, 0, 1, 65_535)),
    weights=st.booleans(),
    n=st.integers(1, 12),
)
shares = st.sampled_from((1.0, 0.5, 0.0))


def some(records: Iterable[Record], share: float) -> list[Record]:
    """The same records whoever else is there: chance hangs on the id."""
    return [one for one in records if random.Random(one.id).random() < share]  # noqa: S311 -- replayable


def sent(records: Iterable[Record]) -> list[NewVector]:
    return [
        NewVector(
            record_id=one.id,
            search_text_hash=one.search_text_hash,
            values=np.array(vector_of(one), np.int8).tobytes(),
        )
        for one in records
    ]


def shard_with(records: Sequence[Record], world: World, share: float) -> Shard:
    """A shard of these records of which a share has its vector."""
    shard = loaded(records, lists=world.grant_lists)
    shard.take_vectors(EMBEDDER, sent(some(records, share)))
    return shard


@examples(40)
@given(world=worlds(), crowd=st.sampled_from((0, 1, 50)), share=shares, asked=st.lists(drawn, min_size=1, max_size=6))
def test_rows_likenesses_counts_and_threshold_are_those_of_the_oracle(
    world: World, crowd: int, share: float, asked: list[Drawn], compared: Counter[str]
) -> None:
    records = (*world.records, *hidden(crowd))
    vectors = {one.id: vector_of(one) for one in some(records, share)}
    oracle = Oracle(records, world.grant_lists)
    for one, hits in zip(asked, shard_with(records, world, share).search(queries(asked)), strict=True):
        asked_of_all = one.asked(vectors)
        verdict = oracle.judge(one.scope, asked_of_all)
        scores = dict(verdict.ranking)
        top = [record_id for record_id, _ in verdict.ranking[: one.n]]
        assert hits.outcome is Outcome.COMPLETE
        assert list(hits.ids[: len(top)]) == top
        assert hits.scores.tolist() == [scores.get(record_id, 0) for record_id in hits.ids]
        assert hits.likenesses.tolist() == [asked_of_all.likenesses.get(record_id, 0) for record_id in hits.ids]
        assert (hits.authorized, hits.matched) == (verdict.authorized, verdict.matched)
        assert hits.unembedded == sum(record.id not in vectors for record in oracle.visible(one.scope))
        left_out = [score for record_id, score in verdict.ranking if record_id not in hits.ids]
        assert hits.threshold == max(left_out, default=-1)
        assert not hits.approximate
        compared["rows with likenesses"] += len(hits.ids)


def queries(asked: Sequence[Drawn]) -> tuple[ShardQuery, ...]:
    return tuple(one.query for one in asked)


@examples(25)
@given(world=worlds(), share=shares, asked=st.lists(drawn, min_size=2, max_size=6), count=st.sampled_from((1, 50)))
def test_hidden_records_and_their_vectors_change_nothing_in_a_reply(
    world: World, share: float, asked: list[Drawn], count: int, compared: Counter[str]
) -> None:
    opened = shard_with((*world.records, *hidden(count)), world, share)
    oracle = Oracle(world.records, world.grant_lists)
    for one, hits in zip(asked, opened.search(queries(asked)), strict=True):
        private = shard_with(oracle.visible(one.scope), world, share)
        assert [plain(hits)] == [plain(alone) for alone in private.search((one.query,))]
        assert SENTINEL not in repr(hits)
        compared["hidden worlds with vectors"] += 1


@examples(20)
@given(world=worlds(), share=shares, asked=st.lists(drawn, min_size=2, max_size=4), shards=st.sampled_from((2, 3, 5)))
def test_the_best_rows_of_many_shards_are_those_of_one(
    world: World, share: float, asked: list[Drawn], shards: int, compared: Counter[str]
) -> None:
    # Weights of a second round: those of a first one are each shard's own.
    asked = [replace(one, weights=True, question=replace(one.question, pinned=(), preferred=())) for one in asked]
    whole = shard_with(world.records, world, share)
    split = [
        shard_with([one for one in world.records if shard_of(bucket_of(one.id), shards) == number], world, share)
        for number in range(shards)
    ]
    for one in asked:
        (hits,) = whole.search((one.query,))
        replies = [shard.search((one.query,))[0] for shard in split]
        rows = sorted((row for reply in replies for row in rows_of(reply)), key=lambda row: (-row[1], row[0]))
        assert rows[: one.n] == rows_of(hits)
        for count in ("authorized", "matched", "unembedded"):
            assert sum(getattr(reply, count) for reply in replies) == getattr(hits, count)
        compared["shard counts with vectors"] += 1


def rows_of(hits: ShardHits) -> list[tuple[str, int, int]]:
    return list(zip(hits.ids, hits.scores.tolist(), hits.likenesses.tolist(), strict=True))


@examples(20)
@given(world=worlds(), share=shares, asked=st.lists(drawn, min_size=2, max_size=6))
def test_a_batch_with_vectors_answers_each_query_as_if_it_were_alone(
    world: World, share: float, asked: list[Drawn], compared: Counter[str]
) -> None:
    shard = shard_with(world.records, world, share)
    together = [plain(hits) for hits in shard.search(queries(asked))]
    assert together == [plain(hits) for one in asked for hits in shard.search((one.query,))]
    compared["batches with vectors"] += len(asked)


def test_a_hand_worked_likeness() -> None:
    # 127 * 900 - 60 * 5,000 + 30 * 0 = -185,700; above a floor of -200,000: 14,300 = 13.96 steps of 1,024.
    assert likeness_of((127, -60, 30), (900, 5_000, 0), -200_000) == 13
    assert likeness_of((127, -60, 30), (900, 5_000, 0), 0) == 0
    assert likeness_of((127, 0, 0), (30_000, 0, 0), 0) == 2047
