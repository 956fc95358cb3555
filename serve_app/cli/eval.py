"""``shortlist eval``: retrieval quality on labelled queries. The one door from the service to ``evals``.

It runs in process, without Ray; ``evals`` and what it needs are imported only when the command runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from evals.data import GoldSet
    from evals.run import System

SYSTEMS: Final = ("shortlist", "full-rank", "bm25")

_EXAMPLE: Final = """\
\b
Example:
  shortlist eval --tools evals/gold/tools.jsonl --queries evals/gold/queries.jsonl
"""


MAX_CUT: Final = 10_000


def cuts_of(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """The numbers of ``1,5,10``, ascending, each once.

    Raises:
        BadParameter: if one is no number from 1 to ``MAX_CUT``; click names the option.
    """
    parts = value.split(",")
    if not all(part.strip().isdecimal() and 1 <= int(part) <= MAX_CUT for part in parts):
        raise click.BadParameter(f"{value!r} is not a list of numbers from 1 to {MAX_CUT:,} such as 1,5,10")
    return tuple(sorted({int(part) for part in parts}))


@click.command(epilog=_EXAMPLE)
@click.option(
    "--tools",
    "tool_files",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    metavar="FILE",
    help="Catalogue in any format of shortlist import; several are joined by id, the first wins.",
)
@click.option(
    "--queries",
    "queries_file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="Labelled queries (.jsonl, .jsonl.gz or .parquet).",
)
@click.option("--k", "ks", callback=cuts_of, default="1,5,10,15,20", show_default=True, help="Answer sizes to report.")
@click.option(
    "--candidates",
    "cuts",
    callback=cuts_of,
    default="20,50,100,200",
    show_default=True,
    help="Candidate cuts to report.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Use only the first queries.")
@click.option("--shards", type=click.IntRange(1, 64), default=1, show_default=True, help="Shards of the index.")
@click.option(
    "--system",
    "system_names",
    type=click.Choice(SYSTEMS),
    multiple=True,
    default=("shortlist",),
    show_default=True,
    help="What to measure; several are shown side by side.",
)
@click.option(
    "--parity",
    "parity_sample",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    help="Compare up to this many exact answers with a ranking of everything.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (the other systems under 'beside').")
def command(  # noqa: PLR0917 -- click passes options by keyword
    tool_files: tuple[Path, ...],
    queries_file: Path,
    ks: tuple[int, ...],
    cuts: tuple[int, ...],
    limit: int | None,
    shards: int,
    system_names: tuple[str, ...],
    parity_sample: int,
    *,
    as_json: bool,
) -> None:
    """Measure retrieval quality on labelled queries, in process.

    Recall, hit rate and NDCG of the answers, recall of the candidates, how many answers prove themselves exact and
    whether they are, typed misses, and the time of a search.
    """
    import orjson  # noqa: PLC0415 -- as the module says
    from rich.console import Console  # noqa: PLC0415

    from evals.data import read_gold  # noqa: PLC0415
    from evals.errors import EvalError  # noqa: PLC0415
    from evals.report import report_of  # noqa: PLC0415
    from evals.run import run_system  # noqa: PLC0415
    from evals.tables import tables  # noqa: PLC0415

    try:
        gold = read_gold(tool_files, queries_file, limit)
    except EvalError as exc:
        raise click.ClickException(str(exc)) from exc
    reports = []
    for name in dict.fromkeys(system_names):
        with _progress(f"{name}: indexing", len(gold.tools)) as step:
            system = _system(name, gold, k=max(ks), n=max(*cuts, *ks), shards=shards, step=step)
        with _progress(f"{name}: queries", len(gold.questions)) as step:
            reports.append(report_of(run_system(system, gold, parity_sample, step), ks, cuts))
    if as_json:
        first, *others = reports
        click.echo(orjson.dumps({**first, "beside": {other["system"]: other for other in others}}))
    else:
        Console().print(tables(reports))


def _system(name: str, gold: "GoldSet", *, k: int, n: int, shards: int, step: Callable[[int], None]) -> "System":
    from evals.systems import Bm25System, FullRankSystem, ShortlistSystem  # noqa: PLC0415 -- as the module says

    if name == Bm25System.name:
        return Bm25System(gold.tools, k=k, n=n, progress=step)
    kind = FullRankSystem if name == FullRankSystem.name else ShortlistSystem
    return kind(gold.tools, k=k, n=n, shards=shards, progress=step)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, so that standard output stays clean for ``--json``."""
    from rich.console import Console  # noqa: PLC0415 -- as the module says
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)
