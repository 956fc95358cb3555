"""Plots of an evaluation as PNG files, one line per system, in every plot in the same colour. It measures nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator, PercentFormatter

from evals.curves import Curve, longest_list, recall_by_k, recall_by_n
from evals.dilution import SizePoint
from evals.errors import BadEvalFile
from evals.metrics import percentile
from evals.run import Run

_INCHES: Final = (8.4, 4.5)
_DPI: Final = 150

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#8c564b")
"""Okabe and Ito's, a grey and a brown: colour-blind readers tell them apart, too."""

_STYLES: Final = ("-", "--", "-.", ":")
_FEW: Final = 10

_MOST_MARKED: Final = 25
"""Points up to which a line shows each of them."""


def draw(folder: Path, runs: Sequence[Run], sizes: Sequence[SizePoint], size_k: int) -> tuple[Path, ...]:
    """Draw every plot into a folder, which is made where it is missing; returns the files.

    ``sizes`` are points of recall@``size_k``; there is no plot of a single size.

    Raises:
        BadEvalFile: if a file cannot be written.
    """
    over = f"{len(runs[0].outcomes):,} queries over {runs[0].tools:,} tools"
    by_k = {run.system: recall_by_k(run) for run in runs}
    by_n = {run.system: recall_by_n(run, longest_list(runs)) for run in runs}
    figures = {
        "recall_by_k": _shares(by_k, over, "K: records in the answer", "Recall@K"),
        "recall_by_n": _shares(by_n, over, "N: candidates kept", "Candidate recall@N"),
        "latency": _latency(runs, over),
    }
    if len({point.tools for point in sizes}) > 1:
        figures["recall_by_size"] = _by_size(sizes, size_k)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_saved(figure, folder / f"{name}.png") for name, figure in figures.items())
    except OSError as exc:
        raise BadEvalFile(folder, "", f"cannot be written: {exc.strerror}") from exc


def _shares(curves: Mapping[str, Curve], title: str, cut: str, share: str) -> Figure:
    figure, axes = _axes(title, cut, share)
    for number, (system, curve) in enumerate(curves.items()):
        _line(axes, number, system, curve)
    longest = max((len(curve) for curve in curves.values()), default=1)
    if longest > _MOST_MARKED:
        _logarithmic(axes, [cut for cut in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000) if cut <= longest])
    else:
        axes.set_xticks([1, *range(5, longest + 1, 5)] if longest >= _FEW else range(1, longest + 1))
    return _finished(figure)


def _by_size(sizes: Sequence[SizePoint], k: int) -> Figure:
    figure, axes = _axes("The same queries over more and more tools", "tools in the catalogue", f"Recall@{k}")
    for number, system in enumerate(dict.fromkeys(point.system for point in sizes)):
        own = [point for point in sizes if point.system == system]
        _line(axes, number, system, [(point.tools, point.recall) for point in own if point.recall is not None])
    _logarithmic(axes, sorted({point.tools for point in sizes}))
    return _finished(figure)


def _latency(runs: Sequence[Run], title: str) -> Figure:
    figure, axes = _axes(title, "time of a search, ms", "searches that took no longer")
    for number, run in enumerate(runs):
        times = sorted(one.found.elapsed_ms for one in run.outcomes)
        steps = [(time_ms, (rank + 1) / len(times)) for rank, time_ms in enumerate(times)]
        label = f"{run.system}\np50 {percentile(times, 0.5):.2g}, p95 {percentile(times, 0.95):.2g} ms"
        _line(axes, number, label, steps)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(0, 1.02)
    return _finished(figure)


def _axes(title: str, horizontal: str, vertical: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(visible=True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _line(axes: Axes, number: int, label: str, points: Sequence[tuple[float, float]]) -> None:
    """Colour and style by the system's place, so that lines that run together can still be told apart."""
    axes.plot(
        [across for across, _ in points],
        [up for _, up in points],
        label=label,
        color=_COLOURS[number % len(_COLOURS)],
        linestyle=_STYLES[number % len(_STYLES)],
        marker="o" if len(points) <= _MOST_MARKED else "",
        markersize=4,
        linewidth=1.8,
    )


def _logarithmic(axes: Axes, ticks: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(list(ticks), [f"{tick:,}" for tick in ticks])


def _finished(figure: Figure) -> Figure:
    """The legend stands beside the plot: inside it would cover a line sooner or later."""
    figure.legend(frameon=False, loc="outside right upper")
    return figure


def _saved(figure: Figure, path: Path) -> Path:
    figure.savefig(path)
    return path
