"""Answers in figures: recall, precision, answers found, tokens, times; as one object, as lines, and as a plot.

It measures nothing. Shares are 0..1, tokens are estimated, times are of one process on this machine.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from typing_extensions import TypedDict

from evals.answer_run import CANDIDATES, EVIDENCE, WAYS, Asked, Measured, of_way
from evals.errors import BadEvalFile, NotInstalled
from evals.metrics import percentile

_SHOWN: Final = 12


class WayFigures(TypedDict):
    """One way of reading: answers found over all questions, and what they cost."""

    questions: int
    found: int
    found_share: float
    tokens: float
    batch_tokens: float
    saved_share: float
    calls: float
    p95_ms: float


class TokenFigures(TypedDict):
    """Where the tokens of one reading go, on average: a prompt without evidence, each piece in it, and the output.

    ``most_saved`` is what stopping after the whole first piece saves of a batch, for each number of pieces: all other
    pieces, and nothing of what every reading pays. An excerpt of the first piece saves more.
    """

    fixed: float
    piece: float
    output: float
    most_saved: dict[str, float]


class AnswerFigures(TypedDict):
    """A measurement; ``first`` is about questions whose answer stands in the first piece of evidence."""

    questions: int
    recall_at_40: float
    precision_at_4: float
    precision_ceiling: float
    ways: dict[str, WayFigures]
    first: dict[str, WayFigures]
    by_pieces: dict[str, dict[str, WayFigures]]
    first_by_pieces: dict[str, dict[str, WayFigures]]
    tokens: TokenFigures
    by_lang: dict[str, dict[str, str]]
    by_kind: dict[str, dict[str, str]]
    by_shape: dict[str, dict[str, str]]
    sequential_loses: dict[str, list[str]]
    sequential_costs_more: dict[str, list[str]]
    leaks: list[str]


def figures_of(measured: Measured) -> AnswerFigures:
    """Everything of a measurement, rounded."""
    asked = measured.asked
    first = [one for one in asked if one.first]
    return {
        "questions": len(list(of_way(asked, "sequential"))),
        "recall_at_40": round(fmean(one.recall for one in measured.looked), 4),
        "precision_at_4": round(fmean(one.precision for one in measured.looked), 4),
        "precision_ceiling": round(fmean(one.ceiling for one in measured.looked), 4),
        "ways": _ways(asked),
        "first": _ways(first),
        "by_pieces": {str(pieces): _ways(curve) for pieces, curve in measured.curves.items()},
        "first_by_pieces": {
            str(pieces): _ways([one for one in curve if one.first]) for pieces, curve in measured.curves.items()
        },
        "tokens": _tokens(measured),
        "by_lang": _grouped(asked, [one.question.lang for one in asked]),
        "by_kind": _grouped(asked, [one.question.kind for one in asked]),
        "by_shape": _grouped(asked, [one.question.shape for one in asked]),
        "sequential_loses": {str(pieces): _lost(curve) for pieces, curve in measured.curves.items()},
        "sequential_costs_more": {
            str(pieces): [one.question.id for one in of_way(curve, "sequential") if one.tokens > one.batch_tokens]
            for pieces, curve in measured.curves.items()
        },
        "leaks": [f"{leak.question.id}: {leak.record_id}" for leak in measured.leaks],
    }


def _lost(asked: Sequence[Asked]) -> list[str]:
    """Questions that batch answers right and sequential does not."""
    right = {one.question.id for one in of_way(asked, "batch") if one.right}
    return [one.question.id for one in of_way(asked, "sequential") if not one.right and one.question.id in right]


def _tokens(measured: Measured) -> TokenFigures:
    read = [one for one in of_way(measured.curves[max(measured.curves)], "batch") if one.pieces]
    fixed = fmean(one.fixed_tokens for one in read)
    piece = fmean(one.evidence_tokens / one.pieces for one in read)
    output = fmean(one.batch_tokens - one.fixed_tokens - one.evidence_tokens for one in read)
    most = {str(n): round((n - 1) * piece / (fixed + n * piece + output), 4) for n in measured.curves}
    return {"fixed": round(fixed, 1), "piece": round(piece, 1), "output": round(output, 1), "most_saved": most}


def _ways(asked: Sequence[Asked]) -> dict[str, WayFigures]:
    return {way: _figures(ones) for way in WAYS if (ones := list(of_way(asked, way)))}


def _figures(ones: Sequence[Asked]) -> WayFigures:
    tokens, batch = sum(one.tokens for one in ones), sum(one.batch_tokens for one in ones)
    found = sum(one.right for one in ones)
    return {
        "questions": len(ones),
        "found": found,
        "found_share": round(found / len(ones), 4),
        "tokens": round(tokens / len(ones), 1),
        "batch_tokens": round(batch / len(ones), 1),
        "saved_share": round(1 - tokens / batch, 4) if batch else 0.0,
        "calls": round(fmean(0 if one.answered is None else one.answered.work.calls for one in ones), 3),
        "p95_ms": round(percentile(sorted(one.elapsed_ms for one in ones), 0.95), 2),
    }


def _grouped(asked: Sequence[Asked], names: Sequence[str]) -> dict[str, dict[str, str]]:
    groups: dict[str, list[Asked]] = {}
    for one, name in zip(asked, names, strict=True):
        groups.setdefault(name, []).append(one)
    return {
        name: {way: f"{figures['found']}/{figures['questions']}" for way, figures in _ways(ones).items()}
        for name, ones in sorted(groups.items())
    }


def lines_of(figures: AnswerFigures) -> Iterator[str]:
    """The figures for people."""
    yield f"{figures['questions']} questions, {EVIDENCE} pieces of evidence"
    yield (
        f"recall@{CANDIDATES} {figures['recall_at_40']:.3f}   precision@{EVIDENCE} {figures['precision_at_4']:.3f}"
        f" (at most {figures['precision_ceiling']:.3f} can be reached)   leaks {len(figures['leaks'])}"
    )
    yield from _table("all questions", figures["ways"])
    yield from _table("the answer stands in the first piece", figures["first"])
    tokens = figures["tokens"]
    yield (
        f"tokens of a reading: {tokens['fixed']:.0f} without evidence, {tokens['piece']:.0f} a piece, "
        f"{tokens['output']:.0f} of output"
    )
    for pieces, ways in figures["by_pieces"].items():
        yield (
            f"  {pieces:>2} pieces: sequential saves {_saved(figures['first_by_pieces'][pieces])} where the first "
            f"answers ({tokens['most_saved'][pieces]:.0%} by reading it whole); {_saved(ways)} over all"
        )
    for title in ("by_lang", "by_kind", "by_shape"):
        yield f"{title}: " + "; ".join(
            f"{name} " + " ".join(f"{way[:4]} {share}" for way, share in ways.items())
            for name, ways in figures[title].items()
        )
    loses = figures["sequential_loses"][str(EVIDENCE)]
    yield f"sequential loses against batch: {', '.join(loses[:_SHOWN]) or 'nowhere'}"
    more = figures["sequential_costs_more"][str(EVIDENCE)]
    yield f"sequential costs more than batch on {len(more)}: {', '.join(more[:_SHOWN])}"


def _saved(ways: dict[str, WayFigures]) -> str:
    if "sequential" not in ways:
        return "nothing"
    one, batch = ways["sequential"], ways["batch"]
    return f"{one['saved_share']:.0%} (found {one['found']}, batch {batch['found']}, of {one['questions']})"


def _table(title: str, ways: dict[str, WayFigures]) -> Iterator[str]:
    yield f"{title}:"
    for way, one in ways.items():
        yield (
            f"  {way:<11} found {one['found']:>3}/{one['questions']} ({one['found_share']:.3f})  tokens "
            f"{one['tokens']:>7.1f}  saved {one['saved_share']:>6.1%}  calls {one['calls']:.2f}  p95 {one['p95_ms']} ms"
        )


def draw(figures: AnswerFigures, path: Path) -> None:
    """Tokens a question against the share of answers found, one line per way, a point per number of pieces.

    Raises:
        NotInstalled: without matplotlib.
        BadEvalFile: if the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra
    except ImportError as exc:
        raise NotInstalled("a plot", "matplotlib") from exc
    figure = Figure(figsize=(7.5, 4.5), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    for way, colour in zip(WAYS, ("#0072b2", "#d55e00", "#009e73"), strict=True):
        points = [(ways[way]["tokens"], ways[way]["found_share"]) for ways in figures["by_pieces"].values()]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=4, label=way, color=colour)
        for pieces, point in zip(figures["by_pieces"], points, strict=True):
            axes.annotate(pieces, point, textcoords="offset points", xytext=(4, 4), fontsize=7, color=colour)
    axes.set_title("Pieces of evidence at each point", loc="left", fontsize=10)
    axes.set_xlabel("tokens a question, in and out (estimated)")
    axes.set_ylabel("answers found")
    axes.set_ylim(0, 1)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except OSError as exc:
        raise BadEvalFile(path, "", f"cannot be written: {exc.strerror}") from exc
