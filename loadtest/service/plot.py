"""Plots of the service benchmark: closed loops by clients, open loops by rate, overload by outcome."""

from pathlib import Path

from loadtest.figures import COLOURS, can_draw, line, logarithmic, logarithmic_upwards, saved, sheet
from loadtest.results import Report


def draw(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write service-closed.png and service-open.png; nothing where matplotlib is not installed."""
    if not can_draw():
        return ()
    about = f"{report['records']:,} records, {report['shards']} shards, {report['scopes']:,} callers, k = {report['k']}"
    return (_closed(report, about, folder), _open(report, about, folder))


def _closed(report: Report, about: str, folder: Path) -> Path:
    figure, plots = sheet(("requests a second", "p50, ms", "p95, ms"), f"Closed loop, {about}")
    for axes, field in zip(plots, ("rps", "p50_ms", "p95_ms"), strict=True):
        for number, (name, levels) in enumerate(report["systems"].items()):
            line(axes, number, name, [(int(clients), figures[field]) for clients, figures in levels.items()])
        logarithmic(axes, ticks=[int(clients) for clients in report["systems"]["shortlist"]])
        axes.set_xlabel("clients")
    return saved(figure, folder / "service-closed.png")


def _open(report: Report, about: str, folder: Path) -> Path:
    order = list(report["systems"])
    titles = ("p50, ms", "p99, ms", f"{report['overload']['times']:g} × capacity: share of requests")
    figure, plots = sheet(titles, f"Open loop, latency from the time due, {about}")
    for axes, field in zip(plots[:2], ("p50_ms", "p99_ms"), strict=True):
        for name, rates in report["open"].items():
            points = [(float(share.rstrip("%")), one["accepted"][field]) for share, one in rates.items()]
            line(axes, order.index(name), name, points)
        logarithmic_upwards(axes)
        axes.set_xlabel("rate, % of the system's own capacity")
    shares = report["overload"]["shares"]
    bars = plots[2].bar(list(shares), list(shares.values()), color=COLOURS[0])
    plots[2].bar_label(bars, [f"{share:.1%}" for share in shares.values()], fontsize=8)
    plots[2].tick_params(axis="x", rotation=20)
    return saved(figure, folder / "service-open.png")
