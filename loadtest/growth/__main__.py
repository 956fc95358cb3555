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
from loadtest.catalogue import Catalogue
from loadtest.circumstances import circumstances
from loadtest.growth.counts import COUNTS, by_count
from loadtest.growth.plot import draw
from loadtest.growth.reference import by_clients
from loadtest.growth.sizes import by_size
from loadtest.options import (
    all_queries,
    catalogue_option,
    out_option,
    own_folder,
    queries_option,
    sizes_of,
    tell,
    work_option,
)
from loadtest.queries import non_repeating
from loadtest.results import write_results
from loadtest.service.homes import Homes
from loadtest.service.plan import Plan
from loadtest.store import Store
from loadtest.summary import write_summary

_SIZES = "180,500,1200,5000,10000,100000,149005,1000000"


@click.command()
@catalogue_option
@queries_option
@work_option
@out_option
@click.option("--sizes", default=_SIZES, show_default=True, help="Records, joined by commas; copies fill up.")
@click.option("--count", type=click.IntRange(10, 10_000), default=200, show_default=True, help="Queries of a point.")
@click.option("--seconds", type=click.IntRange(1, 60), default=4, show_default=True, help="A sample over HTTP.")
@click.option("--rounds", type=click.IntRange(1, 20), default=3, show_default=True, help="Samples; medians count.")
@click.option("--clients/--no-clients", default=True, help="Whether to measure over HTTP, too.")
def main(
    *,
    file: Path | None,
    query_files: tuple[Path, ...],
    work: Path,
    out: Path,
    sizes: str,
    count: int,
    seconds: int,
    rounds: int,
    clients: bool,
) -> None:
    """Measure how latency grows with records, shards and clients."""
    wanted = sizes_of(sizes)
    if clients:
        require_wrk()
    head = circumstances("loadtest.growth", sys.argv[1:])
    catalogue, folder = Catalogue(file), own_folder(work)
    store = Store(catalogue=catalogue, folder=folder, tell=tell)
    queries = all_queries(query_files)
    asked = tuple(islice(non_repeating(queries, 1), count))
    plan = Plan(queries=queries, seconds=seconds, rounds=rounds)
    homes = Homes(catalogue=catalogue, folder=folder, tell=tell)
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
