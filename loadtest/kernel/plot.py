"""The plot of the kernel benchmark: CPU per query over the size of the catalogue, one plot for each share."""

from pathlib import Path

from loadtest.figures import can_draw, line, logarithmic, saved, sheet
from loadtest.results import Report
from loadtest.tiers import Share


def draw(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write kernel.png; nothing where matplotlib is not installed."""
    if not can_draw():
        return ()
    points = report["points"]
    heading = f"CPU per query, one thread, {report['hits']} hits, frequencies included"
    figure, plots = sheet([f"caller sees {share}" for share in Share], heading)
    for axes, share in zip(plots, Share, strict=True):
        for number, name in enumerate(dict.fromkeys(point["contender"] for point in points)):
            own = [point for point in points if point["contender"] == name and point["share"] == share.value]
            line(axes, number, name, [(point["records"], point["cpu_ms"]) for point in own])
        logarithmic(axes, ticks=sorted({point["records"] for point in points}))
        axes.set_xlabel("records")
    plots[0].set_ylabel("CPU of a query, ms")
    return (saved(figure, folder / "kernel.png"),)
