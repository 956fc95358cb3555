"""``shortlist serve``: one machine's cluster, from the first import to Ctrl-C.

It composes; the pieces are ``serve_app.launch``, ``serve_app.local_ray`` and ``cluster.importing``.
"""

import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cluster.config import Settings
from cluster.control import EmbeddingState
from cluster.embedders import open_embedder
from cluster.errors import EmbeddingFailed, InvalidConfiguration, RegistryUnavailable, UnreadableSource
from cluster.health import Health
from cluster.importing import ImportReport
from cluster.ranker import AdditiveRanker
from cluster.scope import Policy
from cluster.tokenizer import counter_of
from serve_app import launch
from serve_app.cli.embedded import import_embedded
from serve_app.cli.instance import instance_settings
from serve_app.cli.serve_view import Quiet, Screen, View
from serve_app.home_lock import HomeInUse, locked_home
from serve_app.keys import KeySet
from serve_app.listening import listeners_of

if TYPE_CHECKING:
    from serve_app.local_ray import LocalRay

_READY_TIMEOUT_S: Final = 900.0
_STATUS_PERIOD_S: Final = 0.25
_EMBEDDING_PERIOD_S: Final = 1.0
_START_ATTEMPTS: Final = 4
"""Copies of one shard that may fail before the start is given up."""


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
        _check_files(settings)
        with locked_home(settings.home):
            _check_port(settings)
            count = shards or settings.cluster.shards or len(os.sched_getaffinity(0))
            _Serving(settings, count, Quiet() if as_json else Screen(), embedded=not no_embedded).run()
    except (InvalidConfiguration, RegistryUnavailable, UnreadableSource, EmbeddingFailed, HomeInUse) as exc:
        raise click.ClickException(str(exc)) from exc


def _settings(config: Path | None, home: Path | None, port: int | None) -> Settings:
    settings = instance_settings(config, home)
    http = settings.http if port is None else settings.http.model_copy(update={"port": port})
    return settings.model_copy(update={"http": http})


def _check_files(settings: Settings) -> None:
    """Refuse what a replica would refuse, while nothing has been started."""
    KeySet.from_settings(settings.auth, settings.home)
    Policy.load(settings.policy)
    AdditiveRanker.from_config(settings.ranker)
    counter_of(settings.tokens)
    if settings.vectors.candidate_retrieval:
        open_embedder(settings.vectors)


def _check_port(settings: Settings) -> None:
    """Refuse a port that is taken while nothing has been started for it."""
    http = settings.http
    try:
        socket.create_server((http.host, http.port), family=_family(http.host)).close()
    except OSError as exc:
        reason = os.strerror(exc.errno or 0)
        raise click.ClickException(f"{http.host} port {http.port}: {reason}; choose another with --port") from exc


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class _Serving:
    """One run of the command. Ctrl-C and SIGTERM set ``_stop``, so that the end is always the orderly one."""

    def __init__(self, settings: Settings, shards: int, view: View, *, embedded: bool) -> None:
        self._settings = settings
        self._shards = shards
        self._view = view
        self._embedded = embedded
        self._stop = threading.Event()
        self._started_s = time.monotonic()

    def run(self) -> None:
        """From nothing to nothing."""
        launch.forbid_core_dumps()
        with self._interruptible(), _private_run() as run, launch.watchdog(run):
            launch.apply(launch.prepare_environment(self._settings, run, launch.free_ports()), os.environ)
            # Imported here and not above, because Serve reads the environment while it is imported.
            from serve_app.local_ray import LocalRay, StartFailed  # noqa: PLC0415

            with LocalRay(self._settings, self._shards, run) as cluster:
                try:
                    with self._view:
                        self._start(cluster)
                except StartFailed as exc:
                    raise click.ClickException(str(exc)) from exc
                if not self._stop.is_set():
                    seconds = time.monotonic() - self._started_s
                    self._view.ready(self._settings, listeners_of(os.getpid()), seconds=seconds)
                    self._await_end(cluster)
                self._view.stopping()
        self._view.stopped()

    def _start(self, cluster: "LocalRay") -> None:
        """Import while Ray starts; then load while the endpoint starts."""
        over = threading.Event()
        with ThreadPoolExecutor(max_workers=1) as importer, _set_at_end(over):
            imported: Future[ImportReport | None] = importer.submit(self._import_embedded, over)
            with self._view.step("Starting Ray"):
                cluster.start()
                # Ray took SIGTERM for itself.
                self._take_signals()
                if self._stop.is_set():
                    return
                cluster.start_proxy()
            report = imported.result()
        if report is not None:
            self._view.imported(report)
        if self._stop.is_set():
            return
        cluster.start_loading()
        with self._view.step("Starting the endpoint"):
            cluster.start_replicas()
        self._await_shards(cluster)

    def _await_shards(self, cluster: "LocalRay") -> None:
        ends_s = time.monotonic() + _READY_TIMEOUT_S
        while not self._stop.wait(_STATUS_PERIOD_S):
            status = cluster.status()
            self._view.loading(status)
            if status.health is Health.READY:
                return
            if any(copy.replaced >= _START_ATTEMPTS for copy in status.copies) or time.monotonic() > ends_s:
                raise click.ClickException(f"the shards cannot be loaded; {cluster.logs} says why")

    def _await_end(self, cluster: "LocalRay") -> None:
        """Until Ctrl-C; until the records have their vectors, say how far that is."""
        if self._settings.vectors.candidate_retrieval:
            while not self._stop.wait(_EMBEDDING_PERIOD_S):
                embedding = cluster.embedding()
                if embedding is None:
                    continue
                self._view.embedding(embedding)
                if embedding.state is EmbeddingState.DONE:
                    break
        self._stop.wait()

    def _import_embedded(self, over: threading.Event) -> ImportReport | None:
        if not self._embedded:
            return None

        def broken_off() -> bool:
            return self._stop.is_set() or over.is_set()

        return import_embedded(self._settings.registry_url, self._view.importing, broken_off)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self._take_signals()
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _number, _frame: self._stop.set())


@contextmanager
def _set_at_end(event: threading.Event) -> Iterator[None]:
    """Whatever ends the block, an error included: nobody shall wait for what only the block wanted."""
    try:
        yield
    finally:
        event.set()


@contextmanager
def _private_run() -> Iterator[Path]:
    """A folder for the sockets and logs of this run, readable for its user only; it stays if the run fails.

    Always below /tmp, whatever TMPDIR says: socket paths end at 107 characters, and HAProxy's needs 80 of them.
    """
    run = Path(tempfile.mkdtemp(prefix="shortlist-", dir="/tmp"))
    yield run
    shutil.rmtree(run, ignore_errors=True)
