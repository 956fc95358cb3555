"""One narrower try where time ran out before anything was found: what it asks, when it is made, and never twice."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster import narrower
from cluster.budget import Deadline
from cluster.contract import Answer, Doubt, Gap, MissReason, SearchRequest
from cluster.fanout import Lane, Replies, ask_shards
from cluster.narrower import MOST_EARNED, narrowed
from cluster.partition import shard_of
from cluster.query import plan_query
from shards.messages import Change, Outcome, ShardHits, ShardQuery, Twin
from shards.record import bucket_of
from shards.scope import Narrowing
from tests.cluster.rig import (
    ACME,
    BUDGET,
    Client,
    hits_of,
    ids_of,
    request,
    router_over,
    scope_of,
    shards_of,
    timed,
    tool,
)
from tests.quick_time import run_quickly

FOREVER = float("inf")
QUICK = replace(BUDGET, timeout_ms=200)
LONG = "please rotate every certificate of the gateway and tell the team about kubernetes"
CATALOGUE = (
    *(tool(f"c{n:02d}", f"rotate_{n}", "Rotate a certificate for the team.") for n in range(20)),
    *(tool(f"g{n:02d}", f"gateway_{n}", "Tell about the gateway.") for n in range(6)),
    tool("k", "cluster_pods", "Restart kubernetes pods."),
    tool("n", "find_symbol", "Look a symbol up."),
    *(tool(f"h{n}", f"hidden_{n}", "Restart kubernetes.", tenant="zeta") for n in range(5)),
)


@dataclass(kw_only=True)
class LabouringClient(Client):
    """A shard that needs ``term_s`` for every term after the third, and says so when its time is over before that.

    Infinite labour is given up at once.
    """

    term_s: float

    async def search(self, batch: tuple[ShardQuery, ...]) -> tuple[ShardHits, ...]:
        self.batches.append(len(batch))
        self.queries.extend(batch)
        replies = []
        for query in batch:
            many, left_s = max(0, len(query.terms) - 3), query.remaining_ms / 1000
            needed_s = self.term_s * many if many else 0.0
            if needed_s > left_s:
                await asyncio.sleep(0 if self.term_s == FOREVER else left_s * 0.9)
                replies.append(hits_of([], len(query.terms), outcome=Outcome.EXPIRED))
            else:
                await asyncio.sleep(needed_s)
                replies += self.shard.search((query,))
        return tuple(replies)


def labouring(count: int, term_s: float) -> list[LabouringClient]:
    return [LabouringClient(shard=shard, term_s=term_s) for shard in shards_of(CATALOGUE, count)]


def search(clients: Sequence[Client], question: SearchRequest, *before: SearchRequest) -> tuple[Answer, float]:
    """The answer of slow shards after earlier questions to the same ones while they were quick."""

    async def story() -> tuple[Answer, float]:
        router = router_over(list(clients))
        slow = [client.term_s if isinstance(client, LabouringClient) else 0.0 for client in clients]
        for client in clients:
            if isinstance(client, LabouringClient):
                client.term_s = 0.0
        for earlier in before:
            await router.search(earlier)
        for client, term_s in zip(clients, slow, strict=True):
            client.queries.clear()
            if isinstance(client, LabouringClient):
                client.term_s = term_s
        try:
            return await timed(router, question)
        finally:
            router.close()

    return run_quickly(story())


def test_a_question_too_wide_for_its_time_is_answered_by_its_rarest_words() -> None:
    clients = labouring(2, 0.03)
    answer, elapsed_ms = search(clients, request(LONG, budget=QUICK), request(LONG))
    assert elapsed_ms <= QUICK.timeout_ms
    assert answer.narrower_try
    assert answer.miss is None
    # No other record holds any of the three rarest words that it is asked by.
    assert ids_of(answer)[0] == "k"
    for client in clients:
        wide, narrow = client.queries
        assert (wide.weights, len(wide.terms) > 3) == (None, True)
        assert 1 <= len(narrow.terms) <= 3
        assert "kubernet" in narrow.terms
        assert (narrow.vector, narrow.n) == (None, QUICK.evidence_k)
        assert narrow.weights is not None  # so no near terms are looked for


def test_what_was_not_searched_in_full_counts_as_not_searched() -> None:
    answer, _ = search(labouring(2, 0.03), request(LONG, budget=QUICK), request(LONG))
    assert answer.hits
    assert (answer.coverage.full, answer.coverage.searched, answer.coverage.gaps) == (False, 0, (Gap.TIMEOUT,))
    assert answer.coverage.authorized == 28
    assert answer.doubt is Doubt.COVERAGE
    assert answer.spent.candidates <= QUICK.candidate_k
    assert answer.spent.evidence == len(answer.hits) <= QUICK.evidence_k


def test_words_never_asked_before_count_as_rare_and_the_longest_first() -> None:
    clients = labouring(1, 0.03)
    search(clients, request(LONG, budget=QUICK))
    assert "certif" in clients[0].queries[1].terms
    question = plan_query("aa bbbb cccccc dddddddd eeeeeeeeee")
    assert narrowed(question, dict.fromkeys(question.terms, 7)).terms == question.terms[-2:]


def test_a_word_that_nothing_of_the_caller_holds_takes_no_place() -> None:
    question = plan_query("unheardofword rotate pods")
    weights = dict(zip(question.terms, [0 if "unheard" in term else 100 for term in question.terms], strict=True))
    assert not any("unheard" in term for term in narrowed(question, weights).terms)


def test_what_other_callers_asked_says_nothing_of_rarity() -> None:
    # To zeta kubernetes is a common word, and certificate unheard of; acme's try must not know.
    zeta = request(LONG, scope=scope_of("zeta"))
    first, second = labouring(1, 0.03), labouring(1, 0.03)
    search(first, request(LONG, budget=QUICK), zeta, zeta)
    search(second, request(LONG, budget=QUICK))
    assert first[0].queries[1].terms == second[0].queries[1].terms


def test_a_name_is_found_whatever_else_the_question_says() -> None:
    clients = labouring(2, 0.03)
    answer, _ = search(clients, request(f"{LONG}, and then use `find_symbol`", budget=QUICK))
    assert (answer.narrower_try, ids_of(answer)[0]) == (True, "n")


def test_only_the_parts_that_had_no_time_are_asked_again() -> None:
    # One shard answers at once and holds nothing of it.
    lone = shard_of(bucket_of("k"), 2)
    parts = shards_of([record for record in CATALOGUE if record.id == "k"], 2)
    clients: list[Client] = [
        LabouringClient(shard=parts[0], term_s=0.03 if lone == 0 else 0.0),
        LabouringClient(shard=parts[1], term_s=0.03 if lone == 1 else 0.0),
    ]
    answer, _ = search(clients, request(LONG, budget=QUICK))
    assert ids_of(answer) == ["k"]
    assert len(clients[1 - lone].queries) == 1
    assert len(clients[lone].queries) == 2


def test_an_answer_with_a_hit_is_what_the_budget_allowed() -> None:
    clients: list[Client] = [*labouring(2, 0.03)]
    clients[0] = Client(shard=clients[0].shard)
    answer, _ = search(clients, request(LONG, budget=QUICK))
    assert answer.hits
    assert answer.coverage.gaps == (Gap.TIMEOUT,)
    assert not answer.narrower_try
    assert [len(client.queries) for client in clients] == [1, 1]


def test_a_shard_that_hangs_is_asked_once_and_the_miss_says_what_to_do() -> None:
    clients = [Client(shard=shard, delay_s=FOREVER) for shard in shards_of(CATALOGUE, 2)]
    answer, elapsed_ms = search(clients, request(LONG, budget=QUICK))
    assert elapsed_ms <= QUICK.timeout_ms
    assert [len(client.queries) for client in clients] == [1, 1]  # the second question waits behind the first
    assert answer.miss is not None
    assert answer.miss.reason is MissReason.TIMEOUT
    assert answer.narrower_try
    advice = answer.miss.advice
    assert "the query has 13 words" in advice
    assert "no filter is set" in advice
    assert "timeout_ms = 200" in advice
    assert "tried once more" in advice


def test_the_advice_knows_the_request_and_nothing_of_the_catalogue() -> None:
    narrow = scope_of("acme", narrowing=Narrowing(namespaces=frozenset({"srv"})))
    misses = []
    for records in (CATALOGUE, CATALOGUE[:3]):
        clients = [Client(shard=shard, delay_s=FOREVER) for shard in shards_of(records, 1)]
        misses.append(search(clients, request("rotate", budget=QUICK, scope=narrow))[0].miss)
    assert misses[0] == misses[1]
    assert misses[0] is not None
    assert "a stricter filter" in misses[0].advice
    assert "name the action and its object" in misses[0].advice


def test_a_dead_shard_is_no_reason_for_a_narrower_try() -> None:
    clients = [Client(shard=shard, failing=True) for shard in shards_of(CATALOGUE, 2)]
    answer, _ = search(clients, request(LONG, budget=QUICK))
    assert not answer.narrower_try
    assert [len(client.queries) for client in clients] == [1, 1]


def test_a_fleet_that_is_slow_as_a_whole_is_not_asked_twice_for_ever() -> None:
    clients = labouring(1, FOREVER)

    async def story() -> list[bool]:
        router = router_over(list(clients))
        return [(await router.search(request(LONG))).narrower_try for _ in range(int(MOST_EARNED) + 20)]

    tried = run_quickly(story())
    assert tried == [True] * int(MOST_EARNED) + [False] * 20


@pytest.mark.parametrize("timeout_ms", [1, 5, 15])
def test_with_no_time_left_nothing_is_tried(timeout_ms: int) -> None:
    clients = labouring(1, 1.0)
    answer, _ = search(clients, request(LONG, budget=replace(BUDGET, timeout_ms=timeout_ms)))
    assert not answer.narrower_try
    assert answer.miss is not None


@settings(deadline=None, max_examples=25)
@given(
    delays=st.lists(st.sampled_from([0.0, 0.004, 0.02, 0.06, FOREVER]), min_size=1, max_size=3),
    query=st.lists(st.sampled_from(LONG.split()), min_size=1, max_size=12).map(" ".join),
    timeout_ms=st.integers(1, 160),
)
def test_there_is_one_try_at_most_and_none_after_the_deadline(delays: list[float], query: str, timeout_ms: int) -> None:
    tries: list[float] = []

    async def recorded(lanes: Sequence[Lane], question: ShardQuery, deadline: Deadline) -> Replies:
        tries.append(deadline.remaining_ms())
        return await ask_shards(lanes, question, deadline)

    clients = [
        LabouringClient(shard=shard, term_s=delay)
        for shard, delay in zip(shards_of(CATALOGUE, len(delays)), delays, strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrower, "ask_shards", recorded)
        answer, _ = search(clients, request(query, budget=replace(BUDGET, timeout_ms=timeout_ms)))
    # What comes after the try's own end is a quarter of what was left, whatever the machine does meanwhile.
    assert len(tries) == int(answer.narrower_try)
    assert all(0 < left < timeout_ms for left in tries)
    assert bool(answer.hits) == (answer.miss is None)
    if answer.narrower_try:
        assert not answer.exact
        assert Gap.TIMEOUT in answer.coverage.gaps
    allowed = {record.id for record in CATALOGUE if record.access.tenant == "acme"}
    assert allowed.issuperset(ids_of(answer))


def test_a_narrower_try_sees_what_its_caller_may_see() -> None:
    answer, _ = search(labouring(2, 0.03), request(LONG, budget=QUICK, scope=ACME), request(LONG))
    assert not any(record_id.startswith("h") for record_id in ids_of(answer))


def test_of_two_that_say_the_same_a_narrower_try_shows_one() -> None:
    client = labouring(1, 0.06)[0]
    none, seq = ("", "", ""), client.shard.status().seq
    twin = Twin(duplicate="g01", canonical="g00", own=none, its=none)
    client.shard.apply(seq, seq + 1, (Change(seq=seq + 1, duplicate="g01", twin=twin),))
    answer, _ = search([client], request(LONG, budget=QUICK), request(LONG))
    assert answer.narrower_try
    assert {hit.record.id: hit.duplicates for hit in answer.hits if hit.duplicates} == {"g00": ("g01",)}
    assert "g01" not in ids_of(answer)
