"""Shape equality: how records are spread over shards and segments, and asked in which order, changes no answer."""

import random
from collections import Counter

import orjson
from hypothesis import given
from hypothesis import strategies as st

from tests.depth import examples
from tests.equalities.asks import asks
from tests.indexes import Ask, answers, index_of
from tests.worlds import World, hidden, worlds


@examples(20)
@given(world=worlds(), crowd=st.sampled_from((0, 0, 200)), asked=st.lists(asks, min_size=4, max_size=6))
def test_one_shard_answers_as_two_three_and_five(
    world: World, crowd: int, asked: list[Ask], compared: Counter[str]
) -> None:
    one = answers(index_of(world, more=hidden(crowd)), asked)
    for shards in (2, 3, 5):
        assert answers(index_of(world, more=hidden(crowd), shards=shards), asked) == one
        compared["shard counts"] += len(asked)


@examples(20)
@given(world=worlds(), asked=st.lists(asks, min_size=2, max_size=6), seed=st.integers(0, 1_000))
def test_the_order_of_records_and_of_questions_changes_no_byte(
    world: World, asked: list[Ask], seed: int, compared: Counter[str]
) -> None:
    shuffled = list(world.records)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 -- an order, no secret
    other = World(records=tuple(shuffled), grant_lists=world.grant_lists)
    index = index_of(world, shards=2)
    first = [orjson.dumps(answer, default=bytes.decode) for answer in answers(index, asked)]
    assert [orjson.dumps(answer, default=bytes.decode) for answer in answers(index, asked)] == first
    backwards = answers(index_of(other, shards=2), asked[::-1])
    assert [orjson.dumps(answer, default=bytes.decode) for answer in backwards[::-1]] == first
    compared["bytes of repeated questions"] += 2 * len(asked)
