"""Metrics of one replica in the Prometheus format, with labels from closed sets only.

No label ever holds a query, an id, a tenant or anything else that a caller chose. The registry is the replica's own
and passed down; figures of several replicas are added up by whoever scrapes them.
"""

from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from cluster.contract import Answer, VectorState

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

_LATENCY_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_EMBEDDING_BUCKETS_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_CANDIDATE_BUCKETS: Final = (0, 1, 10, 20, 40, 60, 80, 100, 200, 500)


class Metrics:
    """Counts requests and answers; each method is called once per event."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._registry = registry
        requests = Counter(
            "shortlist_requests", "Requests by route and outcome.", ("route", "outcome"), registry=registry
        )
        seconds = Histogram(
            "shortlist_request_seconds",
            "Time from arrival to the last byte handed over.",
            ("route",),
            buckets=_LATENCY_BUCKETS_S,
            registry=registry,
        )
        # Looking a child up is most of the cost of counting; the closed sets of labels bound these caches.
        self._requests_of = cache(requests.labels)
        self._seconds_of = cache(seconds.labels)
        self._misses = Counter("shortlist_misses", "Typed misses by reason.", ("reason",), registry=registry)
        self._exact = Counter(
            "shortlist_exact_answers",
            "Answers by whether they were proved exact, in which round of the shards or why not, and by retrieval.",
            ("exact", "proof", "retrieval"),
            registry=registry,
        )
        self._vectors = Counter(
            "shortlist_vectors", "Answers by what vectors had to do with them.", ("state",), registry=registry
        )
        self._embedding = Histogram(
            "shortlist_query_embedding_seconds",
            "Time a search spent on the vector of its query, remembered ones included.",
            buckets=_EMBEDDING_BUCKETS_S,
            registry=registry,
        )
        self._gaps = Counter(
            "shortlist_coverage_gaps", "Answers that lack a part of the index, by cause.", ("cause",), registry=registry
        )
        self._candidates = Histogram(
            "shortlist_candidates",
            "Candidates that survived the index cut.",
            buckets=_CANDIDATE_BUCKETS,
            registry=registry,
        )

    def request(self, route: str, outcome: str, seconds: float) -> None:
        """One request was answered. ``route`` is a template from the access table, ``outcome`` a closed word."""
        self._requests_of(route, outcome).inc()
        self._seconds_of(route).observe(seconds)

    def answer(self, answer: Answer) -> None:
        """One search was answered."""
        if answer.miss is not None:
            self._misses.labels(answer.miss.reason.value).inc()
        self._exact.labels("true" if answer.exact else "false", _proof(answer), _retrieval(answer)).inc()
        self._vectors.labels(answer.vectors.state.value).inc()
        if answer.vectors.state is not VectorState.OFF:
            self._embedding.observe(answer.timings_ms["embed"] / 1000)
        for gap in answer.coverage.gaps:
            self._gaps.labels(gap.value).inc()
        self._candidates.observe(answer.spent.candidates)

    def exposition(self) -> bytes:
        """Everything so far, in the text format."""
        return generate_latest(self._registry)


def _proof(answer: Answer) -> str:
    """What settled the cut, or why nothing did."""
    if answer.doubt is not None:
        return answer.doubt.value
    return "first_round" if answer.rounds == 1 else "second_round"


def _retrieval(answer: Answer) -> str:
    return "hybrid" if answer.vectors.state is VectorState.USED else "words"
