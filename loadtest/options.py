"""Options that several benchmarks share. It reads no file but the queries."""

from pathlib import Path
from typing import Final

import click

from loadtest.queries import read_queries
from loadtest.results import RESULTS

WORK: Final = Path(".bench")
"""Registries, snapshots and the peers' indexes; whatever is there is used again, deleting it costs time only."""

catalogue_option = click.option(
    "--catalogue",
    "file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File of tools as `shortlist import` takes it; the AWS operations that come with botocore if not given.",
)
queries_option = click.option(
    "--queries",
    "query_files",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="JSON lines with a field `query`; may be given several times. Our own small gold set if not given.",
)
work_option = click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    default=WORK,
    show_default=True,
    help="Folder of indexes and registries that later runs use again.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=RESULTS,
    show_default=False,
    help="Folder of the JSON file, the plots and the summary; loadtest/results if not given.",
)


def all_queries(files: tuple[Path, ...]) -> tuple[str, ...]:
    """The distinct queries of all files, in their order; those of the gold set where no file is named."""
    return tuple(dict.fromkeys(query for file in files or (None,) for query in read_queries(file)))


def own_folder(work: Path) -> Path:
    """``work``, made if it is not there, and invisible to git."""
    work.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignore = work / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return work.absolute()


def tell(text: str) -> None:
    """One line of progress on standard error."""
    click.echo(text, err=True)


def sizes_of(text: str) -> tuple[int, ...]:
    """Whole numbers joined by commas, ascending.

    Raises:
        click.BadParameter: for anything else.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) for part in parts):
        raise click.BadParameter(
            f"{text!r} is not allowed; expected whole numbers joined by commas", param_hint="--sizes"
        )
    return tuple(sorted({int(part) for part in parts}))
