"""``python -m loadtest.request_log``: searches with the request log on and off, side by side in one run.

    python -m loadtest.request_log --catalogue tools.parquet --queries queries.jsonl

Three replicas of one instance take turns over the same shards: the endpoint as served, its twin, and one that writes no
line. How far the first two differ is the noise of the run; what the log costs is read against it. It compares nothing
else. The result goes to loadtest/results/request_log.json.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

import click

from loadtest.bench import require_wrk
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
    sizes_of,
    tell,
)
from loadtest.results import Report, write_results
from loadtest.service.plan import Plan
from loadtest.service.run import compared
from loadtest.service.systems import BY_NAME, LOGGED, QUIET, SHORTLIST

SYSTEMS: Final = (SHORTLIST, LOGGED, QUIET)


class Cost(TypedDict):
    """What the log costs at one number of clients, as ratios: 1.0 is nothing.

    Attributes:
        p50: with the log ÷ without it.
        rps: without the log ÷ with it.
        noise_p50: the larger ÷ the smaller of two that both log.
        noise_rps: as ``noise_p50``.
        verdict: ``within noise`` where both costs are no larger than their noise, taken as 2 % at least; ``too noisy``
            where that would hide a tenth.
    """

    p50: float
    rps: float
    noise_p50: float
    noise_rps: float
    verdict: Literal["within noise", "beyond noise", "too noisy"]


_LEAST_NOISE: Final = 1.02
_MOST_NOISE: Final = 1.1


def costs_of(systems: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Cost]:
    """By number of clients, from the figures of ``SYSTEMS`` by name and level."""
    return {level: _cost(*(systems[one.name][level] for one in SYSTEMS)) for level in systems[QUIET.name]}


def _cost(own: Mapping[str, float], logged: Mapping[str, float], quiet: Mapping[str, float]) -> Cost:
    p50 = _mean(own["p50_ms"], logged["p50_ms"]) / quiet["p50_ms"]
    rps = quiet["rps"] / _mean(own["rps"], logged["rps"])
    noise_p50, noise_rps = (_apart(own[name], logged[name]) for name in ("p50_ms", "rps"))
    within = p50 <= max(noise_p50, _LEAST_NOISE) and rps <= max(noise_rps, _LEAST_NOISE)
    return Cost(
        p50=round(p50, 3),
        rps=round(rps, 3),
        noise_p50=round(noise_p50, 3),
        noise_rps=round(noise_rps, 3),
        verdict="too noisy"
        if max(noise_p50, noise_rps) > _MOST_NOISE
        else "within noise"
        if within
        else "beyond noise",
    )


def _mean(one: float, other: float) -> float:
    return (one + other) / 2


def _apart(one: float, other: float) -> float:
    return max(one, other) / min(one, other)


@click.command()
@ground_options
@out_option
@sampling_options(seconds=5, rounds=5)
@click.option("--clients", default="1,10,50,100", show_default=True, help="Numbers of clients, joined by commas.")
@scopes_option
@hits_option
@shards_option
def main(*, ground: Ground, out: Path, sampling: Sampling, clients: str, scopes: int, k: int, shards: int) -> None:
    """Measure p50 and throughput of searches with the request log on and off."""
    require_wrk()
    plan = Plan(
        queries=ground.queries(),
        levels=sizes_of(clients),
        seconds=sampling.seconds,
        rounds=sampling.rounds,
        scopes=scopes,
        k=k,
    )
    head = circumstances("loadtest.request_log", sys.argv[1:])
    found = compared(sampling.place(ground), plan, shards, SYSTEMS, tell)
    report: Report = {
        **head,
        "catalogue": str(sampling.home or ground.catalogue.name),
        **found,
        "costs": costs_of(found["systems"]),
        "meanings": {system.name: BY_NAME[system.name].meaning for system in SYSTEMS},
        "queries": len(plan.queries),
        "seconds": plan.seconds,
        "rounds": plan.rounds,
        "scopes": scopes,
        "k": k,
        "load_average_after": os.getloadavg(),
    }
    write_results("request_log", report, out)
    for level, cost in report["costs"].items():
        click.echo(
            f"{level:>4} clients: p50 × {cost['p50']:.3f} (noise {cost['noise_p50']:.3f}), "
            f"throughput ÷ {cost['rps']:.3f} (noise {cost['noise_rps']:.3f})"
            f": {cost['verdict']}"
        )
    if any(level["errors"] for levels in report["systems"].values() for level in levels.values()):
        raise click.ClickException("a sample had errors: this run does not count")


if __name__ == "__main__":
    main()
