"""Small canned results of every benchmark, in the form that the benchmarks write."""

from typing import Any

from loadtest.results import Report
from loadtest.tiers import Share

LEVELS = ("1", "10", "50", "100")


def level(rps: float, p50_ms: float, p95_ms: float) -> dict[str, Any]:
    figures = {"requests": 100, "rps": rps, "p50_ms": p50_ms, "p95_ms": p95_ms, "p99_ms": p95_ms, "max_ms": p95_ms}
    rounds = {"rounds_rps": [rps] * 3, "rounds_p50_ms": [p50_ms] * 3, "rounds_p95_ms": [p95_ms] * 3}
    return {**figures, "errors": 0, "incomplete": 0, **rounds}


def levels(rps: float, p50_ms: float, p95_ms: float) -> dict[str, Any]:
    return {clients: level(rps, p50_ms, p95_ms) for clients in LEVELS}


def opened(p95_ms: float) -> dict[str, Any]:
    spread = {"count": 9, "p50_ms": p95_ms / 2, "p95_ms": p95_ms, "p99_ms": p95_ms, "max_ms": p95_ms}
    return {
        "rate": 90.0, "accepted_rps": 1_350.0, "accepted": spread, "refused": spread,
        "shares": {"hits": 0.25, "refused_429": 0.75}, "inside_budget": 1.0, "budget_ms": 850.0, "errors": 0,
    }  # fmt: skip


def service() -> Report:
    return {
        "records": 149_005, "shards": 2, "scopes": 1_000, "k": 10,
        "callers": {
            "100 %": {"callers": 600, "records_min": 149_005, "records_median": 149_005, "records_max": 149_005},
            "100 records": {"callers": 400, "records_min": 96, "records_median": 102, "records_max": 104},
        },
        "systems": {
            "shortlist": levels(1_500, 3.0, 90.0),
            "dressed": levels(2_000, 1.0, 60.0),
            "bare": levels(3_000, 0.5, 40.0),
            "empty_fanout": {"1": level(400, 2.5, 4.0)},
            "naive": levels(300, 5.0, 500.0),
            "defaults": levels(50, 20.0, 900.0),
        },
        "cold": {"clients": 100, "first": level(500, 9.0, 300.0), "new_callers": level(1_200, 6.0, 120.0)},
        "open": {name: {share: opened(20.0) for share in ("50%", "80%", "120%")} for name in ("shortlist", "dressed")},
        "overload": {"times": 5.0, **opened(400.0)},
    }  # fmt: skip


def kernel() -> Report:
    cpu = {"shortlist, kernels": 0.1, "tantivy": 1.0}
    return {
        "hits": 10,
        "points": [
            {"contender": name, "records": size, "share": share.value, "cpu_ms": ms * size / 149_005}
            for name, ms in cpu.items()
            for size in (10_000, 149_005, 1_000_000)
            for share in Share
        ],
    }


def growth() -> Report:
    spread = {"count": 9, "p50_ms": 2.0, "p95_ms": 4.0, "p99_ms": 5.0, "max_ms": 6.0}
    ways = ("full ranking", "index", "index and exact vectors")
    return {
        "by_clients": [
            {"records": size, "systems": {"shortlist": levels(900, 4.0, 12.0)}} for size in (10_000, 149_005)
        ],
        "by_shards": [
            {"records": 149_005, "shards": count, "together": spread, "apart": spread, "in_shards": spread}
            for count in (1, 2, 4, 8)
        ],
        "by_size": [{"records": size, "way": way, **spread, "rps": 500.0} for size in (180, 10_000) for way in ways],
    }


def memory() -> Report:
    names = ("postings", "dictionary", "near_words", "names", "columns", "ids", "versions", "documents", "mask")
    return {
        "structures": {"records": 149_005, "bytes_per_record": {**dict.fromkeys(names, 30.0), "index": 210.0}},
        "one_shard": {"open_s": 1.25, "first_search_ms": 9.5},
        "start": {
            "import_s": 20.0, "first_start_s": 30.0, "import_and_first_start_s": 50.0, "second_start_s": 8.0,
            "first_answer_s": 0.1,
        },
    }  # fmt: skip
