"""Expected figures: the committed table of what each system reaches on each set, and what fell below it.

It measures nothing; ``evals.check`` does.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from cluster.errors import InvalidConfiguration
from cluster.yaml_model import StrictModel, read_model
from evals.errors import BadEvalFile
from evals.report import Report
from evals.writing import write_bytes

FIGURES: Final = (
    "recall@1", "recall@5", "recall@10", "hit@10", "candidate_recall@100", "ndcg@10", "exact_share",
    "parity_with_full_rank", "no_match_rate", "false_empty_rate",
)  # fmt: skip
"""What is written down of a report. Times are not: they belong to a machine."""

LOWER_IS_BETTER: Final = frozenset({"false_empty_rate"})

KS: Final = (1, 5, 10)
CUT: Final = 100
"""The answer sizes and the candidate cut that ``FIGURES`` needs."""

_DIGITS: Final = 4
_HAIR: Final = 1e-9

_HEADER: Final = """\
# What each system reaches on each set; `make eval-check` fails when a figure falls. The counts say which set it was.
# Shares of all queries of the shipped gold set, and of a seeded sample of each development set under ../shared/data.
# Written by `python -m evals.check --update`: a deliberate act, with a line in the changelog for each figure that fell.
"""


class SetFigures(StrictModel):
    """One set: how many tools and queries it had, and the figures of each system by name."""

    tools: int
    queries: int
    systems: dict[str, dict[str, float]]


class Expected(StrictModel):
    """The file; ``models`` are those of systems with vectors."""

    models: tuple[str, ...] = ()
    sets: dict[str, SetFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """One figure that is worse than what is written down; ``actual`` is None where there is no such figure any more."""

    set_name: str
    system: str
    figure: str
    expected: float
    actual: float | None

    def __str__(self) -> str:
        now = "gone" if self.actual is None else f"{self.actual:.4f}"
        return f"{self.set_name} {self.system} {self.figure}: {now}, expected {self.expected:.4f}"


def read_expected(path: Path) -> Expected:
    """The table in a file.

    Raises:
        BadEvalFile: if it is none.
    """
    try:
        return read_model(Expected, path)
    except InvalidConfiguration as exc:
        raise BadEvalFile(path, "", str(exc).removeprefix(f"{path}: ")) from exc


def write_expected(path: Path, expected: Expected) -> None:
    """Write the table.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    text = yaml.safe_dump(expected.model_dump(mode="json"), sort_keys=False)
    write_bytes(path, (_HEADER + text).encode())


def figures_of(report: Report) -> dict[str, float]:
    """The figures of a report that has them; it was made at ``KS`` and ``CUT``."""
    all_of_them: dict[str, float | None] = {
        **{f"recall@{k}": share for k, share in report["recall"].items()},
        **{f"hit@{k}": share for k, share in report["hit"].items()},
        **{f"candidate_recall@{n}": share for n, share in report["candidate_recall"].items()},
        "ndcg@10": report["ndcg10"],
        "exact_share": report["exact_share"],
        "parity_with_full_rank": report["parity_with_full_rank"],
        "no_match_rate": report["no_match_rate"],
        "false_empty_rate": report["false_empty_rate"],
    }
    return {name: share for name in FIGURES if (share := all_of_them[name]) is not None}


def rounded(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures as they are written down: rounded to the worse side, so that the same run passes."""
    scale = 10**_DIGITS
    return {
        name: (math.ceil(share * scale - _HAIR) if name in LOWER_IS_BETTER else math.floor(share * scale + _HAIR))
        / scale
        for name, share in figures.items()
    }


def falls(set_name: str, system: str, expected: Mapping[str, float], actual: Mapping[str, float]) -> Iterator[Fall]:
    """Every figure that is worse than expected."""
    for figure, wanted in expected.items():
        now = actual.get(figure)
        if now is None or _gain(figure, wanted, now) < -_HAIR:
            yield Fall(set_name=set_name, system=system, figure=figure, expected=wanted, actual=now)


def rises(expected: Mapping[str, float], actual: Mapping[str, float]) -> int:
    """How many figures are better than expected."""
    return sum(
        figure in actual and _gain(figure, wanted, actual[figure]) > _HAIR for figure, wanted in expected.items()
    )


def _gain(figure: str, before: float, now: float) -> float:
    return before - now if figure in LOWER_IS_BETTER else now - before
