"""Session: one evaluation from files to files: read, measure, leave behind what was asked for. It prints nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evals.data import read_gold
from evals.dilution import SizePoint, diluting_tools, recall_by_size
from evals.errors import BadEvalFile, NotInstalled
from evals.evaluation import Evaluation, Plan, Steps, evaluate
from evals.outputs import save, write_misses, write_suggestions
from evals.run import System
from evals.suggestions import Suggestion, suggestions_for
from evals.systems.table import open_system
from shards.record import Access, Record

SIZE_K: Final = 5
"""K of the plot over the size of the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is read; ``access`` and ``limit`` as in ``read_gold``."""

    tools: tuple[Path, ...]
    queries: Path
    limit: int | None
    access: Access | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Files to leave behind, None for those that were not asked for.

    Attributes:
        plots: a folder.
        dilution: catalogues for the plot over the size; see ``diluting_tools``.
    """

    misses: Path | None = None
    suggest: Path | None = None
    save: Path | None = None
    plots: Path | None = None
    dilution: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What came of it; ``suggestions`` are those for the first system, None where they were not asked for."""

    evaluation: Evaluation
    suggestions: tuple[Suggestion, ...] | None
    written: tuple[Path, ...]


def run_session(source: Source, plan: Plan, wanted: Wanted, steps: Steps) -> Session:
    """Measure, and write what is wanted.

    Raises:
        BadEvalFile: if a file cannot be read or written.
        NotInstalled: if a system or the plots need a package that is not there; nothing was measured then.
    """
    _check(wanted)
    gold = read_gold(source.tools, source.queries, source.limit, source.access)
    more = diluting_tools(wanted.dilution) if wanted.plots else ()
    evaluation = evaluate(gold, plan, steps)
    written: list[Path] = []
    if wanted.misses is not None:
        write_misses(wanted.misses, evaluation)
        written.append(wanted.misses)
    found = None
    if wanted.suggest is not None:
        found = suggestions_for(evaluation.measured[0].misses, gold.tools, partial(_reopened, plan))
        write_suggestions(wanted.suggest, found)
        written.append(wanted.suggest)
    if wanted.save is not None:
        save(wanted.save, evaluation, plan, tools=source.tools, queries=source.queries, limit=source.limit)
        written.append(wanted.save)
    if wanted.plots is not None:
        size_k = min(SIZE_K, plan.setup.k)
        sizes = recall_by_size(gold, more, size_k, plan, steps)
        written += _draw(wanted.plots, evaluation, sizes, size_k)
    return Session(evaluation=evaluation, suggestions=found, written=tuple(written))


def _check(wanted: Wanted) -> None:
    """What can be refused is refused before anything is measured."""
    for path in (wanted.misses, wanted.suggest, wanted.save):
        if path is not None and not path.absolute().parent.is_dir():
            raise BadEvalFile(path, "", "cannot be written: its folder does not exist")
    if wanted.plots is not None and find_spec("matplotlib") is None:
        raise NotInstalled("plots", "matplotlib")


def _reopened(plan: Plan, records: Sequence[Record]) -> System:
    return open_system(plan.systems[0], records, plan.setup)


def _draw(folder: Path, evaluation: Evaluation, sizes: Sequence[SizePoint], size_k: int) -> tuple[Path, ...]:
    from evals.plots import draw  # noqa: PLC0415 -- the one user of the optional matplotlib

    return draw(folder, [one.run for one in evaluation.measured], sizes, size_k)
