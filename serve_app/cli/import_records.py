"""``shortlist import``: files of records, or the installed AWS service models, into the registry.

It writes the registry only. A running server follows the registry's change feed, so the command needs none.
What the import needs is imported only when the command runs.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from serve_app.cli.import_report import run_and_report

if TYPE_CHECKING:
    from cluster.importers.source import Defaults, Item
    from cluster.importing import ImportReport, Progress
    from cluster.registry import Registry

FORMATS: Final = ("auto", "jsonl", "parquet", "mcp", "openai", "anthropic", "openapi")
SIDE_EFFECTS: Final = ("read", "write", "destructive")

_EXAMPLE: Final = """\
\b
Examples:
  shortlist import tools.jsonl.gz more.parquet
  shortlist import github.json --format mcp --namespace github --replace-namespace
  shortlist import petstore.yaml billing-openapi.json --tenant acme
  shortlist import --botocore

Folders of documents have a command of their own: shortlist import docs --help.
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
    help="Of records without one. Function lists and OpenAPI documents put it into the ids. [default: the title of an "
    "OpenAPI document, else the file's name without its endings]",
)
@click.option(
    "--side-effect",
    type=click.Choice(SIDE_EFFECTS),
    default="write",
    show_default=True,
    help="Of tools that do not declare theirs. OpenAPI operations declare it by GET, HEAD, OPTIONS and DELETE, or by "
    "x-shortlist-side-effect.",
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
    from cluster.importers.source import Defaults  # noqa: PLC0415 -- as the module says
    from cluster.importing import replace_namespaces, run_import  # noqa: PLC0415
    from serve_app.record_wire import parse_record  # noqa: PLC0415
    from shards.record import SideEffect  # noqa: PLC0415

    if not files and not botocore:
        raise click.UsageError("Name at least one FILE, or --botocore.")
    defaults = Defaults(tenant=tenant, namespace=namespace, side_effect=SideEffect(side_effect))
    run = replace_namespaces if replace_namespace else run_import

    def work(registry: "Registry", progress: "Progress") -> "ImportReport":
        return run(registry, _items(files, form, defaults, botocore=botocore), parse_record, defaults, progress)

    run_and_report(work, home=home, config=config, as_json=as_json, several=len(files) + botocore > 1)


def _items(files: tuple[Path, ...], form: str, defaults: "Defaults", *, botocore: bool) -> Iterator["Item"]:
    from cluster.importers.botocore import read_botocore  # noqa: PLC0415 -- as the module says
    from cluster.importers.formats import Format, read_file  # noqa: PLC0415
    from cluster.importers.source import Opened  # noqa: PLC0415

    sources = [read_file(path, Format(form), defaults) for path in files]
    if botocore:
        sources.append(chain((Opened(source="botocore"),), read_botocore()))
    return chain.from_iterable(sources)
