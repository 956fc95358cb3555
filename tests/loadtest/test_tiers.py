"""Scopes of a chosen size: how much of a catalogue each caller of the kernel benchmark sees."""

from collections import Counter

import pytest

from loadtest.in_process import InProcess
from loadtest.tiers import Share, scope_of, tier_of, tiered
from shards.record import Access, Kind, Record
from shards.shard import Shard


def record(number: int) -> Record:
    return Record(
        id=f"tool-{number:05}", kind=Kind.TOOL, name=f"tool {number}", namespace="n", description="does something",
        access=Access(tenant="x"),
    )  # fmt: skip


@pytest.mark.parametrize("size", [10_000, 149_005, 1_000_000])
def test_a_hundred_records_are_a_hundred_and_shares_are_what_they_say(size: int) -> None:
    counts = Counter(tier_of(number, size) for number in range(size))
    few, hundredth = counts[Share.FEW], counts[Share.FEW] + counts[Share.HUNDREDTH]
    assert few == 100
    assert hundredth == pytest.approx(0.01 * size, abs=101)
    assert hundredth + counts[Share.THIRD] == pytest.approx(0.3 * size, rel=0.02)
    assert sum(counts.values()) == size


def test_a_scope_admits_its_share_and_each_caller_is_another_scope() -> None:
    shard = Shard(0)
    shard.begin_load()
    shard.load_batch([one.record.to_json() for one in tiered(map(record, range(1_000)), 1_000)])
    shard.finish_load(1, {})
    index = InProcess((shard,))
    seen = {}
    for share in Share:
        answer, cost = index.search("does something", scope_of(share, "someone"))
        seen[share] = answer.coverage.authorized
        assert 0 < sum(cost.shards_s) <= cost.whole_s
    assert seen == {Share.ALL: 1_000, Share.THIRD: 300, Share.HUNDREDTH: 100, Share.FEW: 100}
    assert scope_of(Share.ALL, "a").fingerprint != scope_of(Share.ALL, "b").fingerprint
