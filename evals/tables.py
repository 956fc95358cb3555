"""Reports as tables for people, systems side by side. It computes no figure."""

from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.table import Table

from evals.report import NDCG_K, Report, Share


def tables(reports: Sequence[Report]) -> Group:
    """Reports side by side, one column each: the whole, then each language where there are several."""
    titles = [report["system"] for report in reports]
    first = reports[0]
    whole = Table(title=f"{first['n']:,} queries over {first['tools']:,} tools", title_justify="left")
    whole.add_column("")
    for title in titles:
        whole.add_column(title, justify="right")
    for label, cells in _rows(reports):
        whole.add_row(label, *cells)
    if len(first["by_lang"]) == 1:
        return Group(whole)
    return Group(whole, _languages(reports))


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
        ("typed misses without an answer", [_share(report["no_match_rate"]) for report in reports]),
        ("typed misses despite an answer", [_share(report["false_empty_rate"]) for report in reports]),
        ("p50 ms", [f"{report['p50_ms']:.2f}" for report in reports]),
        ("p95 ms", [f"{report['p95_ms']:.2f}" for report in reports]),
    ]
    return rows


def _languages(reports: Sequence[Report]) -> Table:
    table = Table(title="By language", title_justify="left")
    for heading in ("language", "queries", "system", "Recall", "Hit", f"NDCG@{NDCG_K}"):
        table.add_column(heading, justify="left" if heading in {"language", "system"} else "right")
    for language in reports[0]["by_lang"]:
        for report in reports:
            part = report["by_lang"][language]
            table.add_row(
                language,
                f"{part['n']:,}",
                report["system"],
                _best_known(part["recall"]),
                _best_known(part["hit"]),
                _share(part["ndcg10"]),
            )
    return table


def _best_known(shares: Mapping[str, Share]) -> str:
    """The cut in the middle of those asked for: one column has to do."""
    cut = list(shares)[len(shares) // 2]
    return f"@{cut} {_share(shares[cut])}"


def _share(value: Share) -> str:
    return "–" if value is None else f"{value:.3f}"
