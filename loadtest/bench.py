"""The service benchmark: searches, a dressed no-op and a naive fan-out, side by side in one run, by closed-loop wrk.

    python -m loadtest.bench --home .shortlist --queries evals/gold/queries.jsonl --out loadtest/results/service.json

It starts its own instance on free ports from the registry in ``--home`` and ends it. One machine carries server and
load, so read the ratios between systems of one run, not the absolute rates.
"""

import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cluster.config import Settings, load_settings
from cluster.health import Health
from cluster.scope import Principal
from loadtest.processes import ProcessMemory, memory_below
from loadtest.queries import read_queries
from loadtest.wrk import Load, Sample, closed_loop, first_answer
from serve_app import launch
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key, mint_token

if TYPE_CHECKING:
    from serve_app.local_ray import LocalRay

CLIENTS: Final = (1, 10, 50, 100)
SYSTEMS: Final = {"shortlist": "", "noop": "/noop", "naive": "/naive"}
"""Name and route prefix of each system, all behind the same ingress."""

_READY_TIMEOUT_S: Final = 900.0
_TOKEN_LIFE_S: Final = 7200


@click.command(epilog="Example: python -m loadtest.bench --home .shortlist --seconds 5 --rounds 3")
@click.option("--home", type=click.Path(path_type=Path, exists=True, file_okay=False), default=".shortlist")
@click.option("--queries", "files", type=click.Path(path_type=Path, exists=True), multiple=True, help="JSON lines.")
@click.option("--seconds", type=click.IntRange(1, 60), default=5, help="Length of one sample.")
@click.option(
    "--rounds", type=click.IntRange(1, 20), default=3, help="Samples of each system and level; medians count."
)
@click.option("--k", type=click.IntRange(1, 48), default=10, help="Hits asked for.")
@click.option("--shards", type=click.IntRange(1, 64), help="Number of shards; one for each core if not given.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the JSON here.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout instead of a table.")
def main(
    *,
    home: Path,
    files: tuple[Path, ...],
    seconds: int,
    rounds: int,
    k: int,
    shards: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure searches beside a canned answer and beside one actor call per shard per query."""
    settings = load_settings(None)
    settings = settings.model_copy(
        update={"home": home.absolute(), "http": settings.http.model_copy(update={"port": _free_port()})}
    )
    queries = tuple(query for file in files or (None,) for query in read_queries(file))
    count = shards or len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="shortlist-", dir="/tmp") as run:
        launch.apply(launch.prepare_environment(settings, Path(run), launch.free_ports()), os.environ)
        # Imported here and not above, because Serve reads the environment while it is imported.
        from serve_app.local_ray import LocalRay  # noqa: PLC0415

        with LocalRay(settings, count, Path(run)) as cluster:
            ready_s = _start(cluster)
            load = Load(
                url=f"http://{settings.http.host}:{settings.http.port}",
                token=_token(settings),
                queries=queries,
                k=k,
                seconds=seconds,
            )
            _start_baselines(cluster, settings, first_answer(load))
            records = cluster.status().records
            samples = _measure(load, rounds)
            memory = memory_below(os.getpid())
    report = _report(samples, records=records, shards=count, ready_s=ready_s, load=load, rounds=rounds, memory=memory)
    _show(report, out, as_json=as_json)
    if any(sample["errors"] for levels in report["systems"].values() for sample in levels.values()):
        raise click.ClickException("a sample had errors: this run does not count")


def _start(cluster: "LocalRay") -> float:
    started_s = time.monotonic()
    cluster.start()
    cluster.start_proxy()
    cluster.start_loading()
    cluster.start_replicas()
    while cluster.status().health is not Health.READY:
        if time.monotonic() - started_s > _READY_TIMEOUT_S:
            raise click.ClickException(f"the shards were not loaded within {_READY_TIMEOUT_S:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - started_s


def _start_baselines(cluster: "LocalRay", settings: Settings, canned: bytes) -> None:
    from ray import serve  # noqa: PLC0415 -- as LocalRay

    from loadtest import naive_app, noop_app  # noqa: PLC0415 -- as LocalRay

    serve.run(noop_app.build_noop(settings, canned), name=noop_app.APP, route_prefix=noop_app.PREFIX)
    naive = naive_app.build_naive(settings, cluster.supervisor)
    serve.run(naive, name=naive_app.APP, route_prefix=naive_app.PREFIX)


def _token(settings: Settings) -> str:
    """A reader's token, signed by the instance's own key."""
    principal = Principal(subject="bench", tenant="bench", roles=frozenset({"reader"}), mode="autonomous")
    secret = read_secret(ensure_local_key(settings.home))
    return mint_token(secret, principal, settings.auth.jwt, _TOKEN_LIFE_S).token


def _measure(load: Load, rounds: int) -> dict[str, dict[int, list[Sample]]]:
    """Samples by system and level; the systems take turns, so that a drift of the machine meets all of them."""
    samples: dict[str, dict[int, list[Sample]]] = {name: {level: [] for level in CLIENTS} for name in SYSTEMS}
    with Progress(console=Console(file=sys.__stderr__), transient=True) as progress:
        task = progress.add_task("Measuring", total=len(SYSTEMS) * (1 + rounds * len(CLIENTS)))
        for prefix in SYSTEMS.values():
            closed_loop(load, prefix, clients=10, seed=0)
            progress.advance(task)
        for number in range(1, rounds + 1):
            for level in CLIENTS:
                for name, prefix in SYSTEMS.items():
                    samples[name][level].append(closed_loop(load, prefix, clients=level, seed=number))
                    progress.advance(task)
    return samples


def _report(
    samples: Mapping[str, Mapping[int, Sequence[Sample]]],
    *,
    records: int,
    shards: int,
    ready_s: float,
    load: Load,
    rounds: int,
    memory: Sequence[ProcessMemory],
) -> dict[str, Any]:
    return {
        "command": "python -m loadtest.bench " + " ".join(sys.argv[1:]),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": {
            "processor": _processor(),
            "cores": len(os.sched_getaffinity(0)),
            "load_average": os.getloadavg(),
            "python": platform.python_version(),
            **{name: version(name) for name in ("ray", "numpy", "numba")},
        },
        "records": records,
        "shards": shards,
        "ready_s": round(ready_s, 2),
        "queries": len(load.queries),
        "k": load.k,
        "seconds": load.seconds,
        "rounds": rounds,
        "systems": {
            name: {str(level): _medians(level_samples) for level, level_samples in levels.items()}
            for name, levels in samples.items()
        },
        "memory": [asdict(process) for process in memory],
    }


def _medians(samples: Sequence[Sample]) -> dict[str, float]:
    """Medians of all figures, but errors are added up and the worst latency stays the worst."""
    medians = {
        name: round(statistics.median(getattr(sample, name) for sample in samples), 3)
        for name in ("rps", "p50_ms", "p95_ms", "p99_ms")
    }
    return {
        **medians,
        "max_ms": max(sample.max_ms for sample in samples),
        "errors": sum(sample.errors for sample in samples),
    }


def _show(report: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    text = json.dumps(report, indent=2)
    if out is not None:
        out.write_text(text + "\n")
    if as_json:
        click.echo(text)
        return
    table = Table(title=f"{report['records']:,} records, {report['shards']} shards, k = {report['k']}")
    for heading in ("clients", "system", "requests/s", "p50 ms", "p95 ms", "p99 ms", "of no-op"):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    for level in map(str, CLIENTS):
        for name, levels in report["systems"].items():
            row = levels[level]
            share = row["rps"] / report["systems"]["noop"][level]["rps"]
            figures = (f"{row['rps']:,.0f}", f"{row['p50_ms']:.2f}", f"{row['p95_ms']:.2f}", f"{row['p99_ms']:.2f}")
            table.add_row(level, name, *figures, f"{share:.2f}")
    Console().print(table)


def _commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607 -- from PATH
        capture_output=True,
        check=False,
        text=True,
    )
    return described.stdout.strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


if __name__ == "__main__":
    main()
