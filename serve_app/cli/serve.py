"""``shortlist serve``: one machine's cluster, from the first import to Ctrl-C.

It composes; the pieces are ``serve_app.launch``, ``serve_app.local_ray`` and the import runner.
"""

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster.config import Settings, load_settings
from cluster.errors import InvalidConfiguration, RegistryUnavailable, UnreadableSource
from cluster.health import Health
from cluster.importers.botocore import read_botocore
from cluster.importers.source import Defaults
from cluster.importing import run_import
from cluster.registry import Registry
from serve_app import launch
from serve_app.cli.serve_view import Quiet, Screen, View
from serve_app.keys import KeySet
from serve_app.listening import listeners_of
from serve_app.record_wire import parse_record
from shards.record import SHARED_TENANT

if TYPE_CHECKING:
    from serve_app.local_ray import LocalRay

_READY_TIMEOUT_S = 900.0
_STATUS_PERIOD_S = 0.25


@click.command(epilog="Example: shortlist serve --port 8900 --shards 2")
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Folder of registry, snapshots, keys.")
@click.option("--port", type=click.IntRange(1, 65_535), help="Port of the endpoint.")
@click.option("--shards", type=click.IntRange(1, 1024), help="Number of shards; one for each core if not given.")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, if not the shipped one.")
@click.option("--no-embedded", is_flag=True, help="Do not import the AWS catalogue into an empty registry.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object when ready, no progress.")
def command(
    *,
    home: Path | None,
    port: int | None,
    shards: int | None,
    config: Path | None,
    no_embedded: bool,
    as_json: bool,
) -> None:
    """Start Ray, the shards and the HTTP endpoint on this machine, and run until Ctrl-C.

    The first run imports the operations of the installed botocore as tools that every tenant may see.
    """
    try:
        settings = _settings(config, home, port)
        KeySet.from_settings(settings.auth, settings.home)
        _serve(settings, shards, Quiet() if as_json else Screen(), embedded=not no_embedded)
    except (InvalidConfiguration, RegistryUnavailable, UnreadableSource) as exc:
        raise click.ClickException(str(exc)) from exc


def _settings(config: Path | None, home: Path | None, port: int | None) -> Settings:
    settings = load_settings(config)
    http = settings.http if port is None else settings.http.model_copy(update={"port": port})
    return settings.model_copy(update={"http": http, "home": (home or settings.home).absolute()})


def _serve(settings: Settings, shards: int | None, view: View, *, embedded: bool) -> None:
    started_s = time.monotonic()
    count = shards or settings.cluster.shards or len(os.sched_getaffinity(0))
    if embedded:
        _import_embedded(settings, view)
    with _private_run() as run:
        launch.apply(launch.prepare_environment(settings, run, launch.free_ports()))
        # Imported here and not above, because Serve reads the environment while it is imported.
        from serve_app.local_ray import LocalRay  # noqa: PLC0415

        with _interruptible() as stop, view.step("Starting Ray") as done, LocalRay(settings, count, run) as cluster:
            done()
            _start(cluster, view, stop)
            if not stop.is_set():
                view.ready(settings, listeners_of(os.getpid()), seconds=time.monotonic() - started_s)
                stop.wait()
            view.stopping()
    view.stopped()


def _start(cluster: "LocalRay", view: View, stop: threading.Event) -> None:
    cluster.start_loading()
    with view.step("Starting the endpoint") as done:
        cluster.start_serving()
        done()
    ends_s = time.monotonic() + _READY_TIMEOUT_S
    with view.loading() as show:
        while not stop.wait(_STATUS_PERIOD_S):
            status = cluster.status()
            show(status)
            if status.health is Health.READY:
                return
            if time.monotonic() > ends_s:
                raise click.ClickException(f"the shards were not loaded within {_READY_TIMEOUT_S:.0f} s")


@contextmanager
def _private_run() -> Iterator[Path]:
    """A folder for the sockets and logs of this run, readable for its user only and removed at a clean end.

    Always below /tmp, whatever TMPDIR says: socket paths end at 107 characters, and HAProxy's needs 80 of them.
    """
    run = Path(tempfile.mkdtemp(prefix="shortlist-", dir="/tmp"))
    yield run
    shutil.rmtree(run, ignore_errors=True)


def _import_embedded(settings: Settings, view: View) -> None:
    """Fill an empty registry with the catalogue that is installed with botocore."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    registry = Registry(settings.registry_url)
    try:
        if registry.last_seq() > 0:
            return
        with view.importing() as progress:
            defaults = Defaults(tenant=SHARED_TENANT)
            report = run_import(registry, read_botocore(), parse_record, defaults, progress)
        view.imported(report)
    finally:
        registry.close()


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, so that the end is always the orderly one. A second Ctrl-C ends hard."""
    stop = threading.Event()

    def ask(_number: int, _frame: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
