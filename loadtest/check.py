"""``python -m loadtest.check``: the ratios of the committed service benchmark against those of today.

    python -m loadtest.check --catalogue tools.parquet --queries queries.jsonl

It fails where a ratio fell by more than a fifth. Take the catalogue and queries that the committed results are about.
"""

import os
import sys
from pathlib import Path

import click

from loadtest.bench import require_wrk
from loadtest.options import Ground, Sampling, ground_options, sampling_options, tell
from loadtest.ratios import ALLOWED, compared
from loadtest.results import RESULTS, Report, read_results
from loadtest.service.plan import Plan
from loadtest.service.run import compared as measured
from loadtest.service.systems import BARE, DRESSED, EMPTY, NAIVE, SHORTLIST


@click.command()
@ground_options
@sampling_options(seconds=3, rounds=3)
@click.option(
    "--results",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=RESULTS,
    help="Folder of the committed service.json, if not loadtest/results.",
)
def main(*, ground: Ground, sampling: Sampling, results: Path) -> None:
    """Compare the ratios of a short run with the committed ones."""
    require_wrk()
    committed = _committed(results)
    _warn_of_load()
    plan = Plan(
        queries=ground.queries(),
        levels=(1, 100),
        seconds=sampling.seconds,
        rounds=sampling.rounds,
        scopes=committed["scopes"],
        k=committed["k"],
    )
    systems = (SHORTLIST, DRESSED, BARE, EMPTY, NAIVE)
    found = measured(sampling.place(ground), plan, committed["shards"], systems, tell)
    if found["records"] != committed["records"]:
        raise click.ClickException(
            f"{found['records']:,} records were measured, the committed results are about {committed['records']:,}:"
            " name their catalogue with --catalogue"
        )
    if found["callers"] != committed.get("callers"):
        raise click.ClickException(
            "its callers see other parts of it than those of the committed results: run `make bench`"
        )
    fallen = 0
    for one in compared(committed["systems"], found["systems"]):
        fallen += one.fell
        click.echo(f"{'FELL' if one.fell else 'ok':<5} {one.name:<48} {one.committed} → {one.now}")
    if fallen:
        tell(f"{fallen} ratio(s) fell by more than {ALLOWED:.0%}")
        sys.exit(1)


def _warn_of_load() -> None:
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > cores / 2:
        tell(f"The load average is {load:.1f} on {cores} cores: ratios will be restless, look again when it is lower.")


def _committed(results: Path) -> Report:
    report = read_results("service", results)
    if report is None:
        raise click.ClickException(f"{results}/service.json is no result of `make bench`: run that first")
    return report


if __name__ == "__main__":
    main()
