"""Slow, hung, dead, faulty, greedy and late shards: every answer is typed, honest, and in time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster.budget import Budget, Deadline
from cluster.contract import Answer, Gap, MissReason, SearchRequest
from cluster.errors import ShardUnavailable
from cluster.partition import bucket_range, shard_of
from cluster.shard_client import ShardClient
from shards.messages import Change, Document
from shards.record import bucket_of
from shards.shard import Shard
from tests.cluster.rig import (
    ACME,
    BUDGET,
    Client,
    GreedyClient,
    LaggingClient,
    comparable,
    ids_of,
    map_of,
    request,
    router_of,
    router_over,
    scope_of,
    shards_of,
    timed,
    tool,
)
from tests.quick_time import run_quickly

FOREVER = float("inf")
TIMEOUT_MS = 200
CATALOGUE = tuple(tool(f"t{n:02d}", f"tool{n}", "send " * (1 + n % 5)) for n in range(40))
HIDDEN = tuple(tool(f"h{n:02d}", f"tool{n}", "send", tenant="zeta") for n in range(7))
QUICK = replace(BUDGET, timeout_ms=TIMEOUT_MS)


def owned(shard: int, count: int) -> int:
    """How many of the caller's records a shard owns."""
    return sum(1 for record in CATALOGUE if shard_of(bucket_of(record.id), count) == shard)


def fleet(count: int) -> list[Client]:
    return [Client(shard=shard) for shard in shards_of((*CATALOGUE, *HIDDEN), count)]


def search(clients: Sequence[ShardClient | None], asked: SearchRequest | None = None) -> tuple[Answer, float]:
    async def story() -> tuple[Answer, float]:
        router = router_over(clients)
        try:
            return await timed(router, asked or request("send", budget=QUICK))
        finally:
            router.close()
            await asyncio.sleep(0.01)
            assert len(asyncio.all_tasks()) == 1, "a task outlived its request"

    return run_quickly(story())


def test_a_hung_shard_costs_its_part_of_the_answer_and_no_time_beyond_the_budget() -> None:
    clients = fleet(3)
    clients[1].delay_s = FOREVER
    answer, elapsed_ms = search(clients)
    assert elapsed_ms <= TIMEOUT_MS
    assert answer.coverage.gaps == (Gap.TIMEOUT,)
    assert answer.coverage.searched == 40 - owned(1, 3)
    assert answer.coverage.authorized is None
    assert answer.coverage.buckets_searched == len(bucket_range(0, 3)) + len(bucket_range(2, 3))
    assert not answer.exact
    assert len(answer.hits) == 5
    assert answer.miss is None
    assert clients[1].open_calls == 0


@pytest.mark.parametrize("fault", ["failing", "broken"])
def test_a_failing_shard_is_missing_at_once(fault: str) -> None:
    clients = fleet(3)
    setattr(clients[2], fault, True)
    answer, elapsed_ms = search(clients)
    assert elapsed_ms == 0
    assert answer.coverage.gaps == (Gap.UNAVAILABLE,)
    assert answer.coverage.searched == 40 - owned(2, 3)
    assert len(answer.hits) == 5


def test_all_shards_gone_is_a_typed_miss() -> None:
    for clients in ([None, None], [Client(shard=Shard(0)), None]):  # the second is still loading
        answer, elapsed_ms = search(clients)
        assert answer.miss is not None
        assert answer.miss.reason is MissReason.UNAVAILABLE
        assert (answer.coverage.searched, answer.coverage.authorized, answer.coverage.buckets_searched) == (0, None, 0)
        assert elapsed_ms == 0


def test_all_shards_hung_is_a_typed_miss_in_time() -> None:
    clients = fleet(2)
    for client in clients:
        client.delay_s = FOREVER
    answer, elapsed_ms = search(clients)
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.TIMEOUT
    assert elapsed_ms <= TIMEOUT_MS


def test_nothing_found_in_a_part_is_no_proof_that_nothing_matches() -> None:
    clients = fleet(2)
    clients[0].failing = True
    answer, _ = search(clients, request("unheard", budget=QUICK))
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.UNAVAILABLE


def test_a_partial_answer_knows_the_whole_once_the_lost_part_was_counted() -> None:
    async def story() -> None:
        clients = fleet(2)
        router = router_over(clients)
        assert (await router.search(request("send"))).coverage.authorized == 40
        clients[0].failing = True
        partial = await router.search(request("send"))
        assert (partial.coverage.searched, partial.coverage.authorized) == (owned(1, 2), 40)
        other = await router.search(request("send", scope=scope_of("acme", "zeta")))
        assert other.coverage.authorized is None  # never counted for this scope
        router.replace_map(map_of([None], version=2))
        assert (await router.search(request("send"))).coverage.authorized is None  # shard 0 is another part now

    run_quickly(story())


def test_a_shard_that_dies_before_its_documents_came_counts_as_not_searched() -> None:
    class Mute(Client):
        async def documents(self, batch):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202, ARG002
            raise ShardUnavailable(0, "died")

    first, second = shards_of((*CATALOGUE, *HIDDEN), 2)
    answer, _ = search([Mute(shard=first, bodiless=True), Client(shard=second)])
    assert answer.coverage.gaps == (Gap.UNAVAILABLE,)
    assert answer.coverage.searched == owned(1, 2)
    assert all(shard_of(bucket_of(record_id), 2) == 1 for record_id in ids_of(answer))
    assert not answer.exact


def test_a_greedy_shard_is_cut_at_every_stage_and_shows_nothing_nobody_asked_for() -> None:
    first, second = shards_of((*CATALOGUE, *HIDDEN), 2)
    budget = Budget(candidate_k=3, rerank_k=2, evidence_k=2, evidence_tokens=10_000, timeout_ms=5_000)
    asked = request("send", budget=budget)
    answer, _ = search([GreedyClient(shard=first), Client(shard=second)], asked)
    honest = asyncio.run(router_of(CATALOGUE, 2).search(asked))
    assert comparable(replace(answer, surplus=0)) == comparable(honest)
    assert (answer.spent.candidates, answer.spent.reranked, answer.spent.evidence) == (3, 2, 2)
    assert (answer.surplus, honest.surplus) == (answer.rounds * (owned(0, 2) - 3), 0)


def test_a_shard_cannot_answer_for_the_records_of_another() -> None:
    class Forger(Client):
        async def documents(self, batch):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            forged = [replace(record, description="forged") for record in CATALOGUE]
            return [tuple(Document(id=one.id, version=1, body=one.to_json()) for one in forged)] * len(batch)

    first, second = shards_of(CATALOGUE, 2)
    asked = request("send", budget=replace(BUDGET, evidence_k=40))
    answer, _ = search([Client(shard=first), Forger(shard=second, bodiless=True)], asked)
    forged = {hit.record.id for hit in answer.hits if b'"forged"' in hit.evidence.json}
    assert len(answer.hits) == 40
    assert forged == {record_id for record_id in ids_of(answer) if shard_of(bucket_of(record_id), 2) == 1}


def test_a_write_that_is_applied_meanwhile_is_seen_and_one_that_is_not_is_told() -> None:
    first, second = shards_of(CATALOGUE, 2, seq=9)
    lagging = LaggingClient(shard=second, lag=3)
    answer, _ = search([Client(shard=first), lagging], request("send", budget=QUICK, min_seq=9))
    assert answer.coverage.full
    assert len(lagging.batches) == 4
    answer, elapsed_ms = search([Client(shard=first), Client(shard=second)], request("send", budget=QUICK, min_seq=10))
    assert answer.coverage.gaps == (Gap.BEHIND,)
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.TIMEOUT
    assert elapsed_ms <= TIMEOUT_MS


def test_a_read_after_a_write_waits_for_the_feed() -> None:
    async def story() -> Answer:
        (shard,) = shards_of(CATALOGUE, 1)
        router = router_over([Client(shard=shard)])
        searching = asyncio.create_task(timed(router, request("novel", min_seq=2)))
        await asyncio.sleep(0.01)
        new = tool("t99", "novel_tool")
        shard.apply(1, 2, [Change(seq=2, record_id="t99", body=new.to_json())])
        return (await searching)[0]

    assert ids_of(run_quickly(story())) == ["t99"]


def test_a_request_that_is_cancelled_leaves_nothing_running() -> None:
    async def story() -> None:
        clients = fleet(2)
        clients[0].delay_s = FOREVER
        router = router_over(clients)
        searching = asyncio.create_task(router.search(request("send")))
        await asyncio.sleep(0.01)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        router.close()
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1
        assert [client.open_calls for client in clients] == [0, 0]

    run_quickly(story())


def test_requests_that_run_finish_on_the_map_they_started_with() -> None:
    async def story() -> None:
        clients = fleet(2)
        for client in clients:
            client.delay_s = 0.03
        router = router_over(clients)
        searching = asyncio.create_task(router.search(request("send")))
        await asyncio.sleep(0.01)
        router.replace_map(map_of([None, None], version=2))
        assert (await searching).coverage.full
        gone = await router.search(request("send"))
        assert gone.miss is not None
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1

    run_quickly(story())


def test_the_batch_a_query_travelled_in_changes_nothing_of_its_answer() -> None:
    questions = [f"send tool{n}" for n in range(30)]

    async def together() -> tuple[list[Answer], list[Client]]:
        clients = fleet(2)
        for client in clients:
            client.delay_s = 0.002
        router = router_over(clients)
        return await asyncio.gather(*(router.search(request(text)) for text in questions)), clients

    answers, clients = run_quickly(together())
    assert max(clients[0].batches) > 1
    router = router_of((*CATALOGUE, *HIDDEN))
    assert [comparable(answer) for answer in answers] == [
        comparable(asyncio.run(router.search(request(text)))) for text in questions
    ]


def test_documents_of_a_lost_shard_are_an_error_not_an_absence() -> None:
    clients = fleet(1)
    clients[0].failing = True
    with pytest.raises(ShardUnavailable):
        asyncio.run(router_over(clients).documents(ACME, ["t01"], Deadline.after(100)))
    clients[0].failing, clients[0].delay_s = False, FOREVER
    with pytest.raises(ShardUnavailable, match="timeout"):
        asyncio.run(router_over(clients).documents(ACME, ["t01"], Deadline.after(20)))


@settings(max_examples=25)
@given(
    delays_s=st.lists(st.sampled_from([0.0, 0.0, 0.01, 0.05, 0.2, FOREVER]), min_size=1, max_size=4),
    failing=st.sets(st.integers(0, 3)),
    timeout_ms=st.sampled_from([20, 60, 120]),
)
def test_any_mix_of_faults_is_answered_in_time_with_true_coverage(
    delays_s: list[float], failing: set[int], timeout_ms: int
) -> None:
    clients = fleet(len(delays_s))
    for number, client in enumerate(clients):
        client.delay_s, client.failing = delays_s[number], number in failing
    answer, elapsed_ms = search(clients, request("send", budget=replace(BUDGET, timeout_ms=timeout_ms)))
    assert elapsed_ms <= timeout_ms
    assert (answer.miss is None) == bool(answer.hits)
    assert answer.coverage.full == (answer.coverage.searched == 40)
    possible = {sum(owned(n, len(clients)) for n in range(len(clients)) if mask >> n & 1) for mask in range(16)}
    assert answer.coverage.searched in possible
    assert all(record_id.startswith("t") for record_id in ids_of(answer))
