"""One shard answers as many do, on catalogues larger than the first cut, for lopsided shards and any ceilings."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.budget import Budget
from cluster.contract import Answer, SearchRequest
from cluster.router import Router
from shards.record import Record, bucket_of
from tests.cluster.rig import comparable, request, router_of, tool

WORDS = ("send", "mail", "user", "file", "team", "order", "page", "email")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    catalogue: tuple[Record, ...]
    asked: tuple[SearchRequest, ...]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Records whose words depend on their bucket by ``lean`` of 10, so that the shards' own weights differ."""
    chance = random.Random(draw(st.integers(0, 10**6)))  # noqa: S311 -- a catalogue, no secret
    lean = draw(st.integers(0, 10))
    ids = [f"t{number:03d}" for number in range(draw(st.sampled_from([0, 5, 60, 250])))]
    catalogue = tuple(
        tool(
            record_id,
            " ".join(chance.choices(words_of(record_id, lean, chance), k=2)),
            " ".join(chance.choices(words_of(record_id, lean, chance), k=6)),
            tenant=chance.choice(("acme", "acme", "acme", "zeta")),
        )
        for record_id in ids
    )
    return Case(catalogue=catalogue, asked=tuple(draw(st.lists(requests(), min_size=3, max_size=3))))


def words_of(record_id: str, lean: int, chance: random.Random) -> Sequence[str]:
    half = WORDS[:4] if bucket_of(record_id) % 1024 < 512 else WORDS[4:]
    return half if chance.randrange(10) < lean else WORDS


@st.composite
def requests(draw: st.DrawFn) -> SearchRequest:
    k = draw(st.integers(1, 12))
    rerank_k = k + draw(st.integers(0, 40))
    budget = Budget(
        candidate_k=rerank_k + draw(st.integers(0, 60)),
        rerank_k=rerank_k,
        evidence_k=k,
        evidence_tokens=draw(st.sampled_from([1, 20, 60, 10_000])),
        timeout_ms=60_000,
    )
    ids = st.integers(0, 260).map(lambda number: f"t{number:03d}")
    return request(
        " ".join(draw(st.lists(st.sampled_from((*WORDS, "unheard")), max_size=5))) or "?",
        budget=budget,
        pinned=tuple(draw(st.lists(ids, max_size=min(k, 3), unique=True))),
        preferred=tuple(draw(st.lists(ids, max_size=20, unique=True))),
        explain=True,
    )


async def answers(router: Router, asked: Sequence[SearchRequest]) -> list[Answer]:
    return [comparable(await router.search(one)) for one in asked]


@settings(max_examples=60)
@given(case=cases(), shards=st.sampled_from([2, 3, 5]))
def test_one_shard_answers_as_many_do_and_no_ceiling_is_passed(case: Case, shards: int) -> None:
    alone = asyncio.run(answers(router_of(case.catalogue), case.asked))
    spread = router_of(case.catalogue, shards)
    assert asyncio.run(answers(spread, case.asked)) == alone
    visible = {record.id for record in case.catalogue if record.access.tenant == "acme"}
    for asked, answer in zip(case.asked, alone, strict=True):
        caps, spent, ids = asked.budget, answer.spent, [hit.record.id for hit in answer.hits]
        assert answer.exact
        assert set(ids) <= visible
        assert spent.candidates <= caps.candidate_k
        assert spent.reranked <= caps.rerank_k
        assert spent.evidence == len(ids) == len(set(ids)) <= caps.evidence_k
        assert spent.evidence_tokens == sum(hit.evidence.tokens for hit in answer.hits) <= caps.evidence_tokens
        assert spent.dropped or set(asked.pinned) & visible <= set(ids)
        whole = asyncio.run(spread.candidates(asked))
        assert whole.exact
        unpinned = [record_id for record_id in whole.ids if record_id not in asked.pinned]
        if not spent.dropped:
            free = [record_id for record_id in ids if record_id not in asked.pinned]
            assert free == unpinned[: len(free)]
