"""``python -m loadtest.bench``: the service beside what bounds it and what it is to beat, in one run.

    python -m loadtest.bench --catalogue tools.parquet --queries queries.jsonl

Closed loops by wrk (its own correction for coordinated omission is in the latencies), open loops by our own generator,
overload, cold callers. It starts its own instances on free ports and ends them. One machine carries server and load,
so read the ratios between systems of one run, not the absolute rates. Results and plots go to loadtest/results/.
"""

import sys
from pathlib import Path
from shutil import which

import click

from loadtest.circumstances import circumstances
from loadtest.options import (
    Ground,
    Sampling,
    ground_options,
    hits_option,
    out_option,
    sampling_options,
    scopes_option,
    shards_option,
    tell,
)
from loadtest.results import Report, write_results
from loadtest.service.plan import Plan
from loadtest.service.plot import draw
from loadtest.service.run import errors_in, measured
from loadtest.summary import write_summary


@click.command()
@ground_options
@out_option
@sampling_options(seconds=5, rounds=3)
@scopes_option
@hits_option
@shards_option
def main(*, ground: Ground, out: Path, sampling: Sampling, scopes: int, k: int, shards: int) -> None:
    """Measure searches beside no-ops, one call per shard per query, and Serve's defaults."""
    require_wrk()
    head = circumstances("loadtest.bench", sys.argv[1:])
    plan = Plan(queries=ground.queries(), seconds=sampling.seconds, rounds=sampling.rounds, scopes=scopes, k=k)
    found = measured(sampling.place(ground), plan, shards, tell)
    report: Report = {**head, "catalogue": str(sampling.home or ground.catalogue.name), **found}
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
