"""An evaluation as tables for people, systems side by side. It computes no figure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group
from rich.table import Table

from evals.report import NDCG_K, Quality, Report, Share
from evals.significance import Difference

MOST_KINDS: Final = 12
"""Kinds shown one by one; files of others label as finely as they like."""


def tables(reports: Sequence[Report], differences: Mapping[str, Mapping[str, Difference]]) -> Group:
    """Reports side by side, then how sure the differences are, why records were missed, and the parts of the set."""
    return Group(*_tables(reports, differences))


def _tables(reports: Sequence[Report], differences: Mapping[str, Mapping[str, Difference]]) -> Iterator[Table]:
    first = reports[0]
    yield _whole(reports)
    if any(differences.values()):
        yield _significance(first["system"], differences)
    if any(sum(report["misses"].values()) for report in reports):
        yield _misses(reports)
    if len(first["by_lang"]) > 1:
        yield _parts("language", [(report["system"], report["by_lang"]) for report in reports])
    if 1 < len(first["by_kind"]) <= MOST_KINDS:
        yield _parts("kind", [(report["system"], report["by_kind"]) for report in reports])


def _whole(reports: Sequence[Report]) -> Table:
    first = reports[0]
    table = _table(f"{first['n']:,} queries over {first['tools']:,} tools", [report["system"] for report in reports])
    for label, cells in _rows(reports):
        table.add_row(label, *cells)
    return table


def _rows(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    rows = [(f"Recall@{k}", [_share(report["recall"][k]) for report in reports]) for k in reports[0]["recall"]]
    rows += [(f"Hit@{k}", [_share(report["hit"][k]) for report in reports]) for k in reports[0]["hit"]]
    rows += [
        (f"Candidate recall@{n}", [_share(report["candidate_recall"][n]) for report in reports])
        for n in reports[0]["candidate_recall"]
    ]
    rows += [
        (f"NDCG@{NDCG_K}", [_share(report["ndcg10"]) for report in reports]),
        ("exact answers", [_share(report["exact_share"]) for report in reports]),
        (
            "… equal to the full ranking",
            [f"{_share(report['parity_with_full_rank'])} of {report['parity_checked']}" for report in reports],
        ),
        ("hits in an answer", [_number(report["mean_hits"]) for report in reports]),
        ("typed misses without an answer", [_share(report["no_match_rate"]) for report in reports]),
        ("typed misses despite an answer", [_share(report["false_empty_rate"]) for report in reports]),
        ("p50 ms", [_number(report["p50_ms"]) for report in reports]),
        ("p95 ms", [_number(report["p95_ms"]) for report in reports]),
    ]
    if any(report["vectors"] for report in reports):
        rows.append(("p50 ms of embedding", [_number(report["p50_embed_ms"]) for report in reports]))
    return rows


def _significance(first: str, differences: Mapping[str, Mapping[str, Difference]]) -> Table:
    headings = ("mean", "95 % interval", "better/equal/worse", "p")
    table = _table(f"{first} less the others, paired by query", headings)
    for other, measures in differences.items():
        for measure, one in measures.items():
            table.add_row(
                f"{other} {measure}",
                f"{one['mean']:+.3f}",
                f"{one['low']:+.3f} … {one['high']:+.3f}",
                f"{one['better']:,}/{one['equal']:,}/{one['worse']:,}",
                _p(one["p"]),
            )
    return table


def _misses(reports: Sequence[Report]) -> Table:
    titles = [report["system"] for report in reports]
    table = _table(f"Relevant records that are not in an answer of {reports[0]['k']}", titles)
    for reason in reports[0]["misses"]:
        table.add_row(reason.replace("_", " "), *(f"{report['misses'][reason]:,}" for report in reports))
    return table


def _parts(what: str, systems: Sequence[tuple[str, Mapping[str, Quality]]]) -> Table:
    """Recall at the middle of the cuts, as one column has to do; typed misses in brackets where nothing is relevant."""
    first = systems[0][1]
    ks = list(next(iter(first.values()))["recall"])
    k = ks[len(ks) // 2]
    table = _table(f"Recall@{k} by {what} (or typed misses)", ["queries", *(system for system, _ in systems)])
    for label, part in first.items():
        table.add_row(label, f"{part['n']:,}", *(_part(parts[label], k) for _, parts in systems))
    return table


def _part(part: Quality, k: str) -> str:
    return _share(part["recall"][k]) if part["n_with_relevant"] else f"({_share(part['no_match_rate'])})"


def _table(title: str, headings: Sequence[str]) -> Table:
    """An unnamed column of labels, then columns of figures."""
    table = Table(title=title, title_justify="left", min_width=len(title))
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _share(value: Share) -> str:
    return "–" if value is None else f"{value:.3f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _p(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"  # noqa: PLR2004 -- what four digits can show
