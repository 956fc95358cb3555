"""What a router does with words that no authorized record holds, over clients of real shards."""

import asyncio
from dataclasses import replace

import pytest

from cluster.contract import Doubt
from shards.messages import ShardHits, ShardQuery
from tests.cluster.rig import (
    BUDGET,
    Client,
    comparable,
    ids_of,
    request,
    router_of,
    router_over,
    shards_of,
    timed,
    tool,
)
from tests.quick_time import run_quickly

TOOLS = [
    tool("t01", "create_invoice", "Create an invoice for a customer"),
    tool("t02", "restart_server", "Restart a server"),
    tool("t03", "list_servers", "List all servers of a cluster"),
    tool("t04", "فاکتور", "ثبت فاکتور فروش"),
    *(tool(f"t{number}", f"zubak{number}", "something else") for number in range(10, 40)),
]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("restrat the sevrer", "t02"),
        ("create invocie", "t01"),
        ("clustre", "t03"),
        ("faktoor", "t04"),
        ("sabte faktore foroosh", "t04"),
        ("فاکتورر", "t04"),
    ],
)
def test_a_misspelt_question_finds_its_tool(query: str, best: str, count: int) -> None:
    answer = asyncio.run(router_of(TOOLS, count).search(request(query)))
    assert ids_of(answer)[0] == best
    assert answer.exact


def test_an_explained_hit_names_the_word_and_adds_up() -> None:
    (hit, *_) = asyncio.run(router_of(TOOLS).search(request("restart the clustre", explain=True))).hits
    assert hit.record.id in {"t02", "t03"}
    answer = asyncio.run(router_of(TOOLS).search(request("clustre", explain=True)))
    (hit,) = answer.hits
    assert {(part.instead_of, part.term) for part in hit.parts} >= {("clustr", "cluster")}
    assert sum(part.score for part in hit.parts) + hit.bonus == hit.score


def test_a_question_of_known_words_asks_every_shard_once() -> None:
    clients = [Client(shard=shard) for shard in shards_of(TOOLS, 2)]
    answer = asyncio.run(router_over(clients).search(request("restart server")))
    assert answer.rounds == 1
    assert [len(client.queries) for client in clients] == [1, 1]


def test_a_word_that_means_nothing_here_costs_no_round() -> None:
    answer = asyncio.run(router_of(TOOLS, 2).search(request("restart qwzxkjvv")))
    assert (ids_of(answer), answer.rounds) == (["t02"], 1)


def test_an_unknown_word_costs_one_round_more() -> None:
    clients = [Client(shard=shard) for shard in shards_of(TOOLS, 2)]
    answer = asyncio.run(router_over(clients).search(request("restart clustre")))
    assert (answer.rounds, answer.exact) == (2, True)
    assert [[query.weights is None for query in client.queries] for client in clients] == [[True, False]] * 2


class HangsOnMore(Client):
    """Answers the question as it was asked, and hangs when it is asked with more terms and their summed weights."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        if any(query.weights is not None for query in batch):
            await asyncio.get_running_loop().create_future()
        return await super().search(batch)


def test_where_a_shard_is_too_late_for_more_terms_the_known_words_answer_and_claim_nothing() -> None:
    shards = shards_of([*TOOLS, tool("t05", "restart_cluster", "cluster")], 2)
    quick = request("restart clustre", budget=replace(BUDGET, timeout_ms=300), explain=True)
    answer, _ = run_quickly(timed(router_over([Client(shard=shards[0]), HangsOnMore(shard=shards[1])]), quick))
    assert answer.doubt is Doubt.CUT
    assert answer.coverage.full
    assert sorted(ids_of(answer)) == ["t02", "t05"]
    assert not any(part.instead_of for hit in answer.hits for part in hit.parts)


class NoTimeForNearTerms(Client):
    """Runs out of time once its rows are chosen."""

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        return tuple(replace(hits, near=(), near_expired=True) for hits in await super().search(batch))


def test_where_a_shard_has_no_time_for_near_terms_the_known_words_answer_and_claim_nothing() -> None:
    first, second = shards_of([*TOOLS, tool("t05", "restart_cluster", "cluster")], 2)
    router = router_over([Client(shard=first), NoTimeForNearTerms(shard=second)])
    answer = asyncio.run(router.search(request("restart clustre", explain=True)))
    assert (answer.doubt, answer.rounds) == (Doubt.CUT, 1)
    assert answer.coverage.full
    assert sorted(ids_of(answer)) == ["t02", "t05"]
    assert not any(part.instead_of for hit in answer.hits for part in hit.parts)


def test_a_second_question_is_answered_as_the_first_was() -> None:
    router = router_of(TOOLS, 3)

    async def twice() -> list[object]:
        return [comparable(await router.search(request("restrat sevrer", explain=True))) for _ in range(2)]

    one, other = asyncio.run(twice())
    assert one == other
