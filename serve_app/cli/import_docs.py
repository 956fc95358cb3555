"""``shortlist import docs``: a folder of Markdown, HTML and text files, cut into passages, into the registry.

It writes the registry only. A running server follows the registry's change feed, so the command needs none.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from serve_app.cli.import_report import run_and_report

if TYPE_CHECKING:
    from cluster.importing import ImportReport, Progress
    from cluster.registry import Registry

STATUSES: Final = ("published", "draft", "archived", "deprecated")

_EXAMPLE: Final = """\
\b
Examples:
  shortlist import docs help/ --namespace help --tenant acme --open --status published \\
      --product desk --locale en --release 3.1
  shortlist import docs help/            (with all of that in help/shortlist.yaml)

\b
Every file has to say, in its front matter (YAML), its <meta> tags, a file beside it
(guide.md.yaml) or a shortlist.yaml of its folder or one above:
  tenant, permissions, status, product, locale, release
and may say: id, title, modes, tags, keywords, aliases, source_url, draft, published, expires.
The options are for files that do not say it.
"""


@click.command(name="import docs", epilog=_EXAMPLE)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR")
@click.option("--namespace", help="Of all passages; ids begin with it. [default: that of DIR/shortlist.yaml]")
@click.option(
    "--source",
    help="Name under which the passages of DIR are remembered: a later import with it removes what DIR no longer has, "
    "and never what has another name. [default: that of DIR/shortlist.yaml, else the namespace]",
)
@click.option(
    "--tenant", help="Owner of the passages, '*' to share them with every tenant; a file that names another is refused."
)
@click.option("--permission", "permissions", multiple=True, help="A reader needs it; can be given several times.")
@click.option("--open", "no_permissions", is_flag=True, help="A reader needs no permission.")
@click.option("--status", type=click.Choice(STATUSES), help="Only published passages are found.")
@click.option("--product", help="What the documents are about; '' for no product.")
@click.option("--locale", help="Their language, e.g. en or fa-IR; '' for none.")
@click.option("--release", help="Version of the product that they are about; '' for none.")
@click.option("--source-url", help="Where they can be read; {path} stands for a file's path without its ending.")
@click.option(
    "--confirm-removals",
    is_flag=True,
    help="Go on although DIR has moved, is empty, or has lost more than 20 records and 20 percent of them.",
)
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Folder of the registry.")
@click.option("--config", type=click.Path(path_type=Path), help="Settings file, if not the shipped one.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    *,
    folder: Path,
    namespace: str | None,
    source: str | None,
    tenant: str | None,
    permissions: tuple[str, ...],
    no_permissions: bool,
    status: str | None,
    product: str | None,
    locale: str | None,
    release: str | None,
    source_url: str | None,
    confirm_removals: bool,
    home: Path | None,
    config: Path | None,
    as_json: bool,
) -> None:
    """Cut the documents of DIR into passages and bring the registry in line with them, in one transaction.

    What is new or changed is written, what is gone is removed, all else stays as it is. A file that cannot be used is
    refused by name with its reason, and what it held before stays. Ends with status 1 if nothing at all could be
    imported.
    """
    from cluster.importers.passages.facts import FOLDER_FACTS, check_facts  # noqa: PLC0415 -- --help loads none of it
    from cluster.importers.passages.reader import DocsReader  # noqa: PLC0415
    from cluster.importers.passages.settings import Options  # noqa: PLC0415
    from cluster.importers.source import Defaults  # noqa: PLC0415
    from cluster.importing import replace_source  # noqa: PLC0415
    from cluster.source_writer import Source  # noqa: PLC0415
    from serve_app.record_wire import parse_record  # noqa: PLC0415

    if permissions and no_permissions:
        raise click.UsageError("--open and --permission say opposite things.")
    facts: dict[str, object] = {
        "tenant": tenant,
        "permissions": list(permissions) if permissions or no_permissions else None,
        "status": status,
        "product": product,
        "locale": locale,
        "release": release,
        "source_url": source_url,
    }
    try:
        options = Options(namespace=namespace, source=source, facts=check_facts(facts, FOLDER_FACTS).said)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc

    def work(registry: "Registry", progress: "Progress") -> "ImportReport":
        reader = DocsReader(folder, options, datetime.now(UTC))
        known = Source(name=reader.source, folder=str(folder.resolve()), confirmed=confirm_removals)
        return replace_source(
            registry, reader.items(), parse_record, Defaults(tenant=tenant), source=known, progress=progress
        )

    run_and_report(work, home=home, config=config, as_json=as_json, several=True)
