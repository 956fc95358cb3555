"""Outputs: what an evaluation leaves behind, as JSON for programs and as files. It measures nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from evals import misses, suggestions
from evals.evaluation import Evaluation, Plan
from evals.provenance import Provenance, provenance
from evals.report import Report
from evals.significance import Difference
from evals.suggestions import Suggestion
from evals.writing import write_json, write_jsonl


class Body(Report):
    """The first system's report, the others' under ``beside``, and how sure its differences from each of them are."""

    beside: dict[str, Report]
    significance: dict[str, dict[str, Difference]]


class SetupRow(TypedDict):
    """How the systems were built and asked."""

    shards: int
    evidence_tokens: int
    abstention: str | None
    adaptive: bool
    models: list[str]
    parity: int


class Saved(TypedDict):
    """``evals/latest.json``: every figure of an evaluation, and all that is needed to make them again."""

    provenance: Provenance
    tools: list[str]
    queries: str
    limit: int | None
    setup: SetupRow
    reports: dict[str, Report]
    significance: dict[str, dict[str, Difference]]


def body_of(evaluation: Evaluation) -> Body:
    """The evaluation as one JSON object."""
    first, *others = evaluation.reports
    beside = {other["system"]: other for other in others}
    return Body(**first, beside=beside, significance=evaluation.differences)


def save(
    path: Path, evaluation: Evaluation, plan: Plan, *, tools: Sequence[Path], queries: Path, limit: int | None
) -> None:
    """Write all figures with their provenance.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    saved = Saved(
        provenance=provenance(),
        tools=[_named(path) for path in tools],
        queries=_named(queries),
        limit=limit,
        setup=SetupRow(
            shards=plan.setup.shards,
            evidence_tokens=plan.setup.evidence_tokens,
            abstention=plan.setup.abstention,
            adaptive=plan.setup.adaptive,
            models=list(plan.setup.models),
            parity=plan.parity,
        ),
        reports={report["system"]: report for report in evaluation.reports},
        significance=evaluation.differences,
    )
    write_json(path, dict(saved))


def write_misses(path: Path, evaluation: Evaluation) -> None:
    """Write the misses of every system, one per line.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    write_jsonl(path, [dict(misses.row_of(miss)) for one in evaluation.measured for miss in one.misses])


def write_suggestions(path: Path, found: Sequence[Suggestion]) -> None:
    """Write suggestions, one per line.

    Raises:
        BadEvalFile: if the file cannot be written.
    """
    write_jsonl(path, [dict(suggestions.row_of(one)) for one in found])


def _named(path: Path) -> str:
    """The path as it was given; that of the shipped gold set without the place where this is installed."""
    root = Path(__file__).parents[1]
    return str(path.relative_to(root) if path.is_relative_to(root / "evals") else path)
