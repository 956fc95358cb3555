"""Figures: one look for all plots of the benchmarks. It knows no benchmark.

Callers import it when results are written, because matplotlib is an extra.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES: Final = (4.8, 3.9)
_DPI: Final = 130
_FEW: Final = 5
_MOST_MARKED: Final = 25

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Okabe and Ito's and a grey: colour-blind readers tell them apart, too."""

_STYLES: Final = ("-", "--", "-.", ":")

Points = Sequence[tuple[float, float]]


def can_draw() -> bool:
    """Whether matplotlib is installed; results without plots are results, too."""
    return find_spec("matplotlib") is not None


def sheet(titles: Sequence[str], heading: str) -> "tuple[Figure, Sequence[Axes]]":
    """One figure with a plot beside the other."""
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra

    figure = Figure(figsize=(_INCHES[0] * len(titles), _INCHES[1]), dpi=_DPI, layout="constrained")
    figure.suptitle(heading, fontsize=11, x=0.01, ha="left")
    plots = figure.subplots(1, len(titles), squeeze=False)[0]
    for axes, title in zip(plots, titles, strict=True):
        axes.set_title(title, loc="left", fontsize=10)
        axes.grid(visible=True, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, plots


def line(axes: "Axes", number: int, label: str, points: Points) -> None:
    """One line; ``number`` picks its colour and style, so that the same system looks the same everywhere."""
    axes.plot(
        [across for across, _ in points],
        [up for _, up in points],
        label=label,
        color=COLOURS[number % len(COLOURS)],
        linestyle=_STYLES[number % len(_STYLES)],
        marker="o" if len(points) <= _MOST_MARKED else "",
        markersize=4,
        linewidth=1.6,
    )


def logarithmic(axes: "Axes", *, ticks: Sequence[float], upwards: bool = True) -> None:
    """A logarithmic axis across with these ticks, and with ``upwards`` the other one, too."""
    from matplotlib.ticker import NullFormatter, NullLocator  # noqa: PLC0415 -- an extra

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(list(ticks), [f"{tick:,.6g}" for tick in ticks], rotation=35 if len(ticks) > _FEW else 0)
    if upwards:
        logarithmic_upwards(axes)


def logarithmic_upwards(axes: "Axes") -> None:
    """A logarithmic axis upwards; its figures are written out, between powers of ten where there are few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator  # noqa: PLC0415 -- an extra

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))


def saved(figure: "Figure", path: Path, *, legend: bool = True) -> Path:
    """Write the figure as PNG; with ``legend`` that of its first plot stands below all of them."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if legend and labels:
        figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=min(4, len(labels)))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path
