"""The values of one search: request, hit, miss, coverage, plan, answer. No behaviour, no transport.

The wire models of ``serve_app.wire`` are converted to and from these in one place each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from cluster.budget import Budget, Deadline, Spent
from cluster.flags import DEFAULT_FLAGS, Flags
from cluster.question_lexicon import AnswerShape
from cluster.tokens import ESTIMATE
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
        flags: that hold for it, decided before it is searched.
        shape: what the caller says the answer has to be; None lets the words of the query tell.
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
    flags: Flags = DEFAULT_FLAGS
    shape: AnswerShape | None = None


class EvidenceForm(StrEnum):
    """How much of a record fits the evidence budget.

    ``cut``: as much of it as fits, in whole properties, paragraphs or sentences. ``summary``: no parameters, and the
    start of the description.
    """

    FULL = "full"
    CUT = "cut"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class TermPart:
    """One term's share of a hit's score: ``weight * (mix.impact * impact + mix.name * name + mix.presence)``.

    ``instead_of`` is the word of the query that no authorized record holds and the term stands in for, else empty.
    """

    term: str
    weight: int
    impact: int
    name: int
    score: int
    instead_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityPart:
    """The vector's share of a hit's score: ``weight * likeness``; 1024 is what the models call a sure likeness."""

    likeness: int
    weight: int
    score: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of a record as a model reads it.

    Attributes:
        json: of a ``cluster.record_json.EvidenceView``.
        tokens: of what a model reads of it, by the router's ``TokenCounter``.
    """

    json: bytes
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A record cut to what there was room for.

    Attributes:
        properties_left_out: top-level properties of a tool's input that are not in it.
    """

    form: Form
    properties_left_out: int


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A record ready to be handed over, in full; its summary is made when an answer first has no room for all of it.

    ``_shorten`` makes the summary of ``full``. What begins with an underscore is no part of the value: neither of its
    JSON by orjson, which must not tell whether the summary was made yet.
    """

    id: str
    name: str
    namespace: str
    full: Form
    _shorten: Callable[[Form], Form] = field(repr=False, compare=False)

    @property
    def summary(self) -> Form:
        """``full`` itself where a summary would save nothing; never the larger of the two."""
        return self._summary

    @cached_property
    def _summary(self) -> Form:
        return self._shorten(self.full)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A record that survived the ranker and fits the evidence budget.

    Attributes:
        score: the ranker's integer score, comparable only inside one answer.
        form: ``full`` record, or ``cut`` or ``summary`` where the evidence budget ran short.
        cut: the record as it was cut, of the form ``cut`` alone.
        pinned: it is here because the caller pinned it.
        parts: why it scored, empty unless asked.
        bonus: the mention bonus inside the score.
        similarity: what its vector gave, None unless asked and in an answer by words alone.
        duplicates: ids of records that say the same and that this one is cited for; ascending.
    """

    record: Piece
    score: int
    form: EvidenceForm
    pinned: bool = False
    parts: tuple[TermPart, ...] = ()
    bonus: int = 0
    similarity: SimilarityPart | None = None
    duplicates: tuple[str, ...] = ()
    cut: Cut | None = None

    @property
    def evidence(self) -> Form:
        """The record in its form."""
        if self.cut is not None:
            return self.cut.form
        return self.record.full if self.form is EvidenceForm.FULL else self.record.summary


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


class VectorState(StrEnum):
    """Whether vectors had a part in an answer, and if not, why it was made by words alone.

    ``off``: there is no embedder, or the flag HYBRID_TOOL_DISCOVERY does not hold. ``language``: no model knows the
    language of the query. ``embedding``: more than 1 in 100 of the caller's records have no vector yet. ``timeout``:
    the query's vector did not come in time. ``failed``: the model broke, or could not be loaded; then no embedder is
    named.
    """

    OFF = "off"
    USED = "used"
    LANGUAGE = "language"
    EMBEDDING = "embedding"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorUse:
    """What an answer says of vectors.

    Attributes:
        embedder: id of the embedder, empty for none.
        missing: the caller's own records that have no vector; 0 where no shard was asked for vectors.
    """

    state: VectorState
    embedder: str = ""
    missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkSignals:
    """What of a request is talk that no record of the caller serves, and what its best record has to do with it.

    Attributes:
        shared: terms that the best record shares with the query, 256 for each that one record alone would hold;
            at most 1024.
        likeness: of the best record's vector to the query's, 0..2047; 0 in an answer by words alone.
        words: share of the query's weight, of 1024, in words of talk that no authorized record holds.
        nearer: by how much the query's vector is more like a phrase of talk than like the best record, or a phrase of
            work, 0..2047.
        named: a record is named exactly; such a request is never turned away.
    """

    shared: int
    likeness: int
    words: int
    nearer: int
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkVerdict:
    """Whether a request was turned away: talk speaks for it, and ``score`` is below ``threshold``.

    ``rule`` names the rule and its weights.
    """

    rule: str
    signals: TalkSignals
    score: int
    threshold: int
    abstained: bool


class Doubt(StrEnum):
    """Why an answer is not proved equal to ranking everything; the first that holds.

    ``coverage``: a part was not searched. ``cut``: shards that may hold a better record back, or one by what an unknown
    word may mean, did not answer in time. ``graph``: a graph chose among the vectors, which may miss one.
    ``ranker``: the ranker states no bound, or one that no allowed cut could beat.
    """

    COVERAGE = "coverage"
    CUT = "cut"
    GRAPH = "graph"
    RANKER = "ranker"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """Candidates in their final order before any evidence is cut; for evaluation, not for models.

    Attributes:
        ids: at most ``budget.rerank_k`` record ids, best first.
        scores: the ranker's integer score of each.
        matched: authorized records that share anything with the query.
        exact: proved equal to the start of ranking the whole authorized set (for a ranker that is not additive: the
            first ``budget.evidence_k``).
        vectors: as in ``Answer``.
        likenesses: of each one's vector to the query's; all 0 in an answer by words alone.
    """

    ids: tuple[str, ...]
    scores: tuple[int, ...]
    matched: int
    exact: bool
    coverage: Coverage
    vectors: VectorUse
    likenesses: tuple[int, ...]


class Delivery(StrEnum):
    """How to hand the evidence to a model."""

    SEQUENTIAL = "sequential"
    BATCH = "batch"


class PlanReason(StrEnum):
    """What decided the delivery."""

    LIST = "list"
    COMPARISON = "comparison"
    SEVERAL_PARTS = "several_parts"
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
        doubt: why it is not proved equal to ranking the whole authorized set, None where it is.
        narrower_try: time ran out before anything was found, so that names and the rarest terms alone were tried
            once more in the parts that had not answered; these still count as not searched.
        vectors: whether vectors had a part in it.
        talk: whether the request was taken for talk, None where nobody asked: abstention is off, or coverage has gaps.
        adaptive_k: the K that the score curve gave, None where the request's own was used.
        flags: the request's.
        tokens_by: name of the ``TokenCounter`` behind every number of tokens.
        index_position: opaque token of the index state that was searched; the only field, with the request id and
            timings, that hidden records may change.
        timings_ms: wall time per stage.
        seq: highest change every searched part had applied (for ``min_seq``), 0 if none answered; like
            ``index_position``, hidden records may change it.
        rounds: times that shards were asked, for metrics; the one field that the number of shards may change.
        surplus: rows that shards returned beyond the cut they were asked for and that were taken away, for metrics; 0
            of every shard that works.
    """

    request_id: str
    hits: tuple[Hit, ...]
    miss: Miss | None
    plan: Plan | None
    budget: Budget
    spent: Spent
    coverage: Coverage
    truncated: bool
    doubt: Doubt | None
    vectors: VectorUse
    index_position: str
    ranker: str
    timings_ms: dict[str, float]
    seq: int = 0
    rounds: int = 1
    surplus: int = 0
    talk: TalkVerdict | None = None
    adaptive_k: int | None = None
    flags: Flags = DEFAULT_FLAGS
    narrower_try: bool = False
    tokens_by: str = ESTIMATE.name

    @property
    def exact(self) -> bool:
        """Whether it is proved equal to ranking the whole authorized set."""
        return self.doubt is None
