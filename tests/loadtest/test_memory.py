"""What a structure takes adds up to what the whole says."""

from pathlib import Path

from loadtest.memory.structures import IN_THE_INDEX, structures
from loadtest.service.processes import memory_of
from loadtest.tiers import tiered
from shards.record import Access, Kind, Record
from shards.shard import Shard


def test_the_parts_of_an_index_add_up_to_what_the_shard_says(tmp_path: Path) -> None:
    records = (
        Record(
            id=f"tool-{number}", kind=Kind.TOOL, name=f"tool number {number}", namespace="n",
            description=f"does thing {number % 7}", access=Access(tenant="x"),
        )
        for number in range(300)
    )  # fmt: skip
    shard = Shard(0)
    shard.begin_load()
    shard.load_batch([one.record.to_json() for one in tiered(records, 300)])
    shard.finish_load(1, {})
    shard.save(tmp_path)
    found, status = structures((tmp_path,)), shard.status()
    assert found["records"] == 300
    assert found["bytes"]["index"] == sum(found["bytes"][name] for name in IN_THE_INDEX)
    assert found["bytes"]["index"] == status.index_bytes
    assert found["bytes"]["documents"] == status.document_bytes
    assert found["bytes"]["mask"] > 0


def test_a_process_knows_its_own_memory() -> None:
    memory = memory_of()
    assert 0 < memory.pss_mb <= memory.rss_mb
