"""Summary: one Markdown table of what the benchmarks show, each figure beside its goal and the file it is from.

It reads the results that are there; what was not measured has no row.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evals.writing import write_bytes
from loadtest.growth.reference import REFERENCE, REFERENCE_RECORDS
from loadtest.ratios import OF_BARE, OF_DEFAULTS, OF_DRESSED, OF_NAIVE, P50_ALONE, P95, Ratio
from loadtest.results import Report, read_results
from loadtest.service.schedule import ACCEPTED, Outcome

FILE: Final = "summary.md"

_KERNEL, _SERVICE, _GROWTH, _MEMORY = "kernel", "service", "growth", "memory"
_LEVELS: Final = ("1", "10", "50", "100")

KERNELS: Final = "shortlist, kernels"
"""The contender that the goals are about; those whose names go on behind it answer several questions a call."""

_REAL, _MILLION = 149_005, 1_000_000
_OF_TANTIVY: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; ``goal`` is empty where there is none."""

    what: str
    figure: str
    goal: str
    source: str


def write_summary(folder: Path) -> Path:
    """Write summary.md from the results in ``folder``; returns the file."""
    path = folder / FILE
    write_bytes(path, table(folder).encode())
    return path


def table(folder: Path) -> str:
    """The table; only its head where nothing was measured."""
    lines = ["| what | measured | goal | from |", "|---|---|---|---|"]
    for name, rows in _ROWS.items():
        if (report := read_results(name, folder)) is not None:
            lines += [_line(row) for row in rows(report)]
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    return f"| {row.what} | {row.figure} | {row.goal} | [{row.source}.json](loadtest/results/{row.source}.json) |"


def service_rows(report: Report) -> Iterator[Row]:
    """Of a service benchmark."""
    systems = report["systems"]
    seen = ", ".join(f"{part['callers']:,} see {share}" for share, part in report.get("callers", {}).items())
    about = f"{report['records']:,} tools, {report['scopes']:,} callers{f' ({seen})' if seen else ''}"
    own = systems["shortlist"]
    rates = " / ".join(f"{own[level]['rps']:,.0f}" for level in _LEVELS if level in own)
    yield _row(f"searches a second at 1 / 10 / 50 / 100 clients, {about}", rates, "", _SERVICE)
    yield _row(
        "… p95, ms", " / ".join(f"{own[level]['p95_ms']:.1f}" for level in _LEVELS if level in own), "", _SERVICE
    )
    parts: tuple[tuple[str, Ratio, str], ...] = (
        ("throughput at 100 clients ÷ the dressed no-op's", OF_DRESSED, "≥ 0.6"),
        ("… ÷ the bare no-op's", OF_BARE, "≥ 0.4"),
        ("… ÷ one actor call per shard per query", OF_NAIVE, "≥ 3"),
        ("… ÷ Serve's defaults", OF_DEFAULTS, "≥ 10"),
    )
    for what, ratio, goal in parts:
        yield from _ratio_row(what, ratio.of(systems), goal)
    yield from _ratio_row("p95 at 100 clients ÷ the dressed no-op's", _inverse(P95.of(systems)), "≤ 2")
    yield from _ratio_row("p50 at 1 client ÷ a no-op with an empty fan-out", _inverse(P50_ALONE.of(systems)), "≤ 1.5")
    many = own[str(report["cold"]["clients"])]["rps"]
    yield from _ratio_row("new callers only ÷ known callers", report["cold"]["new_callers"]["rps"] / many, "≥ 0.5")
    yield from _overload_rows(report["overload"], own[str(report["cold"]["clients"])]["rps"])


def _overload_rows(over: Mapping[str, Any], peak_rps: float) -> Iterator[Row]:
    """What becomes of requests far beyond capacity, beside the rate of 100 clients."""
    shares = over["shares"]
    parts = {name: sum(shares.get(outcome, 0.0) for outcome in outcomes) for name, outcomes in _FATES.items()}
    yield _row(
        f"{over['times']:g} × capacity: {', '.join(parts)}",
        ", ".join(f"{one:.1%}" for one in parts.values()),
        "",
        _SERVICE,
    )
    if over["inside_budget"] is not None:
        what = f"… answered within {over['budget_ms']:g} ms, of those accepted"
        yield _row(what, f"{over['inside_budget']:.1%}", "100 %", _SERVICE)
    yield _row("… refused within, p99, ms", f"{over['refused']['p99_ms']:.1f}", "≤ 50", _SERVICE)
    yield _row("… answers a second ÷ those to 100 clients", f"{over['accepted_rps'] / peak_rps:.2f}", "≥ 0.9", _SERVICE)


_FATES: Final = {
    "answered": ACCEPTED,
    "refused with a type (429, 503)": (Outcome.REFUSED_429, Outcome.REFUSED_503),
    "out of time, typed": (Outcome.TIMED_OUT,),
    "no answer or an error": (Outcome.NO_ANSWER, Outcome.ERROR),
}
"""What a caller can be told, and the outcomes that say so."""


def kernel_rows(report: Report) -> Iterator[Row]:
    """Of a kernel benchmark: every size at a mask of 30 %, and what the goals compare."""
    cpu = {(one["contender"], one["records"]): one["cpu_ms"] for one in report["points"] if one["share"] == "30 %"}
    sizes = sorted({size for _, size in cpu})
    for size in sizes:
        figures = ", ".join(f"{name} {ms:.3g}" for (name, records), ms in cpu.items() if records == size)
        yield _row(f"CPU of a query at a mask of 30 %, {size:,} tools, ms", figures, "", _KERNEL)
        if ("tantivy", size) in cpu:
            goal = f"≤ {_OF_TANTIVY}" if size == _REAL else ""
            for name in (name for name, records in cpu if records == size and name.startswith(KERNELS)):
                yield _row(f"… {name} ÷ tantivy", f"{cpu[name, size] / cpu['tantivy', size]:.2f}", goal, _KERNEL)
    if {_REAL, _MILLION} <= set(sizes):
        yield _row("… ÷ those at 149,005", f"{cpu[KERNELS, _MILLION] / cpu[KERNELS, _REAL]:.1f}", "≤ 5", _KERNEL)


def growth_rows(report: Report) -> Iterator[Row]:
    """Of a growth benchmark: the reference's clients beside ours."""
    reported = " / ".join(f"{REFERENCE[level]['p95_ms']:,.0f}" for level in _LEVELS)
    what = f"p95 at 1 / 10 / 50 / 100 clients, ms; the reference over {REFERENCE_RECORDS:,} tools: {reported}"
    for run in report["by_clients"]:
        levels = run["systems"]["shortlist"]
        figures = " / ".join(f"{levels[level]['p95_ms']:.0f}" for level in _LEVELS if level in levels)
        yield _row(f"{what}; ours over {run['records']:,}", figures, "", _GROWTH)
    index = {one["records"]: one["p50_ms"] for one in report["by_size"] if one["way"] == "index"}
    figures = ", ".join(f"{size:,}: {ms:.2f}" for size, ms in index.items())
    yield _row("p50 of a search in one process by tools, ms of CPU", figures, "", _GROWTH)


def memory_rows(report: Report) -> Iterator[Row]:
    """Of a memory benchmark."""
    each, start = report["structures"]["bytes_per_record"], report["start"]
    records = f"{report['structures']['records']:,} tools"
    yield _row(f"index memory with ids, {records}, bytes a record", f"{each['index']:.0f}", "≤ 260", _MEMORY)
    yield _row("… documents, mapped from a file", f"{each['documents']:.0f}", "", _MEMORY)
    yield _row(f"import → searchable, {records}", f"{start['import_and_first_start_s']:.0f} s", "≤ 60 s", _MEMORY)
    yield _row("one shard from its snapshot", f"{report['one_shard']['open_s']:.2f} s", "≤ 2 s", _MEMORY)
    yield _row("… its first search", f"{report['one_shard']['first_search_ms']:.1f} ms", "", _MEMORY)


_ROWS: Final[dict[str, Callable[[Report], Iterator[Row]]]] = {
    _SERVICE: service_rows,
    _KERNEL: kernel_rows,
    _GROWTH: growth_rows,
    _MEMORY: memory_rows,
}


def _row(what: str, figure: str, goal: str, source: str) -> Row:
    return Row(what=what, figure=figure, goal=goal, source=source)


def _ratio_row(what: str, ratio: float | None, goal: str) -> Iterator[Row]:
    if ratio is not None:
        yield _row(what, f"{ratio:.2f}", goal, _SERVICE)


def _inverse(ratio: float | None) -> float | None:
    return 1 / ratio if ratio else None
