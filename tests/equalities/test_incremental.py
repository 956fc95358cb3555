"""Incremental = rebuilt: after any history of changes the live index answers as one built from the end of it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.local import LocalCluster, LocalIndex
from cluster.registry import Registry
from shards.messages import Change
from shards.record import Access, Record, Status
from shards.scope import Scope
from shards.shard import Shard
from tests.depth import examples
from tests.equalities.asks import asks
from tests.indexes import RANKER, Ask, answers, index_of, verdict_on
from tests.oracle import Oracle
from tests.worlds import GRANT_LISTS, WIDE, Question, World, any_id, any_record, grant_ids, hidden, worlds


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change: a record written, removed or disabled, or a grant list set (None removes it)."""

    record: Record | None = None
    gone: str = ""
    disabled: str = ""
    grant_ids: tuple[str, ...] | None = None


steps = st.one_of(
    st.builds(Step, record=any_record),
    st.builds(Step, record=any_record),
    st.builds(Step, gone=any_id),
    st.builds(Step, disabled=any_id),
    st.builds(Step, grant_ids=st.one_of(st.none(), grant_ids)),
)
histories = st.lists(st.lists(steps, min_size=1, max_size=6), min_size=1, max_size=14)
"""Batches of changes; more than eight make segments merge."""


class Model:
    """The state that a history leads to, as plain mappings."""

    def __init__(self, world: World) -> None:
        self.records = {record.id: record for record in world.records}
        self.grant_lists = dict(world.grant_lists)

    def change(self, step: Step, seq: int) -> Change:
        """Take the step, and say it as the feed would."""
        if step.record is not None:
            return self._written(step.record, seq)
        if step.disabled in self.records:
            return self._written(replace(self.records[step.disabled], status=Status.DISABLED), seq)
        if step.gone or step.disabled:
            self.records.pop(step.gone, None)
            return Change(seq=seq, record_id=step.gone or step.disabled, body=None)
        self.grant_lists.pop(GRANT_LISTS[0], None)
        if step.grant_ids is not None:
            self.grant_lists[GRANT_LISTS[0]] = step.grant_ids
        return Change(seq=seq, grant_list=GRANT_LISTS[0], grant_ids=step.grant_ids)

    def _written(self, record: Record, seq: int) -> Change:
        self.records[record.id] = replace(record, version=seq)
        return Change(seq=seq, record_id=record.id, body=self.records[record.id].to_json())

    @property
    def world(self) -> World:
        return World(records=tuple(self.records.values()), grant_lists=self.grant_lists)


@examples(20)
@given(
    start=worlds(max_size=15),
    history=histories,
    shards=st.integers(1, 3),
    asked=st.lists(asks, min_size=2, max_size=4),
    reopened_after=st.integers(0, 14),
)
def test_a_shard_that_followed_every_change_answers_as_one_built_from_the_end(
    *,
    start: World,
    history: list[list[Step]],
    shards: int,
    asked: list[Ask],
    reopened_after: int,
    compared: Counter[str],
) -> None:
    model, live, seq = Model(start), index_of(start, shards=shards), 7
    for number, batch in enumerate(history):
        changes = [model.change(step, seq + place) for place, step in enumerate(batch, start=1)]
        seq = live.apply(changes)
        assert seq == changes[-1].seq
        if number == reopened_after:
            live = reopened(live)
        assert_equal(live, model.world, asked)
        compared["states after changes"] += len(asked)


def reopened(index: LocalIndex) -> LocalIndex:
    """The same index after a stop and a start from its snapshot files."""
    with TemporaryDirectory() as folder:
        shards = []
        for number, shard in enumerate(index.shards):
            shard.save(Path(folder) / str(number))
            shards.append(Shard.open(number, Path(folder) / str(number)))
        return LocalIndex(shards, RANKER)


def assert_equal(live: LocalIndex, world: World, asked: Sequence[Ask]) -> None:
    """The live index answers as a rebuilt one, and both as the oracle."""
    found = answers(live, asked)
    assert found == answers(index_of(world), asked)
    oracle = Oracle(world.records, world.grant_lists)
    for ask, answer in zip(asked, found, strict=True):
        verdict = verdict_on(oracle, ask)
        assert (answer.spent.matched, answer.coverage.authorized) == (verdict.matched, verdict.authorized)


@examples(5)
@given(history=histories, shards=st.integers(1, 2), asked=st.lists(asks, min_size=2, max_size=4))
def test_a_cluster_that_wrote_through_the_registry_answers_as_one_rebuilt_from_it(
    history: list[list[Step]], shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    with TemporaryDirectory() as folder:
        registry = Registry.in_home(Path(folder))
        cluster = LocalCluster(registry, shards=shards, ranker=RANKER)
        asyncio.run(_written(cluster, history))
        rebuilt = LocalCluster(registry, shards=3, ranker=RANKER)
        assert answers(cluster, asked) == answers(rebuilt, asked)
        registry.close()
    compared["states of the registry"] += len(asked)


async def _written(cluster: LocalCluster, history: Sequence[Sequence[Step]]) -> None:
    tenant, _, name = GRANT_LISTS[0].partition("/")
    for step in (step for batch in history for step in batch):
        if step.record is not None:
            await cluster.upsert([replace(step.record, version=0)])
        elif step.gone:
            await cluster.remove(step.gone)
        elif step.disabled:
            await cluster.set_status(step.disabled, Status.DISABLED)
        elif step.grant_ids is not None:
            await cluster.put_grant_list(tenant, name, step.grant_ids)


@pytest.mark.parametrize("batches", [9, 40])
def test_many_small_batches_end_in_few_segments_and_the_same_answers(batches: int) -> None:
    start = World(records=(), grant_lists={})
    live, model = index_of(start), Model(start)
    for number in range(batches):
        record = replace(hidden(1)[0], id=f"r{number:02d}", access=Access(tenant="acme"))
        live.apply([model.change(Step(record=record), 8 + number)])
    assert live.shards[0].status().segments <= 8
    assert_equal(live, model.world, [Ask(scope=Scope(grants=(WIDE,)), question=Question(text="dapo veku"))])
