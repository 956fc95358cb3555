"""``python -m loadtest.growth``: how latency grows with records, shards and clients.

    python -m loadtest.growth --catalogue tools.parquet --queries queries.jsonl

Records and shards in this process, clients over HTTP against instances of its own. Results and plots go to
loadtest/results/.
"""

import os
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import click

from loadtest.bench import require_wrk
from loadtest.circumstances import circumstances
from loadtest.growth.counts import COUNTS, by_count
from loadtest.growth.plot import draw
from loadtest.growth.reference import by_clients
from loadtest.growth.sizes import by_size
from loadtest.options import Ground, ground_options, out_option, rounds_option, sizes_of, sizes_option, tell
from loadtest.queries import non_repeating
from loadtest.results import write_results
from loadtest.service.homes import Homes
from loadtest.service.plan import Plan
from loadtest.store import Store
from loadtest.summary import write_summary


@click.command()
@ground_options
@out_option
@sizes_option("180,500,1200,5000,10000,100000,149005,1000000")
@click.option("--count", type=click.IntRange(10, 10_000), default=200, show_default=True, help="Queries of a point.")
@click.option("--seconds", type=click.IntRange(1, 60), default=4, show_default=True, help="A sample over HTTP.")
@rounds_option(3)
@click.option("--clients/--no-clients", default=True, help="Whether to measure over HTTP, too.")
def main(*, ground: Ground, out: Path, sizes: str, count: int, seconds: int, rounds: int, clients: bool) -> None:
    """Measure how latency grows with records, shards and clients."""
    wanted = sizes_of(sizes)
    if clients:
        require_wrk()
    head = circumstances("loadtest.growth", sys.argv[1:])
    catalogue, queries = ground.catalogue, ground.queries()
    store = Store(catalogue=catalogue, folder=ground.folder, tell=tell)
    asked = tuple(islice(non_repeating(queries, 1), count))
    plan = Plan(queries=queries, seconds=seconds, rounds=rounds)
    homes = Homes(catalogue=catalogue, folder=ground.folder, tell=tell)
    over_http: list[dict[str, Any]] = by_clients(homes, plan, len(os.sched_getaffinity(0)), tell) if clients else []
    report = {
        **head,
        "catalogue": catalogue.name,
        "real_records": len(catalogue.records),
        "by_clients": over_http,
        "by_shards": list(by_count(store, len(catalogue.records), asked, tell, COUNTS)),
        "by_size": list(by_size(store, wanted, asked, tell)),
    }
    write_results("growth", report, out)
    draw(report, out)
    click.echo(write_summary(out).read_text())


if __name__ == "__main__":
    main()
