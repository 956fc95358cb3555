"""Options that several benchmarks share, and what they come to. It measures nothing."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Final

import click

from loadtest.catalogue import Catalogue
from loadtest.queries import read_queries
from loadtest.results import RESULTS
from loadtest.service.homes import Homes

WORK: Final = Path(".bench")
"""Registries, snapshots and the peers' indexes; whatever is there is used again, deleting it costs time only."""

Command = Callable[..., None]
Option = Callable[[Command], Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a benchmark stands on, as its options name it.

    Attributes:
        catalogue: the records.
        query_files: JSON lines with a field ``query``; our own gold set if there is none.
        folder: of indexes and registries that later runs use again; it is there.
    """

    catalogue: Catalogue
    query_files: tuple[Path, ...]
    folder: Path

    def queries(self) -> tuple[str, ...]:
        """The distinct queries of all files, in their order."""
        return tuple(dict.fromkeys(query for file in self.query_files or (None,) for query in read_queries(file)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a service is measured, as the options name it.

    Attributes:
        home: measured in place of one made of the catalogue, if not None.
        seconds: of one sample.
        rounds: samples of each system and level; medians over them count.
    """

    home: Path | None
    seconds: int
    rounds: int

    def place(self, ground: Ground) -> Path:
        """The home that is measured."""
        return self.home or Homes(catalogue=ground.catalogue, folder=ground.folder, tell=tell).of()


def ground_options(command: Command) -> Command:
    """Adds the options that every benchmark has to a command, which gets them as ``ground``."""

    @wraps(command)
    def run(*, file: Path | None, query_files: tuple[Path, ...], work: Path, **others: object) -> None:
        ground = Ground(catalogue=Catalogue(file), query_files=query_files, folder=own_folder(work))
        command(ground=ground, **others)

    return _decorated(run, _GROUND)


def sampling_options(*, seconds: int, rounds: int) -> Callable[[Command], Command]:
    """Adds the options of a service's samples to a command, which gets them as ``sampling``; with these defaults."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(*, home: Path | None, seconds: int, rounds: int, **others: object) -> None:
            command(sampling=Sampling(home=home, seconds=seconds, rounds=rounds), **others)

        return _decorated(run, (_HOME, _seconds(seconds), rounds_option(rounds)))

    return decorate


def rounds_option(default: int) -> Option:
    """How often everything is measured."""
    return click.option(
        "--rounds", type=click.IntRange(1, 20), default=default, show_default=True, help="Medians over them count."
    )


def sizes_option(default: str) -> Option:
    """Numbers of records, as ``sizes_of`` reads them."""
    return click.option(
        "--sizes", default=default, show_default=True, help="Records, joined by commas; copies fill up."
    )


out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=RESULTS,
    show_default=False,
    help="Folder of the JSON file, the plots and the summary; loadtest/results if not given.",
)
scopes_option = click.option(
    "--scopes", type=click.IntRange(1, 100_000), default=1_000, show_default=True, help="Different callers."
)
hits_option = click.option("--k", type=click.IntRange(1, 48), default=10, show_default=True, help="Hits asked for.")
shards_option = click.option(
    "--shards",
    type=click.IntRange(1, 64),
    callback=lambda _context, _option, number: number or len(os.sched_getaffinity(0)),
    help="Number of shards; one for each core if not given.",
)

_GROUND: Final = (
    click.option(
        "--catalogue",
        "file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="File of tools as `shortlist import` takes it; the AWS operations that come with botocore if not given.",
    ),
    click.option(
        "--queries",
        "query_files",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        multiple=True,
        help="JSON lines with a field `query`; may be given several times. Our own small gold set if not given.",
    ),
    click.option(
        "--work",
        type=click.Path(path_type=Path, file_okay=False),
        default=WORK,
        show_default=True,
        help="Folder of indexes and registries that later runs use again.",
    ),
)
_HOME: Final = click.option(
    "--home", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Measure this home instead."
)


def _seconds(default: int) -> Option:
    return click.option(
        "--seconds", type=click.IntRange(1, 60), default=default, show_default=True, help="Length of one sample."
    )


def _decorated(run: Command, options: Sequence[Option]) -> Command:
    for option in reversed(options):
        run = option(run)
    return run


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
