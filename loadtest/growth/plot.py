"""Plots of growth: over the size of the catalogue, the number of shards, and the number of clients."""

from pathlib import Path

from loadtest.figures import can_draw, line, logarithmic, saved, sheet
from loadtest.growth.reference import REFERENCE, REFERENCE_RECORDS, REFERENCE_SIZES
from loadtest.results import Report


def draw(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write growth-size.png, growth-shards.png and growth-clients.png; nothing where matplotlib is not installed."""
    if not can_draw():
        return ()
    drawn = [_sizes(report, folder), _shards(report, folder)]
    if report["by_clients"]:
        drawn.append(_clients(report, folder))
    return tuple(drawn)


def _sizes(report: Report, folder: Path) -> Path:
    points = report["by_size"]
    ways = list(dict.fromkeys(point["way"] for point in points))
    figure, plots = sheet(("p50, ms", "p95, ms", "searches a second"), "One shard in one process, one thread")
    for axes, field in zip(plots, ("p50_ms", "p95_ms", "rps"), strict=True):
        for number, way in enumerate(ways):
            line(axes, number, way, [(point["records"], point[field]) for point in points if point["way"] == way])
        logarithmic(axes, ticks=sorted({point["records"] for point in points}))
        axes.set_xlabel("records")
    names = ("reference: keyword scan", "reference: index", "reference: linear vectors")
    for number, name in enumerate(names, start=len(ways)):
        reported = [(size, figures[number - len(ways)]) for size, figures in REFERENCE_SIZES.items()]
        line(plots[0], number, name, reported)
    return saved(figure, folder / "growth-size.png")


def _shards(report: Report, folder: Path) -> Path:
    points = report["by_shards"]
    heading = f"{points[0]['records']:,} records in more and more shards of one process, CPU"
    figure, plots = sheet(("p50, ms", "p95, ms"), heading)
    parts = {
        "together": "all shards, one core",
        "apart": "a core for each shard",
        "in_shards": "of that, in the shards",
    }
    for axes, field in zip(plots, ("p50_ms", "p95_ms"), strict=True):
        for number, (part, label) in enumerate(parts.items()):
            line(axes, number, label, [(point["shards"], point[part][field]) for point in points])
        logarithmic(axes, ticks=[point["shards"] for point in points], upwards=False)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("shards")
    return saved(figure, folder / "growth-shards.png")


def _clients(report: Report, folder: Path) -> Path:
    figure, plots = sheet(("p50, ms", "p95, ms"), "Over HTTP, closed loop")
    for axes, field in zip(plots, ("p50_ms", "p95_ms"), strict=True):
        for number, run in enumerate(report["by_clients"]):
            levels = run["systems"]["shortlist"].items()
            label = f"shortlist, {run['records']:,} records"
            line(axes, number, label, [(int(clients), figures[field]) for clients, figures in levels])
        reported = [(int(clients), figures[field]) for clients, figures in REFERENCE.items()]
        line(axes, len(report["by_clients"]), f"reference, {REFERENCE_RECORDS:,} records", reported)
        logarithmic(axes, ticks=[int(clients) for clients in REFERENCE])
        axes.set_xlabel("clients")
    return saved(figure, folder / "growth-clients.png")
