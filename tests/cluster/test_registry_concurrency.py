"""Sequence numbers and versions under several writers at once: real threads, real processes, one SQLite file."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster.registry import Registry
from cluster.registry_values import WriteOutcome
from shards.record import Access, Kind, Record

_WRITER = """
import sys
from pathlib import Path
from cluster.registry import Registry
from shards.record import Access, Kind, Record

writer, home = sys.argv[1], Path(sys.argv[2])
registry = Registry.in_home(home)
for turn in range(30):
    record = Record(id="shared" if turn % 3 == 0 else f"{writer}-{turn}", kind=Kind.TOOL, name="n", namespace="ns",
                    description=f"{writer} {turn}", access=Access(tenant="*"))
    for receipt in registry.upsert_many([record, record]):
        print(receipt.seq, receipt.version, receipt.record_id, receipt.outcome)
"""

_KILLED = """
import os, sys
from pathlib import Path
from cluster.registry import Registry
from shards.record import Access, Kind, Record

def records():
    for n in range(9000):
        yield Record(id=str(n), kind=Kind.TOOL, name="n", namespace="ns", description="", access=Access(tenant="*"))
    os.kill(os.getpid(), 9)

Registry.in_home(Path(sys.argv[1])).upsert_many(records())
"""


def tool(record_id: str, description: str, version: int = 0) -> Record:
    return Record(
        id=record_id,
        kind=Kind.TOOL,
        name="n",
        namespace="ns",
        description=description,
        access=Access(tenant="*"),
        version=version,
    )


def test_processes_that_write_at_once_get_seqs_without_gap_and_versions_without_repeat(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITER]
    writers = [
        subprocess.Popen([*command, name, str(tmp_path)], stdout=subprocess.PIPE, text=True)  # noqa: S603 -- ours
        for name in ("w0", "w1", "w2")
    ]
    lines = [line.split() for writer in writers for line in writer.communicate(timeout=120)[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    written = [(int(seq), int(version), name) for seq, version, name, outcome in lines if outcome == "imported"]
    assert sorted(seq for seq, _, _ in written) == list(range(1, 91))
    shared = sorted((seq, version) for seq, version, name in written if name == "shared")
    assert [version for _, version in shared] == list(range(1, 31))
    registry = Registry.in_home(tmp_path)
    feed = registry.changes(0, 1_000)
    assert [(change.seq, change.record_id) for change in feed] == sorted((seq, name) for seq, _, name in written)
    registry.close()


def test_a_reader_that_follows_the_feed_during_writes_sees_every_change_once_and_in_order(tmp_path: Path) -> None:
    registry = Registry.in_home(tmp_path)
    seen: list[int] = []
    with ThreadPoolExecutor(4) as pool:
        writers = [
            pool.submit(lambda w=w: [registry.upsert_many([tool(f"{w}-{n}", "d")]) for n in range(40)])
            for w in range(3)
        ]
        while len(seen) < 120:
            seen.extend(change.seq for change in registry.changes(seen[-1] if seen else 0, 7))
        for writer in writers:
            writer.result()
    assert seen == list(range(1, 121))
    registry.close()


def test_of_writers_that_race_with_one_version_exactly_one_wins(tmp_path: Path) -> None:
    registry = Registry.in_home(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        races = [pool.submit(registry.upsert_many, [tool("a", f"by {n}", version=5)]) for n in range(8)]
    outcomes = [race.result()[0].outcome for race in races]
    assert outcomes.count(WriteOutcome.IMPORTED) == 1
    assert outcomes.count(WriteOutcome.STALE) == 7
    registry.close()


def test_a_writer_killed_inside_its_transaction_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED, str(tmp_path)]
    killed = subprocess.run(command, check=False, timeout=120)  # noqa: S603 -- ours
    assert killed.returncode == -9
    registry = Registry.in_home(tmp_path)
    assert (registry.last_seq(), registry.counts().enabled) == (0, 0)
    assert registry.upsert_many([tool("a", "one")])[0].seq == 1
    registry.close()
