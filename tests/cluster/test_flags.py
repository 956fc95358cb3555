"""Which flags hold for a query: the same ones every time, for the share asked, and each by a draw of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.flags import DEFAULT_FLAGS, DEFAULT_ROLLOUT, Flag, FlagPlan, Flags, rolled_out

QUERIES = [f"query {number}" for number in range(4000)]
percents = st.integers(0, 100)
queries = st.text(max_size=60)
flags = st.sampled_from(Flag)


@given(flag=flags, query=queries, percent=percents, more=percents)
def test_who_is_in_stays_in_when_the_share_rises(flag: Flag, query: str, percent: int, more: int) -> None:
    if rolled_out(flag, query, percent):
        assert rolled_out(flag, query, max(percent, more))
    assert not rolled_out(flag, query, 0)
    assert rolled_out(flag, query, 100)


@given(query=queries, percent=st.lists(percents, min_size=len(Flag), max_size=len(Flag)))
def test_a_query_gets_the_same_flags_from_every_plan_of_the_same_shares(query: str, percent: list[int]) -> None:
    rollout = dict(zip(Flag, percent, strict=True))
    held = FlagPlan(rollout_percent=rollout).of(query)
    assert held == FlagPlan(rollout_percent=dict(reversed(rollout.items()))).of(query)
    assert {flag: getattr(held, flag.value) for flag in Flag} == {
        flag: rolled_out(flag, query, share) for flag, share in rollout.items()
    }


@pytest.mark.parametrize("flag", Flag)
def test_a_roll_out_takes_its_share_of_queries(flag: Flag) -> None:
    tenth, half = ({query for query in QUERIES if rolled_out(flag, query, percent)} for percent in (10, 50))
    assert 300 < len(tenth) < 500
    assert 1850 < len(half) < 2150
    assert tenth < half


def test_two_flags_at_a_half_meet_in_a_quarter_of_the_queries() -> None:
    held = [FlagPlan(rollout_percent=dict.fromkeys(Flag, 50)).of(query) for query in QUERIES]
    assert 850 < sum(one.adaptive_discovery_k and one.progressive_schema_loading for one in held) < 1150


def test_the_hash_is_part_of_the_contract() -> None:
    # A restart, another machine or a later release must not move a query to the other side.
    held = [number for number in range(40) if rolled_out(Flag.ADAPTIVE_DISCOVERY_K, f"query {number}", 25)]
    assert held == [7, 10, 11, 13, 21, 22, 23, 24, 25, 29, 39]


def test_the_shipped_flags_are_those_of_a_request_that_says_nothing() -> None:
    assert FlagPlan().of("anything") == DEFAULT_FLAGS == Flags()
    assert DEFAULT_ROLLOUT == {
        Flag.PROGRESSIVE_SCHEMA_LOADING: 0,
        Flag.ADAPTIVE_DISCOVERY_K: 0,
        Flag.HYBRID_TOOL_DISCOVERY: 100,
        Flag.VECTOR_CANDIDATE_RETRIEVAL: 100,
        Flag.INDEXED_CANDIDATE_RETRIEVAL: 100,
    }


@given(flag=flags)
def test_a_flag_turned_twice_is_as_it_was(flag: Flag) -> None:
    assert DEFAULT_FLAGS.flipped(flag) != DEFAULT_FLAGS
    assert DEFAULT_FLAGS.flipped(flag).flipped(flag) == DEFAULT_FLAGS
