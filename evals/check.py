"""``python -m evals.check``: the committed figures against those of today. It fails naming each figure that fell.

The shipped gold set is measured whole; a sample of each development set where ``--data`` holds it.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.errors import ClusterError
from evals.errors import EvalError, NotInstalled
from evals.evaluation import Plan, evaluate
from evals.expected import (
    CUT,
    KS,
    Expected,
    Fall,
    SetFigures,
    falls,
    figures_of,
    read_expected,
    rises,
    rounded,
    write_expected,
)
from evals.suites import GOLD, Suite, suite_of
from evals.systems.setup import Setup

EXPECTED: Final = Path(__file__).with_name("expected.yaml")

DATA: Final = Path(__file__).parents[2] / "shared" / "data"

MOST_SECONDS: Final = 180
"""After that no further development set is begun."""

_PARITY: Final = 50


@dataclass(slots=True, kw_only=True)
class Checked:
    """What a check found.

    Attributes:
        falls: figures that are worse than what is written down.
        rises: how many are better.
        changed: sets that are not those that the table is about.
        unchecked: sets and systems that were not measured, each with the reason.
        now: the table with the figures of today in place of those that were measured.
    """

    now: Expected
    falls: list[Fall] = field(default_factory=list)
    rises: int = 0
    changed: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part of the table to check; nothing named means everything."""

    sets: frozenset[str] = frozenset()
    systems: frozenset[str] = frozenset()

    def has(self, set_name: str, system: str) -> bool:
        """Whether this system on this set is to be checked."""
        return (not self.sets or set_name in self.sets) and (not self.systems or system in self.systems)


def check(expected: Expected, data: Path, part: Part, tell: Callable[[str], None] = lambda _: None) -> Checked:
    """Measure what this part of the table is about; ``tell`` hears what is going on.

    Raises:
        BadEvalFile: if a set that is there cannot be read.
    """
    checked = Checked(now=expected.model_copy(update={"sets": dict(expected.sets)}))
    until_s = time.monotonic() + MOST_SECONDS
    for name, written in expected.sets.items():
        systems = [system for system in written.systems if part.has(name, system)]
        suite = suite_of(name, data)
        if not systems:
            continue
        if not suite.there:
            checked.unchecked.append(f"{name}: {suite.queries} is not there")
        elif name != GOLD and time.monotonic() > until_s:
            checked.unchecked.append(f"{name}: {MOST_SECONDS} s are over")
        else:
            tell(name)
            checked.now.sets[name] = _check_set(suite, written, systems, expected.models, checked)
    return checked


def _check_set(
    suite: Suite, written: SetFigures, systems: Sequence[str], models: tuple[str, ...], checked: Checked
) -> SetFigures:
    gold = suite.read()
    figures = dict(written.systems)
    there = (len(gold.tools), len(gold.questions))
    if there != (written.tools, written.queries):
        checked.changed.append(
            f"{suite.name}: {there[0]:,} tools and {there[1]:,} queries, "
            f"the table is about {written.tools:,} and {written.queries:,}"
        )
    setup = Setup(k=max(KS), n=CUT, models=models)
    for system in systems:
        plan = Plan(systems=(system,), setup=setup, ks=KS, cuts=(CUT,), parity=_PARITY)
        try:
            (report,) = evaluate(gold, plan, _silent).reports
        except NotInstalled as exc:
            checked.unchecked.append(f"{suite.name} {exc}")
            continue
        now, wanted = figures_of(report), written.systems[system]
        figures[system] = rounded(now)
        checked.falls += falls(suite.name, system, wanted, now)
        checked.rises += rises(wanted, figures[system])
    return SetFigures(tools=len(gold.tools), queries=len(gold.questions), systems=figures)


@contextmanager
def _silent(_title: str, _total: int) -> Iterator[Callable[[int], None]]:
    yield lambda _: None


@click.command()
@click.option("--update", is_flag=True, help="Write the figures of today into the table, and say which fell.")
@click.option("--set", "sets", multiple=True, metavar="NAME", help="Check this set only; may be given several times.")
@click.option("--system", "systems", multiple=True, metavar="NAME", help="As --set.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=DATA,
    help="Folder of development sets. [default: ../shared/data beside the project]",
)
@click.option(
    "--table", type=click.Path(path_type=Path, dir_okay=False), default=EXPECTED, help="The table of expected figures."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(
    *, update: bool, sets: tuple[str, ...], systems: tuple[str, ...], data: Path, table: Path, as_json: bool
) -> None:
    """Compare the committed figures with those of today; fail naming each that fell."""
    try:
        expected = read_expected(table)
        if unknown := sorted(set(sets) - set(expected.sets)):
            raise click.BadParameter(f"{', '.join(unknown)}: not in {table}", param_hint="--set")
        part = Part(sets=frozenset(sets), systems=frozenset(systems))
        checked = check(expected, data, part, lambda name: click.echo(f"{name} …", err=True))
        if update:
            write_expected(table, checked.now)
    except (EvalError, ClusterError) as exc:
        raise click.ClickException(str(exc)) from exc
    _show(checked, table if update else None, as_json=as_json)
    sys.exit(1 if (checked.falls or checked.changed) and not update else 0)


def _show(checked: Checked, written: Path | None, *, as_json: bool) -> None:
    if as_json:
        body = {
            "fell": [str(fall) for fall in checked.falls],
            "rose": checked.rises,
            "changed": checked.changed,
            "unchecked": checked.unchecked,
            "figures": checked.now.model_dump(mode="json")["sets"],
            "written": None if written is None else str(written),
        }
        click.echo(orjson.dumps(body))
        return
    for line in checked.unchecked:
        click.echo(f"not checked: {line}")
    for line in checked.changed:
        click.echo(f"another set: {line}")
    for fall in checked.falls:
        click.echo(f"fell: {fall}")
    figures = sum(len(figures) for one in checked.now.sets.values() for figures in one.systems.values())
    click.echo(f"Of {figures} figures {len(checked.falls)} fell, {checked.rises} rose.")
    if written is not None:
        click.echo(f"Wrote {written}")


if __name__ == "__main__":
    main()
