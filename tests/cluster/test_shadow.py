"""The shadow of an answer: it comes after, one at a time, only when there is nothing else to do, and counts parity."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from cluster.contract import Answer, Doubt, SearchRequest, VectorState, VectorUse
from cluster.errors import ShardUnavailable
from cluster.flags import NO_SHADOW, Flag, FlagPlan
from cluster.shadow import TIMEOUT_S, Outcome, Parity, Shadow, outcome_of
from tests.cluster.rig import RANKER, request, router_of, tool

INDEXED = Flag.INDEXED_CANDIDATE_RETRIEVAL
TOOLS = [tool(f"t{number:02d}", f"sales_{number}", "Sales " * (5 - number % 5)) for number in range(40)]


@dataclass
class Slow:
    """A real router whose answers wait until they may go."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[SearchRequest] = field(default_factory=list)
    fault: Exception | None = None

    def __post_init__(self) -> None:
        self.router = router_of(TOOLS, 2, ranker=RANKER)

    async def search(self, asked: SearchRequest) -> Answer:
        self.asked.append(asked)
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return await self.router.search(asked)


def shadow_of(slow: Slow, *, busy: Callable[[], bool] = lambda: False, **percent: int) -> Shadow:
    shares = {**NO_SHADOW, **{Flag(name): share for name, share in percent.items()}}
    return Shadow(slow, plan=lambda: FlagPlan(shadow_percent=shares), busy=busy)


def asked_now() -> SearchRequest:
    return request("sales 3")


def answer_now() -> Answer:
    return asyncio.run(router_of(TOOLS, 2).search(asked_now()))


def test_an_answer_is_compared_with_the_ranking_of_everything() -> None:
    async def compare() -> Shadow:
        slow = Slow()
        slow.gate.set()
        shadow = shadow_of(slow, indexed_candidate_retrieval=100)
        shadow.after(asked_now(), await slow.router.search(asked_now()))
        assert shadow.parity()[INDEXED].compared == 0
        await shadow.idle()
        (other,) = slow.asked
        assert not other.flags.indexed_candidate_retrieval
        assert 0 < other.deadline.remaining_ms() <= TIMEOUT_S * 1000
        return shadow

    parity = asyncio.run(compare()).parity()
    assert parity.pop(INDEXED) == Parity(compared=1, equal=1, incomparable=0, skipped=0)
    assert set(parity.values()) == {Parity(compared=0, equal=0, incomparable=0, skipped=0)}


def test_of_a_hundred_answers_the_share_is_drawn() -> None:
    async def compare() -> Shadow:
        slow = Slow()
        slow.gate.set()
        shadow = shadow_of(slow, indexed_candidate_retrieval=7, progressive_schema_loading=30)
        answer = await slow.router.search(asked_now())
        for _ in range(100):
            shadow.after(asked_now(), answer)
            await shadow.idle()
        return shadow

    parity = asyncio.run(compare()).parity()
    assert (parity[INDEXED].equal, parity[Flag.PROGRESSIVE_SCHEMA_LOADING].equal) == (7, 30)


def test_while_one_comparison_runs_others_are_skipped() -> None:
    async def compare() -> Shadow:
        slow = Slow()
        shadow = shadow_of(slow, indexed_candidate_retrieval=100)
        answer = await slow.router.search(asked_now())
        for _ in range(5):
            shadow.after(asked_now(), answer)
            await asyncio.sleep(0)
        assert len(slow.asked) == 1
        slow.gate.set()
        await shadow.idle()
        return shadow

    assert asyncio.run(compare()).parity()[INDEXED] == Parity(compared=1, equal=1, incomparable=0, skipped=4)


def test_under_load_nothing_is_compared() -> None:
    async def compare() -> Shadow:
        slow = Slow()
        shadow = shadow_of(slow, busy=lambda: True, indexed_candidate_retrieval=100)
        shadow.after(asked_now(), await slow.router.search(asked_now()))
        await shadow.idle()
        assert not slow.asked
        return shadow

    assert asyncio.run(compare()).parity()[INDEXED] == Parity(compared=0, equal=0, incomparable=0, skipped=1)


def test_a_comparison_that_fails_is_counted_and_the_next_one_runs() -> None:
    async def compare() -> Shadow:
        slow = Slow(fault=ShardUnavailable(0, "gone"))
        slow.gate.set()
        shadow = shadow_of(slow, indexed_candidate_retrieval=100)
        answer = await slow.router.search(asked_now())
        shadow.after(asked_now(), answer)
        await shadow.idle()
        slow.fault = None
        shadow.after(asked_now(), answer)
        await shadow.idle()
        return shadow

    assert asyncio.run(compare()).parity()[INDEXED] == Parity(compared=1, equal=1, incomparable=1, skipped=0)


@pytest.mark.parametrize("flag", Flag)
def test_another_order_is_different_and_another_state_of_the_index_incomparable(flag: Flag) -> None:
    answer = answer_now()
    assert outcome_of(flag, answer, answer) is Outcome.EQUAL
    assert outcome_of(flag, answer, replace(answer, hits=answer.hits[::-1])) is Outcome.DIFFERENT
    assert outcome_of(flag, answer, replace(answer, index_position="later")) is Outcome.INCOMPARABLE


def test_without_a_proof_the_index_is_not_measured() -> None:
    answer = answer_now()
    assert outcome_of(INDEXED, answer, replace(answer, doubt=Doubt.CUT)) is Outcome.INCOMPARABLE
    assert outcome_of(Flag.ADAPTIVE_DISCOVERY_K, answer, replace(answer, doubt=Doubt.CUT)) is Outcome.EQUAL


def test_a_vector_in_one_of_the_two_matters_to_all_flags_but_the_one_of_vectors() -> None:
    answer = answer_now()
    other = replace(answer, vectors=VectorUse(state=VectorState.USED))
    assert outcome_of(INDEXED, answer, other) is Outcome.INCOMPARABLE
    assert outcome_of(Flag.HYBRID_TOOL_DISCOVERY, answer, other) is Outcome.EQUAL
