"""What ``shortlist serve`` shows: progress on a terminal, or one JSON object for a program. It starts nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from cluster.config import Settings
from cluster.control import ClusterStatus
from cluster.importing import ImportReport, Phase
from cluster.importing import Progress as ImportProgress
from serve_app.listening import Listener

_PHASES: Final = {Phase.READING: "Reading the AWS catalogue", Phase.WRITING: "Writing the registry"}


class View(Protocol):
    """The steps of ``shortlist serve`` as somebody watches them."""

    def importing(self) -> AbstractContextManager[ImportProgress]:
        """The embedded catalogue is being imported."""

    def imported(self, report: ImportReport) -> None:
        """It was."""

    def step(self, name: str) -> AbstractContextManager[Callable[[], None]]:
        """Something without a measure of progress; calling the value ends it."""

    def loading(self) -> AbstractContextManager[Callable[[ClusterStatus], None]]:
        """The shards are being loaded."""

    def ready(self, settings: Settings, listeners: tuple[Listener, ...], *, seconds: float) -> None:
        """Searches are answered in full."""

    def stopping(self) -> None:
        """The end has begun."""

    def stopped(self) -> None:
        """Every process has ended."""


class Screen:
    """For a person."""

    def __init__(self) -> None:
        self._console = Console(stderr=False, highlight=False)

    @contextmanager
    def importing(self) -> Iterator[ImportProgress]:
        """See ``View``."""
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"),
                   TimeElapsedColumn())  # fmt: skip
        with Progress(*columns, console=self._console) as progress:
            tasks = {phase: progress.add_task(text, total=1.0, start=False) for phase, text in _PHASES.items()}

            def show(phase: Phase, share: float, _: str) -> None:
                progress.start_task(tasks[phase])
                progress.update(tasks[phase], completed=share)

            yield show

    def imported(self, report: ImportReport) -> None:
        """See ``View``."""
        self._console.print(
            f"Imported {report.imported:,} AWS operations in {report.seconds:.1f} s"
            f" ({report.records_per_second:,.0f} records/s)"
            + (f"; {len(report.refused)} refused" if report.refused else "")
        )

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[], None]]:
        """See ``View``."""
        with Progress(
            SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), TimeElapsedColumn(),
            console=self._console,
        ) as progress:  # fmt: skip
            task = progress.add_task(name, total=1)
            ended = False

            def done() -> None:
                nonlocal ended
                if not ended:
                    progress.update(task, completed=1)
                    progress.stop()
                    ended = True

            yield done

    @contextmanager
    def loading(self) -> Iterator[Callable[[ClusterStatus], None]]:
        """See ``View``."""
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            console=self._console,
        ) as progress:  # fmt: skip
            tasks: dict[int, TaskID] = {}

            def show(status: ClusterStatus) -> None:
                for number, copy in enumerate(status.copies):
                    if number not in tasks:
                        tasks[number] = progress.add_task(f"Loading shard {copy.shard}", total=copy.expected_records)
                    progress.update(
                        tasks[number],
                        completed=copy.loaded_records,
                        total=copy.expected_records,
                    )

            yield show

    def ready(self, settings: Settings, listeners: tuple[Listener, ...], *, seconds: float) -> None:
        """See ``View``."""
        url = url_of(settings)
        self._console.print(f"\nShortlist is ready at [bold]{url}[/bold] after {seconds:.1f} s. Three things to try:\n")
        for line in examples(settings):
            self._console.print(f"  {line}", soft_wrap=True, markup=False)
        open_ones = [listener for listener in listeners if not listener.loopback]
        ports = ", ".join(f"{listener.port} ({listener.process})" for listener in listeners if listener.loopback)
        self._console.print(f"\nPorts on loopback: {ports}", soft_wrap=True, markup=False)
        if open_ones:
            ports = ", ".join(f"{listener.port} ({listener.process})" for listener in open_ones)
            self._console.print(f"Ports on every interface: {ports}", soft_wrap=True, markup=False)
            self._console.print("Ray's own ports answer only to the token in ray.token in the home folder.")
        self._console.print("\nCtrl-C stops it.")

    def stopping(self) -> None:
        """See ``View``."""
        self._console.print("Stopping …")

    def stopped(self) -> None:
        """See ``View``."""
        self._console.print("Stopped.")


class Quiet:
    """For a program: one object on standard output when ready, nothing else."""

    @contextmanager
    def importing(self) -> Iterator[ImportProgress]:
        """See ``View``."""
        yield lambda _phase, _share, _label: None

    def imported(self, report: ImportReport) -> None:
        """See ``View``."""

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[[], None]]:  # noqa: ARG002 -- the protocol's signature
        """See ``View``."""
        yield lambda: None

    @contextmanager
    def loading(self) -> Iterator[Callable[[ClusterStatus], None]]:
        """See ``View``."""
        yield lambda _: None

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
        click.echo(orjson.dumps(ready).decode())

    def stopping(self) -> None:
        """See ``View``."""

    def stopped(self) -> None:
        """See ``View``."""


def url_of(settings: Settings) -> str:
    """Where a caller on this machine finds the endpoint."""
    host = settings.http.host
    named = "127.0.0.1" if host in {"0.0.0.0", "::", "*"} else host  # noqa: S104 -- compared, not bound
    return f"http://[{named}]:{settings.http.port}" if ":" in named else f"http://{named}:{settings.http.port}"


def examples(settings: Settings) -> list[str]:
    """Three calls that work as they stand, with a token of the local key where that is the key in use."""
    url = url_of(settings)
    token = "TOKEN=... # of your own issuer"  # noqa: S105 -- no token
    if settings.auth.local_key:
        token = f"TOKEN=$(shortlist token --tenant demo --role reader --mode autonomous --home '{settings.home}')"
    send = 'curl -s -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
    return [
        f'{token}; {send} {url}/v1/search -d \'{{"query": "create a bucket", "k": 5}}\'',
        f"{token}; {send} {url}/v1/records/aws:s3:CreateBucket",
        f"curl -s {url}/readyz",
    ]
