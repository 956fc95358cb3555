"""Metrics of one replica in the Prometheus format, with labels from closed sets only.

No label ever holds a query, an id, a tenant or anything else that a caller chose. The registry is the replica's own
and passed down; figures of several replicas are added up by whoever scrapes them.
"""

from dataclasses import fields
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from cluster.answering.contract import Answered
from cluster.contract import Answer, VectorState
from serve_app.flag_view import HeldFlags
from serve_app.line_writer import Loss
from serve_app.tally import Count, Tally
from shards.scope import Narrowing

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

_LATENCY_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_EMBEDDING_BUCKETS_S: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_STAGE_BUCKETS_S: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8)
_TOKEN_BUCKETS: Final = (0, 100, 200, 400, 800, 1200, 1600, 2000, 2400, 4800, 10_000)
_RECORD_BUCKETS: Final = (0, 1, 2, 5, 10, 20, 48, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000)
_CANDIDATE_BUCKETS: Final = (0, 1, 10, 20, 40, 60, 80, 100, 200, 500)

_MARKS: Final = ("truncated", "narrower_try", "adaptive_k", "abstained")
"""Fields of an answer that are true or there; ``abstained`` is the one of its verdict on talk."""

_NARROWINGS: Final = tuple(spec.name for spec in fields(Narrowing))
_OPEN: Final = Narrowing()


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
        misses = Counter("shortlist_misses", "Typed misses by reason.", ("reason",), registry=registry)
        self._misses_of = cache(misses.labels)
        exact = Counter(
            "shortlist_exact_answers",
            "Answers by whether they were proved exact, in which round of the shards or why not, and by retrieval.",
            ("exact", "proof", "retrieval"),
            registry=registry,
        )
        self._exact_of = cache(exact.labels)
        vectors = Counter(
            "shortlist_vectors", "Answers by what vectors had to do with them.", ("state",), registry=registry
        )
        self._vectors_of = cache(vectors.labels)
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

        self._stages = Tally(
            "shortlist_stage_seconds", "Time of a search by stage, and in total.", "stage", _STAGE_BUCKETS_S
        )
        registry.register(self._stages)
        self._evidence_tokens = Tally(
            "shortlist_evidence_tokens", "Tokens of a search's evidence, by kind of miss or hits.", "of",
            _TOKEN_BUCKETS,
        )  # fmt: skip
        registry.register(self._evidence_tokens)
        self._records = Tally(
            "shortlist_search_records", "Records of a search that came as far as each stage.", "stage", _RECORD_BUCKETS
        )
        registry.register(self._records)
        self._flags = HeldFlags()
        registry.register(self._flags)
        self._marks = Count("shortlist_search_marks", "Answers of which something holds.", "mark", _MARKS)
        registry.register(self._marks)
        self._narrowed = Count("shortlist_narrowed", "Searches narrowed by a field.", "field", _NARROWINGS)
        registry.register(self._narrowed)
        self._surplus = Counter(
            "shortlist_shard_rows_over_ceiling",
            "Rows that shards returned beyond the cut they were asked for, and that were taken away.",
            registry=registry,
        )
        self._lines_lost = Counter(
            "shortlist_log_lines_lost", "Lines of the request log that were lost, by cause.", ("cause",),
            registry=registry,
        )  # fmt: skip

        answers = Counter(
            "shortlist_answers",
            "Answers made of evidence, by outcome and by how it was read.",
            ("outcome", "delivery"),
            registry=registry,
        )
        self._answers_of = cache(answers.labels)
        self._calls = Counter("shortlist_answer_calls", "Readings of evidence, repairs included.", registry=registry)
        self._repairs = Counter("shortlist_answer_repairs", "Calls that repaired an output.", registry=registry)
        tokens = Counter(
            "shortlist_answer_tokens",
            "Estimated tokens of prompts and outputs, and of what batch would have cost.",
            ("of",),
            registry=registry,
        )
        self._tokens_of = cache(tokens.labels)

    def request(self, route: str, outcome: str, seconds: float) -> None:
        """One request was answered. ``route`` is a template from the access table, ``outcome`` a closed word."""
        self._requests_of(route, outcome).inc()
        self._seconds_of(route).observe(seconds)

    def asked(self, narrowing: Narrowing) -> None:
        """One search was asked for, with these filters."""
        if narrowing == _OPEN:
            return
        for field in _NARROWINGS:
            if getattr(narrowing, field) is not None:
                self._narrowed.add(field)

    def answer(self, answer: Answer) -> None:
        """One search was answered."""
        if answer.miss is not None:
            self._misses_of(answer.miss.reason.value).inc()
        self._exact_of("true" if answer.exact else "false", _proof(answer), _retrieval(answer)).inc()
        self._vectors_of(answer.vectors.state.value).inc()
        if answer.vectors.state is not VectorState.OFF:
            self._embedding.observe(answer.timings_ms["embed"] / 1000)
        for gap in answer.coverage.gaps:
            self._gaps.labels(gap.value).inc()
        self._flags.count(answer.flags)
        self._mark(answer)
        spent = answer.spent
        self._candidates.observe(spent.candidates)
        self._evidence_tokens.observe(
            "hits" if answer.miss is None else answer.miss.reason.value, spent.evidence_tokens
        )
        for stage, ms in answer.timings_ms.items():
            self._stages.observe(stage, ms / 1000)
        self._records.observe("matched", spent.matched)
        self._records.observe("reranked", spent.reranked)
        self._records.observe("evidence", spent.evidence)
        self._records.observe("dropped", spent.dropped)

    def _mark(self, answer: Answer) -> None:
        if answer.truncated:
            self._marks.add("truncated")
        if answer.narrower_try:
            self._marks.add("narrower_try")
        if answer.adaptive_k is not None:
            self._marks.add("adaptive_k")
        if answer.talk is not None and answer.talk.abstained:
            self._marks.add("abstained")
        if answer.surplus:
            self._surplus.inc(answer.surplus)

    def lines_lost(self, cause: Loss, lines: int) -> None:
        """Lines of the request log were lost; from any thread."""
        self._lines_lost.labels(cause.value).inc(lines)

    def answered(self, outcome: str, answered: Answered | None) -> None:
        """One answer was made of evidence, or, with None, there was none; ``outcome`` is a closed word."""
        if answered is None:
            self._answers_of(outcome, "none").inc()
            return
        self._answers_of(outcome, answered.delivery.value).inc()
        self._calls.inc(answered.work.calls)
        self._repairs.inc(answered.work.repairs)
        self._tokens_of("prompts").inc(answered.work.tokens_in)
        self._tokens_of("outputs").inc(answered.work.tokens_out)
        self._tokens_of("batch").inc(answered.batch_tokens)

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
