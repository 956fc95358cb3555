"""What every import command shares: the open registry, two bars of progress, the audit log, and the report.

It imports nothing of the cluster before it is used.
"""

import gc
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import orjson

if TYPE_CHECKING:
    from cluster.config import Settings
    from cluster.importers.source import Refusal
    from cluster.importing import ImportReport, Phase, Progress
    from cluster.registry import Registry

_SHOWN_REFUSALS: Final = 20
_SHOWN_NAMESPACES: Final = 5


def run_and_report(
    work: Callable[["Registry", "Progress"], "ImportReport"],
    *,
    home: Path | None,
    config: Path | None,
    as_json: bool,
    several: bool,
) -> None:
    """Run an import and say what it did, ending with status 1 if nothing at all could be imported.

    ``several``: whether a refusal has to say which file it is of.
    """
    from cluster.errors import ClusterError  # noqa: PLC0415 -- as the module says
    from serve_app.cli.instance import instance_settings  # noqa: PLC0415

    request_id = secrets.token_hex(8)
    try:
        settings = instance_settings(config, home)
        # Before anything is written: a write that could not be put on record is not made.
        tell = _audit(settings, request_id)
        with _registry(settings) as registry, _progress() as progress, _no_search_for_cycles():
            report = work(registry, progress)
        tell(report)
    except ClusterError as exc:
        raise click.ClickException(str(exc)) from exc
    if as_json:
        click.echo(orjson.dumps({"request_id": request_id, **_as_json(report)}))
    else:
        _print(report, several=several)
    if report.refused and not report.imported and not report.unchanged:
        raise SystemExit(1)


def _audit(settings: "Settings", request_id: str) -> Callable[["ImportReport"], None]:
    """Tells the audit log of an import, where that is a file: standard error is the user's here."""
    if settings.log.to != "file":
        return lambda _: None
    from serve_app import audit  # noqa: PLC0415 -- as the module says

    audit.write_events(audit.handler_of(settings))

    def tell(report: "ImportReport") -> None:
        audit.wrote(
            request_id,
            {},
            verb="import",
            outcome="applied" if report.imported or report.removed else "nothing_applied",
            records=report.imported,
            removed=report.removed,
            refused=len(report.refused),
            seq=report.seq,
        )

    return tell


@contextmanager
def _registry(settings: "Settings") -> Iterator["Registry"]:
    from cluster.registry import Registry  # noqa: PLC0415 -- as the module says

    registry = Registry(settings.registry_url)
    try:
        yield registry
    finally:
        registry.close()


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """An import makes no cycles but keeps objects by the million: looking for cycles takes a sixth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _progress() -> Iterator[Callable[["Phase", float, str], None]]:
    """Two bars on standard error, so that standard output stays clean for ``--json``."""
    from rich.console import Console  # noqa: PLC0415 -- as the module says
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from serve_app.cli.terminal import shown  # noqa: PLC0415

    columns = (
        TextColumn("{task.description:<8}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks = {name: bars.add_task(name, total=1.0, start=False, last="") for name in ("reading", "writing")}

        def show(phase: "Phase", share: float, last: str) -> None:
            bars.start_task(tasks[phase.value])
            bars.update(tasks[phase.value], completed=share, last=shown(last).plain)

        yield show


def _as_json(report: "ImportReport") -> dict[str, object]:
    return {
        "imported": report.imported,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "refused": [
            {
                "name": refusal.name,
                "place": refusal.place or None,
                "reason": refusal.reason,
                "file": refusal.source or None,
            }
            for refusal in report.refused
        ],
        "notes": report.notes,
        "owners": report.owners,
        "namespaces": report.namespaces,
        "example": report.example or None,
        "seq": report.seq,
        "seconds": round(report.seconds, 3),
        "records_per_second": round(report.records_per_second),
    }


def _print(report: "ImportReport", *, several: bool) -> None:
    """The report for people; ``several`` sources: each refusal names its own, ``--json`` with the path."""
    from rich.console import Console  # noqa: PLC0415 -- as the module says
    from rich.table import Table  # noqa: PLC0415

    from serve_app.cli.terminal import shown  # noqa: PLC0415

    table = Table("imported", "unchanged", "removed", "refused", "seconds", "records/s")
    counts = (report.imported, report.unchanged, report.removed, len(report.refused))
    table.add_row(*(f"{count:,}" for count in counts), f"{report.seconds:.1f}", f"{report.records_per_second:,.0f}")
    console = Console()
    console.print(table)
    if report.example:
        console.print(shown(_whereabouts(report)))
    if report.refused:
        refusals = Table(*(("file",) if several else ()), "refused", "reason")
        for refusal in report.refused[:_SHOWN_REFUSALS]:
            source = (shown(Path(refusal.source).name),) if several else ()
            refusals.add_row(*source, shown(_named(refusal)), shown(refusal.reason))
        console.print(refusals)
        if len(report.refused) > _SHOWN_REFUSALS:
            console.print(f"{len(report.refused) - _SHOWN_REFUSALS:,} more refusals: see --json")
    for note in report.notes:
        console.print(shown(note))


def _named(refusal: "Refusal") -> str:
    """The refused record, with its place where its name is another."""
    return refusal.name if refusal.place in ("", refusal.name) else f"{refusal.name} ({refusal.place})"


def _whereabouts(report: "ImportReport") -> str:
    """Whose the records are and where to find them, in one line."""
    owners = ", ".join("shared with every tenant" if owner == "*" else owner for owner in report.owners)
    namespaces = ", ".join(report.namespaces[:_SHOWN_NAMESPACES])
    if (more := len(report.namespaces) - _SHOWN_NAMESPACES) > 0:
        namespaces += f" and {more:,} more"
    return f"owner: {owners}; namespaces: {namespaces}; e.g. {report.example}"
