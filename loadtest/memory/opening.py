"""``python -m loadtest.memory.opening``: open snapshots in a fresh process, search, and say what it took."""

import json
import sys
import time
from pathlib import Path

import click

from loadtest.in_process import InProcess
from loadtest.service.processes import memory_of
from loadtest.tiers import Share, scope_of
from shards.shard import Shard


@click.command()
@click.option("--query", required=True)
@click.argument("places", type=click.Path(path_type=Path, exists=True), nargs=-1, required=True)
def main(*, query: str, places: tuple[Path, ...]) -> None:
    """Open the snapshots of one index and search it."""
    empty_mb = memory_of().pss_mb
    started_s = time.perf_counter()
    shards = [Shard.open(number, place) for number, place in enumerate(places)]
    open_s = time.perf_counter() - started_s
    opened_mb = memory_of().pss_mb
    index = InProcess(shards, clock=time.perf_counter)
    first, second = (1_000 * index.search(query, scope_of(Share.ALL))[1].whole_s for _ in range(2))
    report = {
        "open_s": round(open_s, 3),
        "opened_mb": round(opened_mb - empty_mb, 1),
        "first_search_ms": round(first, 2),
        "second_search_ms": round(second, 2),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
