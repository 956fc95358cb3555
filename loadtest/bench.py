"""``python -m loadtest.bench``: the service beside what bounds it and what it is to beat, in one run.

    python -m loadtest.bench --catalogue tools.parquet --queries queries.jsonl

Closed loops by wrk (its own correction for coordinated omission is in the latencies), open loops by our own generator,
overload, cold callers. It starts its own instances on free ports and ends them. One machine carries server and load,
so read the ratios between systems of one run, not the absolute rates. Results and plots go to loadtest/results/.
"""

import os
import sys
from pathlib import Path
from shutil import which

import click

from loadtest.catalogue import Catalogue
from loadtest.circumstances import circumstances
from loadtest.options import all_queries, catalogue_option, out_option, own_folder, queries_option, tell, work_option
from loadtest.results import Report, write_results
from loadtest.service.homes import Homes
from loadtest.service.plan import Plan
from loadtest.service.plot import draw
from loadtest.service.run import errors_in, measured
from loadtest.summary import write_summary


@click.command()
@catalogue_option
@queries_option
@work_option
@out_option
@click.option(
    "--home", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Measure this home instead."
)
@click.option("--seconds", type=click.IntRange(1, 60), default=5, show_default=True, help="Length of one sample.")
@click.option("--rounds", type=click.IntRange(1, 20), default=3, show_default=True, help="Medians over them count.")
@click.option("--scopes", type=click.IntRange(1, 100_000), default=1_000, show_default=True, help="Different callers.")
@click.option("--k", type=click.IntRange(1, 48), default=10, show_default=True, help="Hits asked for.")
@click.option("--shards", type=click.IntRange(1, 64), help="Number of shards; one for each core if not given.")
def main(
    *,
    file: Path | None,
    query_files: tuple[Path, ...],
    work: Path,
    out: Path,
    home: Path | None,
    seconds: int,
    rounds: int,
    scopes: int,
    k: int,
    shards: int | None,
) -> None:
    """Measure searches beside no-ops, one call per shard per query, and Serve's defaults."""
    require_wrk()
    head = circumstances("loadtest.bench", sys.argv[1:])
    catalogue = Catalogue(file)
    plan = Plan(queries=all_queries(query_files), seconds=seconds, rounds=rounds, scopes=scopes, k=k)
    place = home or Homes(catalogue=catalogue, folder=own_folder(work), tell=tell).of()
    found = measured(place, plan, shards or len(os.sched_getaffinity(0)), tell)
    report: Report = {**head, "catalogue": str(home) if home else catalogue.name, **found}
    write_results("service", report, out)
    draw(report, out)
    click.echo(write_summary(out).read_text())
    if errors_in(report):
        raise click.ClickException("a sample had errors: this run does not count")


def require_wrk() -> None:
    """Say how to get wrk where it is missing."""
    if which("wrk") is None:
        raise click.ClickException("the benchmark needs wrk; on Debian or Ubuntu: apt install wrk")


if __name__ == "__main__":
    main()
