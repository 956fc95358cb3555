"""``shortlist import``: files of records, or the installed AWS service models, into the registry.

It writes the registry only. A running server follows the registry's change feed, so the command needs none.
What the import needs is imported only when the command runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import orjson

if TYPE_CHECKING:
    from cluster.importers.source import Defaults, Item
    from cluster.importing import ImportReport, Phase
    from cluster.registry import Registry

FORMATS: Final = ("auto", "jsonl", "parquet", "mcp", "openai", "anthropic")
SIDE_EFFECTS: Final = ("read", "write", "destructive")

_SHOWN_REFUSALS: Final = 20
_SHOWN_NAMESPACES: Final = 5

_EXAMPLE: Final = """\
\b
Examples:
  shortlist import tools.jsonl.gz more.parquet
  shortlist import github.json --format mcp --namespace github --replace-namespace
  shortlist import --botocore
"""


@click.command(name="import", epilog=_EXAMPLE)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True, help="Format of all FILEs."
)
@click.option("--botocore", is_flag=True, help="Import every operation of the installed AWS service models.")
@click.option(
    "--tenant",
    help="Owner of the records; one that names another owner is refused. An id never changes its owner. "
    "[default: shared]",
)
@click.option(
    "--namespace",
    help="Of records without one. Function lists put it into the ids. [default: the file's name without its endings]",
)
@click.option(
    "--side-effect",
    type=click.Choice(SIDE_EFFECTS),
    default="write",
    show_default=True,
    help="Of tools that do not declare theirs.",
)
@click.option("--replace-namespace", is_flag=True, help="Remove what these namespaces held and the files no longer do.")
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Folder of the registry.")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, if not the shipped one.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    *,
    files: tuple[Path, ...],
    form: str,
    botocore: bool,
    tenant: str | None,
    namespace: str | None,
    side_effect: str,
    replace_namespace: bool,
    home: Path | None,
    config: Path | None,
    as_json: bool,
) -> None:
    """Import records into the registry, all sound ones in one transaction.

    A bad record is refused by name with its reason and the rest is imported; a file that cannot be read stops the
    import before anything is written. Ends with status 1 if nothing at all could be imported.
    """
    from cluster.errors import ClusterError  # noqa: PLC0415 -- as the module says
    from cluster.importers.source import Defaults  # noqa: PLC0415
    from cluster.importing import replace_namespaces, run_import  # noqa: PLC0415
    from serve_app.record_wire import parse_record  # noqa: PLC0415
    from shards.record import SideEffect  # noqa: PLC0415

    if not files and not botocore:
        raise click.UsageError("Name at least one FILE, or --botocore.")
    defaults = Defaults(tenant=tenant, namespace=namespace, side_effect=SideEffect(side_effect))
    run = replace_namespaces if replace_namespace else run_import
    try:
        with _registry(home, config) as registry, _progress() as progress:
            report = run(registry, _items(files, form, defaults, botocore=botocore), parse_record, defaults, progress)
    except ClusterError as exc:
        raise click.ClickException(str(exc)) from exc
    if as_json:
        click.echo(orjson.dumps(_as_json(report)))
    else:
        _print(report, several=len(files) + botocore > 1)
    if report.refused and not report.imported and not report.unchanged:
        raise SystemExit(1)


def _items(files: tuple[Path, ...], form: str, defaults: "Defaults", *, botocore: bool) -> Iterator["Item"]:
    from cluster.importers.botocore import read_botocore  # noqa: PLC0415 -- as the module says
    from cluster.importers.formats import Format, read_file  # noqa: PLC0415
    from cluster.importers.source import Opened  # noqa: PLC0415

    sources = [read_file(path, Format(form), defaults) for path in files]
    if botocore:
        sources.append(chain((Opened(source="botocore"),), read_botocore()))
    return chain.from_iterable(sources)


@contextmanager
def _registry(home: Path | None, config: Path | None) -> Iterator["Registry"]:
    from cluster.registry import Registry  # noqa: PLC0415 -- as the module says
    from serve_app.cli.instance import instance_settings  # noqa: PLC0415

    registry = Registry(instance_settings(config, home).registry_url)
    try:
        yield registry
    finally:
        registry.close()


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
            {"name": refusal.name, "reason": refusal.reason, "file": refusal.source or None}
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
            refusals.add_row(*source, shown(refusal.name), shown(refusal.reason))
        console.print(refusals)
        if len(report.refused) > _SHOWN_REFUSALS:
            console.print(f"{len(report.refused) - _SHOWN_REFUSALS:,} more refusals: see --json")
    for note in report.notes:
        console.print(shown(note))


def _whereabouts(report: "ImportReport") -> str:
    """Whose the records are and where to find them, in one line."""
    owners = ", ".join("shared with every tenant" if owner == "*" else owner for owner in report.owners)
    namespaces = ", ".join(report.namespaces[:_SHOWN_NAMESPACES])
    if (more := len(report.namespaces) - _SHOWN_NAMESPACES) > 0:
        namespaces += f" and {more:,} more"
    return f"owner: {owners}; namespaces: {namespaces}; e.g. {report.example}"
