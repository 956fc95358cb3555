"""What ``shortlist serve`` shows: progress on a terminal, or one JSON object for a program. It starts nothing."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import click
import orjson
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from cluster.config import Settings
from cluster.control import ClusterStatus, EmbeddingState, EmbeddingStatus
from cluster.importing import ImportReport, Phase
from serve_app.cli.instance import url_of
from serve_app.listening import Listener

_RAY_PROCESS: Final = "ray::"
_RAY_DOOR: Final = "Ray's gRPC of the replica, which answers only to the token in ray.token"
_SHARD_PROCESS: Final = "ray::ShardActor"
_SHARD_DOOR: Final = "a shard, which answers only to a secret of this run"

_PHASES: Final = {Phase.READING: "Reading the AWS catalogue", Phase.WRITING: "Writing the registry"}

_EMBEDDING_NAMES: Final = {
    EmbeddingState.LOADING: "Loading the models (searches go by words)",
    EmbeddingState.EMBEDDING: "Embedding records (searches go by words where many lack a vector)",
    EmbeddingState.INDEXING: "Saving vectors",
}


class View(Protocol):
    """Somebody who watches ``shortlist serve``. Inside its ``with``, steps may overlap and come from any thread."""

    def __enter__(self) -> Self:
        """The start has begun."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """It has ended, well or not."""

    def step(self, name: str) -> AbstractContextManager[None]:
        """Something without a measure of progress."""

    def importing(self, phase: Phase, share: float, label: str) -> None:
        """A ``cluster.importing.Progress``."""

    def imported(self, report: ImportReport) -> None:
        """The embedded catalogue is in the registry."""

    def loading(self, status: ClusterStatus) -> None:
        """The shards are being loaded."""

    def ready(self, settings: Settings, listeners: tuple[Listener, ...], *, seconds: float) -> None:
        """Searches are answered in full."""

    def embedding(self, status: EmbeddingStatus) -> None:
        """Searches are answered, and records get their vectors meanwhile."""

    def stopping(self) -> None:
        """The end has begun."""

    def stopped(self) -> None:
        """Every process has ended."""


class Screen:
    """For a person."""

    def __init__(self) -> None:
        # Bound now: the standard output of Ray's driver is redirected later.
        self._console = Console(file=sys.stdout, highlight=False)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=self._console)
        self._tasks: dict[object, TaskID] = {}
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """See ``View``."""
        task = self._progress.add_task(name, total=None)
        yield
        self._progress.update(task, total=1, completed=1)

    def importing(self, phase: Phase, share: float, label: str) -> None:  # noqa: ARG002 -- the signature of Progress
        """See ``View``."""
        self._show(phase, _PHASES[phase], share, 1.0)

    def imported(self, report: ImportReport) -> None:
        """See ``View``."""
        refused = f"; {len(report.refused)} refused" if report.refused else ""
        self._console.print(
            f"Imported {report.imported:,} AWS operations in {report.seconds:.1f} s"
            f" ({report.records_per_second:,.0f} records/s){refused}"
        )

    def loading(self, status: ClusterStatus) -> None:
        """See ``View``."""
        for number, copy in enumerate(status.copies):
            # Read is not yet searchable: the last step of the bar is the copy's own word.
            total = copy.expected_records + 1
            self._show(number, f"Loading shard {copy.shard}", copy.loaded_records + copy.ready, total)

    def _show(self, key: object, name: str, completed: float, total: float) -> None:
        if key not in self._tasks:
            self._tasks[key] = self._progress.add_task(name, total=total)
        self._progress.update(self._tasks[key], completed=completed, total=total)

    def ready(self, settings: Settings, listeners: tuple[Listener, ...], *, seconds: float) -> None:
        """See ``View``."""
        self._console.print(f"\nShortlist is ready at [bold]{url_of(settings)}[/bold] after {seconds:.1f} s. Try:\n")
        for line in examples(settings):
            self._console.print(f"  {line}", soft_wrap=True, markup=False)
        self._console.print(f"\n{doors(listeners)} Ctrl-C stops all.", soft_wrap=True, markup=False)

    def embedding(self, status: EmbeddingStatus) -> None:
        """See ``View``; the bar stands below all that was said, until every record has its vector."""
        if status.state is EmbeddingState.DONE:
            self._end_bar()
            self._console.print(f"Vectors are ready: {status.embedded:,} of {status.records:,} records have one.")
            return
        if self._bar is None:
            columns = (
                TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
                TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
            )  # fmt: skip
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("", total=None, speed="")
            self._bar.start()
        self._bar.update(
            self._bar.task_ids[0],
            description=f"Vectors: {status.fault}" if status.fault else _EMBEDDING_NAMES.get(status.state, ""),
            completed=status.embedded,
            total=status.records or None,
            speed=f"{status.records_per_s:,.0f} records/s" if status.records_per_s else "",
        )

    def _end_bar(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def stopping(self) -> None:
        """See ``View``."""
        self._end_bar()
        self._console.print("Stopping …")

    def stopped(self) -> None:
        """See ``View``."""
        self._console.print("Stopped.")


class Quiet:
    """For a program: one object on standard output when ready, nothing else."""

    def __init__(self) -> None:
        self._output = sys.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    @contextmanager
    def step(self, name: str) -> Iterator[None]:  # noqa: ARG002 -- the protocol's signature
        """See ``View``."""
        yield

    def importing(self, phase: Phase, share: float, label: str) -> None:
        """See ``View``."""

    def imported(self, report: ImportReport) -> None:
        """See ``View``."""

    def loading(self, status: ClusterStatus) -> None:
        """See ``View``."""

    def ready(self, settings: Settings, listeners: tuple[Listener, ...], *, seconds: float) -> None:
        """See ``View``."""
        ready = {
            "url": url_of(settings),
            "home": str(settings.home),
            "pid": os.getpid(),
            "seconds": round(seconds, 2),
            "examples": examples(settings),
            "listeners": [
                {"host": found.host, "port": found.port, "process": found.process, "loopback": found.loopback}
                for found in listeners
            ],
        }
        click.echo(orjson.dumps(ready).decode(), file=self._output)

    def embedding(self, status: EmbeddingStatus) -> None:
        """See ``View``."""

    def stopping(self) -> None:
        """See ``View``."""

    def stopped(self) -> None:
        """See ``View``."""


def doors(listeners: tuple[Listener, ...]) -> str:
    """Which ports can be reached from other machines, in one sentence; ``--json`` lists all of them."""
    if not listeners:
        return "The listeners cannot be told here."
    open_ones = [f"{found.port} ({_meaning(found.process)})" for found in listeners if not found.loopback]
    return f"All listeners are on loopback{' but ' * bool(open_ones)}{', '.join(open_ones)}."


def _meaning(process: str) -> str:
    if process.startswith(_SHARD_PROCESS):
        return _SHARD_DOOR
    return _RAY_DOOR if process.startswith(_RAY_PROCESS) else process


def program() -> str:
    """The ``shortlist`` command as a shell in this folder finds it."""
    if shutil.which("shortlist") is not None:
        return "shortlist"
    called = Path(sys.argv[0]).absolute()
    path = called if called.name == "shortlist" else Path(sys.executable).with_name("shortlist")
    if not path.is_relative_to(Path.cwd()):
        return shlex.quote(str(path))
    below = path.relative_to(Path.cwd())
    # A bare name would be looked for on PATH.
    return shlex.quote(str(below) if len(below.parts) > 1 else f"./{below}")


def examples(settings: Settings) -> list[str]:
    """A line that sets TOKEN, then three calls that work as they stand."""
    url = url_of(settings)
    token = "TOKEN=...  # of the issuer that the settings name"  # noqa: S105 -- no token
    if settings.auth.local_key:
        home = shlex.quote(str(settings.home))
        token = f"TOKEN=$({program()} token --tenant demo --role reader --mode autonomous --home {home})"
    call = f'curl -s -H "Authorization: Bearer $TOKEN" {url}'
    json = '-H "Content-Type: application/json"'
    return [
        token,
        f'{call}/v1/search {json} -d \'{{"query": "create a bucket", "k": 5}}\'',
        f'{call}/v1/explain {json} -d \'{{"query": "create a bucket", "id": "aws:s3:CreateBucket"}}\'',
        f"{call}/v1/records/aws:s3:CreateBucket",
    ]
