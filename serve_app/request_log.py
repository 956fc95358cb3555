"""The request log: one JSON object a line for every request, by ``RequestLine``. Counts, closed words and pseudonyms.

No text of a query or a record, no id, tenant or token is in a line; only where ``log.snippet_percent`` asks for it, the
masked start of some queries. Making a line costs a few microseconds; ``serve_app.line_writer`` writes it.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Final

import orjson
from typing_extensions import TypedDict

from cluster.budget import Budget, Spent
from cluster.config import Settings
from cluster.contract import Answer, Coverage, Doubt, Gap, SearchRequest, VectorState
from serve_app.exchange import Exchange
from serve_app.line_writer import LineWriter, Loss
from serve_app.log_file import LogFile, StandardError
from serve_app.masking import snippet
from serve_app.pseudonyms import Of, Pseudonyms
from shards.scope import Narrowing

FILE_NAME: Final = "requests.log"

_NARROWINGS: Final = tuple(spec.name for spec in fields(Narrowing))
_OPEN: Final = Narrowing()
_DIGITS: Final = 3
_MIB: Final = 2**20


class AnswerLine(TypedDict):
    """What an answer was, without what it says.

    Attributes:
        spent: per stage, by the names of ``cluster.budget.Spent``: matched, candidates, reranked, evidence, its tokens
            and what was dropped.
        miss: the reason of ``cluster.contract.MissReason``, None for hits.
        timed_out: what did not come in time, sorted: of ``embedding``, ``search`` and ``second_round``.
        narrower_try: as in ``cluster.contract.Answer``.
        abstained: the request was taken for talk.
        hits: pseudonyms of the records, best first.
    """

    spent: Spent
    coverage: Coverage
    miss: str | None
    timed_out: Sequence[str]
    narrower_try: bool
    doubt: Doubt | None
    rounds: int
    vectors: VectorState
    truncated: bool
    abstained: bool
    adaptive_k: int | None
    seq: int
    timings_ms: Mapping[str, float]
    hits: Sequence[str]


class SearchLine(TypedDict):
    """The search that was made of a request.

    Attributes:
        scope: pseudonym of the scope's fingerprint.
        narrowed: names of the narrowing fields that were applied.
        limits: the ceilings, by the names of ``cluster.budget.Budget``.
        flags: names of the ways of answering that held, of ``cluster.flags.Flag``.
        answer: None where the search did not come to one, or none is given.
        snippet: masked start of the query, None unless it was sampled.
    """

    scope: str
    narrowed: Sequence[str]
    limits: Budget
    flags: Sequence[str]
    answer: AnswerLine | None
    snippet: str | None


class RequestLine(TypedDict):
    """One line; every key is always there.

    Attributes:
        time: when the request ended, in seconds since 1970.
        request_id: as in the answer, its header and the audit log.
        route: a template of the access table, or ``unmatched``.
        status: of the response; 0 where none was begun.
        outcome: ``ok``, ``hits``, ``miss``, ``client_gone`` or the code of a problem.
        ms: from arrival to the last byte handed over.
        search: None for requests that search nothing.
    """

    time: float
    request_id: str
    route: str
    status: int
    outcome: str
    ms: float
    search: SearchLine | None


class RequestLog:
    """Turns ended requests into lines.

    Args:
        writer: takes the lines.
        pseudonyms: of ids and scopes.
        snippet_percent: share of searches whose line holds a snippet.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        writer: LineWriter,
        pseudonyms: Pseudonyms,
        *,
        snippet_percent: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._writer = writer
        self._pseudonyms = pseudonyms
        self._snippet_percent = snippet_percent
        self._clock = clock

    @classmethod
    def from_settings(
        cls, settings: Settings, pseudonyms: Pseudonyms, lost: Callable[[Loss, int], None]
    ) -> "RequestLog | None":
        """As configured; None where requests are not logged.

        Raises:
            InvalidConfiguration: if the file cannot be written.
        """
        log = settings.log
        if not log.requests:
            return None
        path = (log.folder or settings.home) / FILE_NAME
        sink = LogFile(path, log.rotate_mb * _MIB) if log.to == "file" else StandardError()
        return cls(LineWriter(sink, lost), pseudonyms, snippet_percent=log.snippet_percent)

    def ended(self, exchange: Exchange, route: str, seconds: float) -> None:
        """One request has its answer, or its caller has gone."""
        trail = exchange.trail
        line: RequestLine = {
            "time": round(self._clock(), _DIGITS),
            "request_id": exchange.request_id,
            "route": route,
            "status": exchange.status,
            "outcome": exchange.outcome,
            "ms": round(seconds * 1000, _DIGITS),
            "search": None if trail.asked is None else self._search(trail.asked, trail.answer),
        }
        self._writer.put(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Write what waits."""
        self._writer.close()

    def _search(self, asked: SearchRequest, answer: Answer | None) -> SearchLine:
        sampled = self._snippet_percent and random.random() * 100 < self._snippet_percent  # noqa: S311 -- a sample
        return {
            "scope": self._pseudonyms.of(Of.SCOPE, asked.scope.fingerprint),
            "narrowed": _narrowed(asked.scope.narrowing),
            "limits": asked.budget,
            "flags": asked.flags.held,
            "answer": None if answer is None else self._answer(answer),
            "snippet": snippet(asked.query) if sampled else None,
        }

    def _answer(self, answer: Answer) -> AnswerLine:
        return {
            "spent": answer.spent,
            "coverage": answer.coverage,
            "miss": None if answer.miss is None else answer.miss.reason.value,
            "timed_out": _timed_out(answer),
            "narrower_try": answer.narrower_try,
            "doubt": answer.doubt,
            "rounds": answer.rounds,
            "vectors": answer.vectors.state,
            "truncated": answer.truncated,
            "abstained": answer.talk is not None and answer.talk.abstained,
            "adaptive_k": answer.adaptive_k,
            "seq": answer.seq,
            "timings_ms": answer.timings_ms,
            "hits": self._pseudonyms.of_records([hit.record.id for hit in answer.hits]),
        }


def _narrowed(narrowing: Narrowing) -> Sequence[str]:
    if narrowing is _OPEN or narrowing == _OPEN:
        return ()
    return [name for name in _NARROWINGS if getattr(narrowing, name) is not None]


def _timed_out(answer: Answer) -> Sequence[str]:
    late = []
    if answer.vectors.state is VectorState.TIMEOUT:
        late.append("embedding")
    if Gap.TIMEOUT in answer.coverage.gaps:
        late.append("search")
    if answer.doubt is Doubt.CUT:
        late.append("second_round")
    return late
