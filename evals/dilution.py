"""Dilution: the same questions over a catalogue that grows by tools that nobody asked for."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from cluster.errors import UnreadableSource
from cluster.importers.botocore import read_botocore
from cluster.importers.source import Defaults, RawRecord
from evals.data import OPEN, GoldSet, read_tools
from evals.evaluation import Plan, Steps
from evals.metrics import mean, recall
from evals.run import run_system
from evals.systems.table import open_system
from serve_app.record_wire import parse_record
from shards.record import Record, Status

GROWTH: Final = 4
"""From one size of the catalogue to the next."""

MOST_QUESTIONS: Final = 200
"""Spread evenly over the set: every size of every system asks all of them."""

SEED: Final = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePoint:
    """Recall of one system at one size of the catalogue; None where no question has a relevant id."""

    system: str
    tools: int
    recall: float | None


def diluting_tools(paths: Sequence[Path]) -> tuple[Record, ...]:
    """The tools of these files, or without any the installed AWS operations; none where botocore is not installed.

    Raises:
        BadEvalFile: if a file cannot be read.
    """
    return read_tools(paths)[0] if paths else tuple(_installed_operations())


def recall_by_size(gold: GoldSet, more: Sequence[Record], k: int, plan: Plan, steps: Steps) -> tuple[SizePoint, ...]:
    """Recall@k of every system of the plan at growing sizes of the catalogue, the measured one first.

    Where nothing can dilute it there is one size. The tools that are added are drawn by a fixed seed, and each size
    holds those before it.
    """
    known = {tool.id for tool in gold.tools}
    strangers = [record for record in more if record.id not in known]
    strangers = Random(SEED).sample(strangers, len(strangers))  # noqa: S311 -- a sample that can be drawn again
    questions = gold.questions[:: math.ceil(len(gold.questions) / MOST_QUESTIONS)]
    points = []
    for size in _sizes(len(gold.tools), len(gold.tools) + len(strangers)):
        grown = replace(gold, tools=(*gold.tools, *strangers[: size - len(gold.tools)]), questions=questions)
        for name in plan.systems:
            with steps(f"{name}: {size:,} tools", len(questions)) as counted:
                system = open_system(name, grown.tools, plan.setup)
                run = run_system(system, grown, plan.setup.k, 0, counted)
            shares = [
                recall(one.found.ranked, one.question.relevant, k) for one in run.outcomes if one.question.relevant
            ]
            points.append(SizePoint(system=name, tools=size, recall=mean(shares)))
    return tuple(points)


def _sizes(least: int, most: int) -> list[int]:
    sizes = [least]
    while sizes[-1] * GROWTH < most:
        sizes.append(sizes[-1] * GROWTH)
    return sizes if most == least else [*sizes, most]


def _installed_operations() -> Iterator[Record]:
    try:
        items = list(read_botocore())
    except UnreadableSource:
        return
    for item in items:
        if isinstance(item, RawRecord):
            yield replace(parse_record(Defaults().fill(item.values)), access=OPEN, status=Status.ENABLED)
