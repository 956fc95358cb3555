"""``shortlist eval``: retrieval quality on labelled queries. The one door from the service to ``evals``.

It runs in process, without Ray; ``evals`` and what it needs are imported only when the command runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from evals.systems.names import NAMES, OWN
from serve_app.cli.eval_options import (
    OFF,
    Caller,
    Measuring,
    Outputs,
    caller_options,
    measuring_options,
    output_options,
)

if TYPE_CHECKING:
    from evals.evaluation import Plan
    from evals.session import Session, Source

_EXAMPLES: Final = """\
\b
Examples:
  shortlist eval --system lexical --system bm25
  shortlist eval --tools tools.jsonl --queries queries.jsonl --misses misses.jsonl
  shortlist eval --init my-evals --tools tools.jsonl
  shortlist eval --answers --save answers.json --plots plots
"""


@click.command(epilog=_EXAMPLES)
@click.option(
    "--tools",
    "tool_files",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Catalogue in any format of shortlist import; several are joined by id, the first wins.",
)
@click.option(
    "--queries",
    "queries_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Labelled queries (.jsonl, .jsonl.gz or .parquet). [default, with --tools: the shipped gold set]",
)
@click.option(
    "--init",
    "new_folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Start a gold set for --tools in a folder, and do nothing else.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Use only the first queries.")
@click.option(
    "--answers",
    is_flag=True,
    help="Measure answers over the shipped articles instead, and do nothing else; more by python -m evals.answers.",
)
@measuring_options(NAMES)
@caller_options
@output_options
def command(
    *,
    tool_files: tuple[Path, ...],
    queries_file: Path | None,
    new_folder: Path | None,
    limit: int | None,
    answers: bool,
    measuring: Measuring,
    caller: Caller,
    outputs: Outputs,
) -> None:
    """Measure retrieval quality on labelled queries, in process.

    Recall, hit rate and NDCG of the answers, recall of the candidates, how many answers prove themselves exact and
    whether they are, typed misses, and the time of a search; with several systems, how sure their differences are.
    Without --tools and --queries it takes the small gold set that comes with Shortlist.
    """
    from cluster.errors import ClusterError  # noqa: PLC0415 -- as the module says
    from evals.errors import EvalError  # noqa: PLC0415

    try:
        if answers:
            _answers(outputs)
        elif new_folder is not None:
            _start(tool_files, new_folder, as_json=outputs.as_json)
        else:
            _evaluate(_source(tool_files, queries_file, limit, caller), measuring, caller, outputs)
    except (EvalError, ClusterError) as exc:
        raise click.ClickException(str(exc)) from exc


def _answers(outputs: Outputs) -> None:
    from evals.answers import evaluate  # noqa: PLC0415 -- as the module says

    plot = None if outputs.plots is None else outputs.plots / "answers.png"
    click.echo(evaluate(save=outputs.save, plot=plot, as_json=outputs.as_json))


def _source(tool_files: tuple[Path, ...], queries_file: Path | None, limit: int | None, caller: Caller) -> "Source":
    """What to read; the shipped gold set where no file is named."""
    from evals.data import OPEN  # noqa: PLC0415 -- as the module says
    from evals.session import Source  # noqa: PLC0415

    if not tool_files and queries_file is None:
        gold = Path(str(files("evals"))) / "gold"
        tool_files, queries_file = (gold / "tools.jsonl",), gold / "queries.jsonl"
    if not tool_files or queries_file is None:
        raise click.UsageError("--tools and --queries belong together: give both, or neither for the shipped gold set.")
    access = None if caller.roles else OPEN
    return Source(tools=tool_files, queries=queries_file, limit=limit, access=access)


def _start(tool_files: tuple[Path, ...], folder: Path, *, as_json: bool) -> None:
    import orjson  # noqa: PLC0415 -- as the module says

    from evals.starter import start_gold_set  # noqa: PLC0415

    if not tool_files:
        raise click.UsageError("--init needs --tools: the catalogue that the questions are about.")
    written = [str(path) for path in start_gold_set(tool_files, folder)]
    if as_json:
        click.echo(orjson.dumps({"written": written}))
    else:
        click.echo("\n".join(f"Wrote {path}" for path in written))


def _evaluate(source: "Source", measuring: Measuring, caller: Caller, outputs: Outputs) -> None:
    from evals.session import Wanted, run_session  # noqa: PLC0415 -- as the module says

    if outputs.suggest and measuring.systems[0] not in OWN:
        raise click.UsageError(f"--suggest needs one of {', '.join(OWN)} as the first --system.")
    wanted = Wanted(
        misses=outputs.misses,
        suggest=outputs.suggest,
        save=outputs.save,
        plots=outputs.plots,
        dilution=outputs.dilution,
    )
    plan = _plan(measuring, caller, places=bool(outputs.misses or outputs.suggest))
    _show(run_session(source, plan, wanted, _progress), as_json=outputs.as_json)


def _plan(measuring: Measuring, caller: Caller, *, places: bool) -> "Plan":
    from cluster.abstention import Strictness  # noqa: PLC0415 -- as the module says
    from evals.evaluation import Plan  # noqa: PLC0415
    from evals.systems.setup import EVERYTHING, UNLIMITED_TOKENS, Setup  # noqa: PLC0415
    from shards.scope import Narrowing  # noqa: PLC0415

    setup = Setup(
        k=max(measuring.ks),
        n=max(*measuring.cuts, *measuring.ks),
        shards=measuring.shards,
        scope=caller.scope() if caller.roles else EVERYTHING,
        narrowing=Narrowing(namespaces=frozenset(caller.namespaces) or None),
        evidence_tokens=measuring.evidence_tokens or UNLIMITED_TOKENS,
        abstention=None if measuring.abstention == OFF else Strictness(measuring.abstention),
        adaptive=measuring.adaptive,
        models=measuring.models,
        vector_cache=measuring.vector_cache,
    )
    return Plan(
        systems=tuple(dict.fromkeys(measuring.systems)),
        setup=setup,
        ks=measuring.ks,
        cuts=measuring.cuts,
        parity=measuring.parity,
        places=places,
    )


def _show(session: "Session", *, as_json: bool) -> None:
    import orjson  # noqa: PLC0415 -- as the module says
    from rich.console import Console  # noqa: PLC0415

    from evals.outputs import body_of  # noqa: PLC0415
    from evals.suggestions import summary_of  # noqa: PLC0415
    from evals.tables import tables  # noqa: PLC0415

    written = [str(path) for path in session.written]
    if as_json:
        suggested = {} if session.suggestions is None else {"suggestions": summary_of(session.suggestions)}
        click.echo(orjson.dumps({**body_of(session.evaluation), **suggested, "written": written}))
        return
    Console().print(tables(session.evaluation.reports, session.evaluation.differences))
    if session.suggestions is not None:
        summary = summary_of(session.suggestions)
        click.echo("{made} suggestions, {closing} would close their own query. {caveat}".format(**summary))
    click.echo("".join(f"Wrote {path}\n" for path in written), nl=False)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, so that standard output stays clean for ``--json``."""
    from rich.console import Console  # noqa: PLC0415 -- as the module says
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)
