"""The values of one search: request, hit, miss, coverage, plan, answer. No behaviour, no transport.

The wire models of ``serve_app.wire`` are converted to and from these in one place each.
"""

from dataclasses import dataclass
from enum import StrEnum

from cluster.budget import Budget, Deadline, Spent
from shards.record import Record
from shards.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question, with all that was decided about its caller.

    Attributes:
        query: the user's words, not yet analysed; 1..4096 characters.
        scope: what the caller may see, narrowing included.
        pinned: ids always in the result if authorized; at most ``budget.evidence_k``.
        preferred: ids always candidates if authorized.
        min_seq: the answer must see this change, 0 for any.
        explain: add per-hit score parts to the answer.
    """

    query: str
    scope: Scope
    budget: Budget
    deadline: Deadline
    request_id: str
    pinned: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    min_seq: int = 0
    explain: bool = False


class EvidenceForm(StrEnum):
    """How much of a record fits the evidence budget."""

    FULL = "full"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPart:
    """One term's share of a hit's score: ``weight * (mix.impact * impact + mix.name * name + mix.presence)``."""

    term: str
    weight: int
    impact: int
    name: int
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A record that survived the ranker and fits the evidence budget.

    Attributes:
        score: the ranker's integer score, comparable only inside one answer.
        form: ``full`` record, or ``summary`` (no parameters, description cut) where the token budget ran short.
        tokens: estimated tokens of the evidence in this form.
        pinned: it is here because the caller pinned it.
        parts: why it scored, empty unless asked.
        bonus: the mention bonus inside the score.
    """

    record: Record
    score: int
    form: EvidenceForm
    tokens: int
    pinned: bool = False
    parts: tuple[TermPart, ...] = ()
    bonus: int = 0


class MissReason(StrEnum):
    """Why an answer has no evidence."""

    NO_MATCH = "no_match"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    NOTHING_AUTHORIZED = "nothing_authorized"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A typed answer without evidence; ``advice`` tells the caller what to do next, in one sentence."""

    reason: MissReason
    advice: str


class Gap(StrEnum):
    """Why a part of the authorized set was not searched."""

    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which part of the caller's authorized set was searched.

    Attributes:
        searched: authorized records that were searched.
        authorized: all authorized records; None while a part that did not answer was never counted.
        buckets_searched: hash buckets behind the answers, of ``shards.record.BUCKETS``.
        gaps: why parts are missing, sorted, each once; empty if and only if coverage is full.
    """

    searched: int
    authorized: int | None
    buckets_searched: int
    gaps: tuple[Gap, ...] = ()

    @property
    def full(self) -> bool:
        """Whether everything authorized was searched."""
        return not self.gaps


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """Candidates in their final order before any evidence is cut; for evaluation, not for models.

    Attributes:
        ids: at most ``budget.rerank_k`` record ids, best first.
        scores: the ranker's integer score of each.
        matched: authorized records that share anything with the query.
        exact: proved equal to the start of ranking the whole authorized set (for a ranker that is not additive: the
            first ``budget.evidence_k``).
    """

    ids: tuple[str, ...]
    scores: tuple[int, ...]
    matched: int
    exact: bool
    coverage: Coverage


class Delivery(StrEnum):
    """How to hand the evidence to a model."""

    SEQUENTIAL = "sequential"
    BATCH = "batch"


class PlanReason(StrEnum):
    """What decided the delivery."""

    LIST = "list"
    COMPARISON = "comparison"
    TIGHT_SCORES = "tight_scores"
    SINGLE_FACT = "single_fact"
    ONE_HIT = "one_hit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The dispatcher's decision."""

    delivery: Delivery
    reason: PlanReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The whole answer to one search: either hits or a miss, never both, never neither.

    Attributes:
        truncated: more authorized records matched than are shown.
        exact: proved equal to ranking the whole authorized set.
        index_position: opaque token of the index state that was searched; the only field, with the request id and
            timings, that hidden records may change.
        seq: highest change every searched part had applied (for ``min_seq``), 0 if none answered; like
            ``index_position``, hidden records may change it.
        timings_ms: wall time per stage.
    """

    request_id: str
    hits: tuple[Hit, ...]
    miss: Miss | None
    plan: Plan | None
    budget: Budget
    spent: Spent
    coverage: Coverage
    truncated: bool
    exact: bool
    index_position: str
    ranker: str
    timings_ms: dict[str, float]
    seq: int = 0
