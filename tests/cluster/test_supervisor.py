"""The supervisor keeps copies loaded, in step and alive; shards and registry are real, only their process is not."""

import asyncio
from pathlib import Path

import pytest

from cluster.control import WriteOutcome
from cluster.feed import STEP_BYTES
from cluster.health import Health
from cluster.registry import Registry
from shards.messages import DocumentRequest
from shards.record import SideEffect, Status
from shards.scope import Grant, Scope
from tests.supervised import World, record, run


def test_every_record_is_served_and_progress_is_told(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        assert await world.visible() == world.registered()
        status = await world.supervisor.status()
        assert (status.records, status.seq) == (20, 20)
        assert sum(copy.loaded_records for copy in status.copies) == 20

    run(World(tmp_path), story)


def test_a_status_counts_the_loaded_records_of_a_ready_copy_as_the_copy_does(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        await world.supervisor.upsert([record(number) for number in range(20, 29)])
        for shard in range(2):  # ask each copy now, not at its next sign of life
            await world.supervisor.suspect(shard)
        status = await world.supervisor.status()
        told = [(copy.loaded_records, copy.expected_records) for copy in status.copies]
        details = [copy.detail for copy in status.copies]
        assert told == [(detail.records, detail.records) for detail in details if detail is not None]
        assert sum(loaded for loaded, _ in told) == status.records == 29

    run(World(tmp_path), story)


def test_an_acknowledged_write_is_visible_at_once(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        supervisor = world.supervisor
        (receipt,) = await supervisor.upsert([record(3, "changed")])
        assert (receipt.outcome, receipt.version, receipt.seq) == (WriteOutcome.APPLIED, 2, 21)
        assert await world.visible() == world.registered()
        assert (await supervisor.set_status("r4", Status.DISABLED)).outcome is WriteOutcome.APPLIED
        assert (await supervisor.remove("r5")).seq == 23
        seen = await world.visible()
        assert seen == world.registered()
        assert not {"r4", "r5"} & set(seen)
        assert all(copy.shard.status().seq == 23 for copy in await world.serving())

    run(World(tmp_path), story)


def test_one_large_write_does_not_make_its_copies_look_hung(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        large = [record(number, "word " * 10_000) for number in range(20)]
        assert {receipt.outcome for receipt in await world.supervisor.upsert(large)} == {WriteOutcome.APPLIED}
        assert await world.visible() == world.registered()
        # A copy is hung where one call takes long, and a call takes as long as its bytes are many.
        assert max(size for copy in world.launched for size in copy.applied_bytes) <= STEP_BYTES
        assert [copy.replaced for copy in (await world.supervisor.status()).copies] == [0, 0]

    run(World(tmp_path), story)


def test_a_new_copy_is_let_in_while_large_writes_go_on(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        world.bytes_per_s = 2_000_000
        for copy in world.launched:
            copy.bytes_per_s = world.bytes_per_s

        async def write() -> None:
            for number in range(3):
                await world.supervisor.upsert([record(n, f"{number} " * 25_000) for n in range(12)])

        writing = asyncio.create_task(write())
        world.launched[0].kill()
        await writing
        await world.ready()
        assert sorted(copy.replaced for copy in (await world.supervisor.status()).copies) == [0, 1]
        assert await world.visible() == world.registered()

    run(World(tmp_path), story)


def test_what_a_caller_may_not_write_reads_like_what_is_not_there(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        supervisor, own = world.supervisor, frozenset({"other"})
        for name in ("r1", "r999"):
            assert (await supervisor.remove(name, own)).outcome is WriteOutcome.UNKNOWN
            assert (await supervisor.set_status(name, Status.DISABLED, own)).outcome is WriteOutcome.UNKNOWN
        stolen, foreign, mine = await supervisor.upsert(
            [record(1, "stolen", "other"), record(100), record(101, "mine", "other")], own
        )
        assert [receipt.outcome for receipt in (stolen, foreign, mine)] == [
            WriteOutcome.FOREIGN,
            WriteOutcome.FOREIGN,
            WriteOutcome.APPLIED,
        ]
        assert await world.visible() == world.registered()
        assert (await supervisor.record("r1")) == world.registry.get("r1")

    run(World(tmp_path), story)


def test_grant_lists_reach_every_shard(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        supervisor = world.supervisor
        listed = Scope(grants=(Grant(reason="l", tenants=frozenset({"acme"}), permissions=frozenset(), mode="analyzer",
            side_effects=frozenset(SideEffect), grant_list="acme/few"),))  # fmt: skip

        async def admitted() -> set[str]:
            request = DocumentRequest(scope=listed, ids=tuple(f"r{number}" for number in range(20)))
            return {found.id for copy in await world.serving() for found in copy.shard.documents((request,))[0]}

        assert await admitted() == set()
        assert (await supervisor.put_grant_list("acme", "few", ["r1", "r2"])).outcome is WriteOutcome.APPLIED
        assert (await supervisor.put_grant_list("acme", "few", ["r2", "r1"])).outcome is WriteOutcome.UNCHANGED
        assert await admitted() == {"r1", "r2"}
        assert await supervisor.grant_list("acme", "few") == ("r1", "r2")
        assert (await supervisor.delete_grant_list("acme", "few")).outcome is WriteOutcome.APPLIED
        assert (await supervisor.delete_grant_list("acme", "few")).outcome is WriteOutcome.UNKNOWN
        assert await admitted() == set()

    run(World(tmp_path), story)


def test_a_copy_that_does_not_apply_in_time_is_gone_before_the_acknowledgement(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        hung = (await world.serving())[0]
        hung.hangs = True
        await world.supervisor.upsert([record(number, "changed") for number in range(20)])
        assert hung.dead.is_set()
        assert hung not in await world.serving()
        await world.ready()
        assert await world.visible() == world.registered()

    run(World(tmp_path, patience_s=0.3), story)


@pytest.mark.parametrize("fault", ["dies", "hangs"])
def test_a_lost_copy_is_taken_off_the_map_and_replaced_by_itself(tmp_path: Path, fault: str) -> None:
    async def story(world: World) -> None:
        before = await world.supervisor.map_after(0, 0)
        lost = (await world.serving())[1]
        if fault == "dies":
            lost.kill()
        else:
            lost.hangs = True
        without = await world.supervisor.map_after(before.version, 60)
        assert without.version > before.version
        assert without.handles[1] is None
        assert (await world.supervisor.status()).health in {Health.PARTIAL, Health.DOWN}
        await world.ready()
        assert lost not in await world.serving()
        assert await world.visible() == world.registered()
        assert sum(copy.replaced for copy in (await world.supervisor.status()).copies) == 1

    # The other copy must not look lost, too, where the machine pauses.
    run(World(tmp_path, patience_s=1.5 if fault == "hangs" else 20.0), story)


def test_a_suspicion_is_looked_into_at_once(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        hung = (await world.serving())[0]
        hung.hangs = True
        await world.supervisor.suspect(0)
        assert hung.dead.is_set()

    run(World(tmp_path, patience_s=0.3), story)


def test_a_standby_in_step_takes_over_without_a_gap(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        await world.supervisor.upsert([record(3, "changed")])
        first = (await world.serving())[0]
        before = await world.supervisor.map_after(0, 0)
        first.kill()
        after = await world.supervisor.map_after(before.version, 60)
        assert None not in after.handles
        assert await world.visible() == world.registered()
        assert (await world.supervisor.status()).health is Health.DEGRADED

    run(World(tmp_path, copies=2), story)


def test_what_another_process_writes_is_followed(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        importer = Registry(f"sqlite:///{tmp_path / 'registry.sqlite3'}")
        importer.upsert_many([record(number, "imported") for number in range(10, 190)])
        importer.remove("r2")
        importer.close()

        async def followed() -> bool:
            return await world.visible() == world.registered()

        await world.until(followed)

    run(World(tmp_path), story)


def test_writes_during_a_replacement_are_not_lost(tmp_path: Path) -> None:
    async def story(world: World) -> None:
        for number in range(30):
            serving = await world.serving()
            if number % 10 == 0 and serving:
                serving[0].kill()
            await world.supervisor.upsert([record(number % 7, f"text {number}"), record(50 + number)])
            if number % 4 == 0:
                await world.supervisor.remove(f"r{number % 7}")
        await world.ready()
        assert await world.visible() == world.registered()

    run(World(tmp_path), story)


def test_the_next_start_opens_snapshots_and_follows_from_there(tmp_path: Path) -> None:
    async def write(world: World) -> None:
        await world.supervisor.upsert([record(30)])

    async def look(world: World) -> None:
        assert [copy.loaded for copy in world.launched] == [[], []]
        assert await world.visible() == world.registered()

    run(World(tmp_path), write)
    later = World(tmp_path, records=0)
    later.registry.upsert_many([record(31)])
    later.registry.remove("r1")
    run(later, look)


def test_a_damaged_snapshot_is_refused_and_the_shard_read_from_the_registry(tmp_path: Path) -> None:
    async def nothing(_: World) -> None:
        return

    async def look(world: World) -> None:
        assert [sum(copy.loaded) > 0 for copy in sorted(world.launched, key=lambda copy: copy.number)] == [True, False]
        assert await world.visible() == world.registered()

    run(World(tmp_path), nothing)
    (damaged,) = (tmp_path / "snapshots" / "2" / "0").glob("*/*.index")
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    run(World(tmp_path, records=0), look)


def test_snapshots_of_another_registry_are_ignored(tmp_path: Path) -> None:
    async def nothing(_: World) -> None:
        return

    async def look(world: World) -> None:
        assert await world.visible() == world.registered()
        assert all(sum(copy.loaded) > 0 for copy in world.launched)

    run(World(tmp_path), nothing)
    for file in tmp_path.glob("registry.sqlite3*"):
        file.unlink()
    other = World(tmp_path, records=0)
    other.registry.upsert_many([record(number, "other") for number in range(40)])
    run(other, look)
