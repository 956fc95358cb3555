"""The lossless cut where it is hardest: words spread unevenly over shards, and a cut of no more places than the answer.

A shard's own frequencies then order its records otherwise than those of all shards together.
"""

import random
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cluster.partition import shard_of
from shards.record import Access, Kind, Record, bucket_of
from shards.scope import Scope
from tests.depth import examples
from tests.indexes import LOOSE, Ask, answers, expected_hits, index_of, verdict_on
from tests.oracle import Oracle
from tests.worlds import WIDE, WORDS, Question, World

ASKED = WORDS[:4]


def uneven(seed: int, size: int, shards: int) -> World:
    """``size`` records; how often a shard's records hold a word differs from shard to shard, from never to mostly."""
    chance = random.Random(seed)  # noqa: S311 -- a replayable catalogue, no secret
    share = {(shard, word): chance.choice((0.01, 0.05, 0.3, 0.9)) for shard in range(shards) for word in ASKED}

    def record(number: int) -> Record:
        name = f"u{number:03d}"
        shard = shard_of(bucket_of(name), shards)
        held = [word for word in ASKED if chance.random() < share[shard, word]]
        padding = chance.choices(WORDS[4:], k=chance.randrange(6))
        return Record(
            id=name,
            kind=Kind.TOOL,
            name=chance.choice(WORDS[4:]),
            namespace="",
            description=" ".join([*held, *padding]),
            access=Access(tenant="acme"),
        )

    return World(records=tuple(record(number) for number in range(size)), grant_lists={})


@examples(25)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from((60, 120, 25)),
    shards=st.sampled_from((2, 3, 5)),
    evidence_k=st.sampled_from((1, 2, 3, 10)),
)
def test_a_cut_of_the_answers_own_size_loses_nothing_over_uneven_shards(
    seed: int, size: int, shards: int, evidence_k: int, compared: Counter[str]
) -> None:
    world = uneven(seed, size, shards)
    oracle = Oracle(world.records, world.grant_lists)
    tight = replace(LOOSE, candidate_k=evidence_k, rerank_k=evidence_k, evidence_k=evidence_k)
    asked = [
        Ask(scope=Scope(grants=(WIDE,)), question=Question(text=text), budget=tight)
        for text in (" ".join(ASKED), " ".join(ASKED[:2]), " ".join(ASKED[1:]))
    ]
    for ask, answer in zip(asked, answers(index_of(world, shards=shards), asked), strict=True):
        found = [(hit.record.id, hit.score) for hit in answer.hits]
        assert found == expected_hits(oracle, ask, verdict_on(oracle, ask))
        assert answer.exact
        compared["tight cuts over uneven shards"] += 1
