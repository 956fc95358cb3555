"""A run of answers: every question over the articles asked three ways, from candidates to answers and their tokens.

Evidence is read piece by piece, all at once, and as the dispatcher plans. It prints nothing and tunes nothing.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cluster.answering.contract import Answered, Reader
from cluster.answering.loop import answer_from
from cluster.answering.prompts import messages_of, tokens_of
from cluster.answering.sources import inquiry_of, sources_of
from cluster.budget import Budget, Deadline
from cluster.contract import Answer, Delivery, SearchRequest
from cluster.discovery import Discovery
from cluster.local import LocalIndex
from cluster.scope import Policy, Principal
from evals.answer_gold import PERMISSION, AnswerQuestion
from evals.answer_judge import is_right
from shards.record import SHARED_TENANT, Kind, Record
from shards.scope import Narrowing, Scope

CANDIDATES: Final = 40
EVIDENCE: Final = 4
BUDGETS: Final = (1, 2, 4, 6, 8, 12)
"""Pieces of evidence, for the curves of tokens against answers found."""

WAYS: Final = ("sequential", "batch", "dispatcher")

_PATIENCE_MS: Final = 600_000
_TOKENS: Final = 100_000
_OUTSIDER: Final = Principal(subject="eval", tenant="outsider", roles=frozenset({"reader"}), mode="autonomous")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question asked one way.

    Attributes:
        right: the answer says what the gold says; for an unanswered question, that nothing was found.
        tokens: in and out, estimated.
        batch_tokens: what one reading of every piece would have cost.
        pieces: of evidence that there were.
        fixed_tokens: of a prompt without any evidence.
        evidence_tokens: of every piece together, as it stands in a prompt.
        first: the first piece of evidence answers.
    """

    question: AnswerQuestion
    way: str
    answered: Answered | None
    right: bool
    tokens: int
    batch_tokens: int
    pieces: int
    fixed_tokens: int
    evidence_tokens: int
    first: bool
    elapsed_ms: float

    @property
    def said(self) -> str:
        """The answer, empty where there is none."""
        return "" if self.answered is None or self.answered.said is None else self.answered.said.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The search of one question: recall of its candidates and precision of its evidence, 0..1.

    ``ceiling`` is the precision of an answer with every right record in it: mostly there is but one.
    """

    question: AnswerQuestion
    recall: float
    precision: float
    ceiling: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A restricted record in the evidence or the answer of somebody who may not see it. There must be none."""

    question: AnswerQuestion
    record_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A whole measurement; ``curves`` has for each number of pieces every question asked every way."""

    looked: tuple[Looked, ...]
    curves: dict[int, tuple[Asked, ...]]
    leaks: tuple[Leak, ...]

    @property
    def asked(self) -> tuple[Asked, ...]:
        """At ``EVIDENCE`` pieces."""
        return self.curves[EVIDENCE]


class AnswerSystem:
    """A router over the articles and a reader, in this process."""

    def __init__(self, records: Sequence[Record], reader: Reader, policy: Policy | None = None) -> None:
        self._records = {record.id: record for record in records}
        self._index = LocalIndex.from_records(records, discovery=Discovery())
        self._reader = reader
        self._policy = Policy.load() if policy is None else policy

    async def measure(self, questions: Sequence[AnswerQuestion], budgets: Sequence[int] = BUDGETS) -> Measured:
        """Everything about these questions; ``EVIDENCE`` pieces are always among the budgets."""
        curves: dict[int, tuple[Asked, ...]] = {}
        for pieces in sorted({*budgets, EVIDENCE}):
            curves[pieces] = tuple([one for question in questions for one in await self._ways(question, pieces)])
        looked = tuple([await self._look(question) for question in questions if question.answered])
        leaks = tuple([leak for question in questions for leak in await self._leaks(question)])
        return Measured(looked=looked, curves=curves, leaks=leaks)

    async def _look(self, question: AnswerQuestion) -> Looked:
        request = self._request(question.text, self._scope(question), EVIDENCE)
        candidates = await self._index.router.candidates(request)
        hits = (await self._index.router.search(request)).hits
        good = sum(hit.record.id in question.relevant for hit in hits)
        return Looked(
            question=question,
            recall=question.share_of(frozenset(candidates.ids[:CANDIDATES])),
            precision=good / len(hits) if hits else 0.0,
            ceiling=min(len(question.relevant), len(hits)) / len(hits) if hits else 1.0,
        )

    async def _ways(self, question: AnswerQuestion, pieces: int) -> list[Asked]:
        return [await self._ask(question, way, pieces) for way in WAYS]

    async def _ask(self, question: AnswerQuestion, way: str, pieces: int) -> Asked:
        started_s = time.perf_counter()
        found = await self._index.router.search(self._request(question.text, self._scope(question), pieces))
        answered = await self._read(question, found, way)
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        said = None if answered is None else answered.said
        answer = said.answer if said is not None and said.answer_found else ""
        right = is_right(answer, question.answer, question.shape) if question.answered else not answer
        inquiry, sources = inquiry_of(question.text), sources_of(found.hits)
        fixed_tokens = tokens_of(messages_of(inquiry, ()))
        return Asked(
            question=question,
            way=way,
            answered=answered,
            right=right,
            tokens=0 if answered is None else answered.work.tokens_in + answered.work.tokens_out,
            batch_tokens=0 if answered is None else answered.batch_tokens,
            pieces=len(sources),
            fixed_tokens=fixed_tokens,
            evidence_tokens=tokens_of(messages_of(inquiry, sources)) - fixed_tokens,
            first=bool(found.hits) and found.hits[0].record.id in question.relevant,
            elapsed_ms=elapsed_ms,
        )

    async def _read(self, question: AnswerQuestion, found: Answer, way: str) -> Answered | None:
        if found.plan is None:
            return None
        delivery = found.plan.delivery if way == "dispatcher" else Delivery(way)
        return await answer_from(
            inquiry_of(question.text), sources_of(found.hits), delivery, self._reader, Deadline.after(_PATIENCE_MS)
        )

    async def _leaks(self, question: AnswerQuestion) -> list[Leak]:
        """Asks as somebody of another tenant."""
        if question.kind != PERMISSION:
            return []
        found = await self._index.router.search(self._request(question.text, self._policy.compile(_OUTSIDER), EVIDENCE))
        shown = {hit.record.id for hit in found.hits}
        return [Leak(question=question, record_id=one) for one in sorted(shown & question.relevant)]

    def _scope(self, question: AnswerQuestion) -> Scope:
        """That of a reader of no article's tenant, or of somebody who may see the restricted ones it is about."""
        owners = {self._records[one].access.tenant for one in question.relevant if one in self._records}
        if question.kind != PERMISSION or owners <= {SHARED_TENANT}:
            return self._policy.compile(_OUTSIDER)
        tenant = min(owners - {SHARED_TENANT})
        return self._policy.compile(replace(_OUTSIDER, tenant=tenant, roles=frozenset({"tenant_admin"})))

    @staticmethod
    def _request(text: str, scope: Scope, pieces: int) -> SearchRequest:
        return SearchRequest(
            query=text,
            scope=replace(scope, narrowing=Narrowing(kinds=frozenset({Kind.PASSAGE.value}))),
            budget=Budget(
                candidate_k=CANDIDATES,
                rerank_k=CANDIDATES,
                evidence_k=pieces,
                evidence_tokens=_TOKENS,
                timeout_ms=_PATIENCE_MS,
            ),
            deadline=Deadline.after(_PATIENCE_MS),
            request_id="eval",
        )


def measure(records: Sequence[Record], questions: Sequence[AnswerQuestion], reader: Reader) -> Measured:
    """As ``AnswerSystem.measure``, in a loop of its own."""
    return asyncio.run(AnswerSystem(records, reader).measure(questions))


def of_way(asked: Sequence[Asked], way: str) -> Iterator[Asked]:
    """The questions asked this way."""
    return (one for one in asked if one.way == way)
