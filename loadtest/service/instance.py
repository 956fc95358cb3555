"""``python -m loadtest.service.instance``: one instance for a benchmark, in a process of its own, until its input ends.

The process that makes the load stays free of Ray, and an instance with other settings can follow it. One line of JSON
on standard output says that it is ready.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cluster.config import Settings, load_settings
from cluster.health import Health
from loadtest.service.callers import Callers
from loadtest.service.target import first_answer
from serve_app import launch
from serve_app.home_lock import locked_home

if TYPE_CHECKING:
    from serve_app.local_ray import LocalRay

TUNED, DEFAULTS = "tuned", "defaults"

_READY_TIMEOUT_S: Final = 1_800.0
_LOOK_S: Final = 0.1


@click.command()
@click.option("--home", type=click.Path(path_type=Path, exists=True, file_okay=False), required=True)
@click.option("--port", type=int, required=True)
@click.option("--shards", type=int, required=True)
@click.option("--mode", type=click.Choice([TUNED, DEFAULTS]), required=True, help="Our settings of Serve, or its own.")
@click.option("--body", required=True, help="JSON of a search that finds something.")
@click.option("--baselines", is_flag=True, help="Also start the baselines that share the instance.")
@click.option("--twins", is_flag=True, help="Also start twins of the endpoint, with and without a request log.")
def main(*, home: Path, port: int, shards: int, mode: str, body: str, baselines: bool, twins: bool) -> None:
    """Start an instance, say so, and end it when standard input does."""
    shipped = load_settings(None)
    http = shipped.http.model_copy(update={"port": port})
    output = sys.stdout
    with locked_home(home), tempfile.TemporaryDirectory(prefix="shortlist-", dir="/tmp") as run:
        callers, policy = Callers(home), Path(run) / "policy.yaml"
        policy.write_bytes(callers.mix.policy())
        settings = shipped.model_copy(update={"home": home.absolute(), "http": http, "policy": policy})
        _prepare_environment(settings, Path(run), mode)
        # Imported here and not above, because Serve reads the environment while it is imported.
        from loadtest.service.defaults_ray import DefaultsRay  # noqa: PLC0415
        from serve_app.local_ray import LocalRay  # noqa: PLC0415

        with (LocalRay if mode == TUNED else DefaultsRay)(settings, shards, Path(run)) as cluster:
            ready_s = _start(cluster)
            asked_s = time.monotonic()
            answer = first_answer(f"http://{http.host}:{port}", callers.whole(), body.encode())
            first_s = time.monotonic() - asked_s
            if baselines:
                _start_baselines(cluster, settings, answer)
            if twins:
                _start_twins(cluster, settings)
            status = cluster.status()
            report = {"ready_s": ready_s, "first_answer_s": first_s, "records": status.records, "shards": shards}
            output.write(json.dumps(report) + "\n")
            output.flush()
            sys.stdin.read()


def _prepare_environment(settings: Settings, run: Path, mode: str) -> None:
    """Ours for Ray in any case; ours for Serve only where the instance is to be tuned."""
    ours = launch.prepare_environment(settings, run, launch.free_ports())
    if mode == DEFAULTS:
        ours = {name: value for name, value in ours.items() if not name.startswith("RAY_SERVE_")}
    launch.apply(ours, os.environ)


def _start(cluster: "LocalRay") -> float:
    """Seconds until the endpoint answers and every shard is loaded."""
    started_s = time.monotonic()
    cluster.start()
    cluster.start_proxy()
    cluster.start_loading()
    cluster.start_replicas()
    while cluster.status().health is not Health.READY:
        if time.monotonic() - started_s > _READY_TIMEOUT_S:
            raise click.ClickException(f"the shards were not loaded within {_READY_TIMEOUT_S:.0f} s")
        time.sleep(_LOOK_S)
    return time.monotonic() - started_s


def _start_baselines(cluster: "LocalRay", settings: Settings, canned: bytes) -> None:
    from ray import serve  # noqa: PLC0415 -- as LocalRay

    from loadtest.service import fanout_app, naive_app, noop_app  # noqa: PLC0415 -- as LocalRay
    from loadtest.service.systems import BARE, DRESSED, EMPTY, NAIVE  # noqa: PLC0415 -- beside its use

    apps = {
        DRESSED: noop_app.build_dressed(settings, canned),
        BARE: noop_app.build_bare(settings),
        EMPTY: fanout_app.build_fanout(settings, cluster.supervisor),
        NAIVE: naive_app.build_naive(settings, cluster.supervisor),
    }
    for system, app in apps.items():
        serve.run(app, name=system.name, route_prefix=system.prefix)


def _start_twins(cluster: "LocalRay", settings: Settings) -> None:
    from ray import serve  # noqa: PLC0415 -- as LocalRay

    from loadtest.service.log_app import build_twins  # noqa: PLC0415 -- as LocalRay

    for system, app in build_twins(settings, cluster.supervisor).items():
        serve.run(app, name=system.name, route_prefix=system.prefix)


if __name__ == "__main__":
    main()
