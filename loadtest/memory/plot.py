"""The plot of memory and start-up: bytes a record by structure, seconds by step."""

from pathlib import Path
from typing import Final

from loadtest.figures import COLOURS, can_draw, saved, sheet
from loadtest.memory.structures import IN_THE_INDEX
from loadtest.results import Report

_STEPS: Final = {
    "import_s": "import",
    "first_start_s": "first start\n(from the registry)",
    "second_start_s": "second start\n(from snapshots)",
}


def draw(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write memory.png; nothing where matplotlib is not installed."""
    if not can_draw():
        return ()
    figure, plots = sheet(("bytes a record", "seconds"), f"{report['structures']['records']:,} records")
    each = report["structures"]["bytes_per_record"]
    shown = (*IN_THE_INDEX, "mask", "documents")
    bars = plots[0].barh(
        [name.replace("_", " ") for name in shown],
        [each[name] for name in shown],
        color=[COLOURS[0] if name in IN_THE_INDEX else COLOURS[7] for name in shown],
    )
    plots[0].bar_label(bars, [f"{each[name]:,.1f}" for name in shown], fontsize=8, padding=2)
    plots[0].invert_yaxis()
    plots[0].margins(x=0.15)
    plots[0].set_title(f"bytes a record: {each['index']:,.0f} in the index (blue)", loc="left", fontsize=10)
    steps = [step for step in _STEPS if step in report["start"]]
    taken = plots[1].bar([_STEPS[step] for step in steps], [report["start"][step] for step in steps], color=COLOURS[2])
    plots[1].bar_label(taken, [f"{report['start'][step]:.1f}" for step in steps], fontsize=8)
    return (saved(figure, folder / "memory.png"),)
