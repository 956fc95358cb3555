"""An answer with its evidence as bytes: the body of ``POST /v1/answer``, and the events of its stream.

Keys always stand in the order written here. Nothing of a failure but its closed word gets out.
"""

from collections.abc import Collection
from typing import Final, Literal

import orjson
from typing_extensions import TypedDict

from cluster.answering.cleaning import clean
from cluster.answering.contract import Answered, AnswerWithEvidence, Failure, Step, Work
from cluster.contract import Answer, Hit
from serve_app.answer import coverage_view
from serve_app.answer_view import CoverageView, MissView, PlanView


class AnswerWithEvidenceView(TypedDict):
    """What the evidence answers; ``evidence_ids`` are among ``evidence``, at least one where something was found."""

    answer: str
    answer_found: bool
    complete_answer_found: bool
    evidence_ids: list[str]


class FailureView(TypedDict):
    """Why the reader gave out, and what to do next."""

    reason: Literal["timeout", "unavailable", "refused", "malformed"]
    advice: str


class EvidenceItemView(TypedDict):
    """One piece of evidence, best first; ``read`` says whether the reader was given it."""

    id: str
    title: str
    namespace: str
    source_url: str
    section: str
    form: Literal["full", "cut", "summary"]
    tokens: int
    read: bool


class UsageView(TypedDict):
    """What the answer cost. Tokens are estimated, always in the same way; ``reported`` are the endpoint's own counts.

    ``batch_tokens`` is what one call with all evidence and the same output would have cost, ``tokens_saved`` how much
    more that is than ``tokens_in`` and ``tokens_out``: below 0 where batch would have been cheaper.
    """

    calls: int
    repairs: int
    tokens_in: int
    tokens_out: int
    batch_tokens: int
    tokens_saved: int
    reported_tokens_in: int | None
    reported_tokens_out: int | None
    dropped_ids: int


class EvidenceView(TypedDict):
    """Event ``evidence``: what will be read, and how."""

    request_id: str
    plan: PlanView
    reader: str
    evidence: list[EvidenceItemView]


class StepView(TypedDict):
    """Event ``step``: one reading, of these pieces; ``answer`` is null where it failed.

    ``excerpt`` says that only the sentences of the piece that fit the question best were read.
    """

    number: int
    evidence_ids: list[str]
    excerpt: bool
    answer: AnswerWithEvidenceView | None
    failure: Literal["timeout", "unavailable", "refused", "malformed"] | None


class AnsweredView(TypedDict):
    """Body of an answer, and event ``answer``. A ``miss`` is that of the search: there was nothing to read.

    ``failure`` stands beside an ``answer`` where a part of it was found before the reader gave out. ``stopped`` says
    why no further evidence was read.
    """

    request_id: str
    kind: Literal["answer", "miss", "failure"]
    answer: AnswerWithEvidenceView | None
    miss: MissView | None
    failure: FailureView | None
    plan: PlanView | None
    delivery: Literal["sequential", "batch"] | None
    stopped: Literal["complete", "evidence_end", "timeout", "failed"] | None
    reader: str
    evidence: list[EvidenceItemView]
    usage: UsageView
    coverage: CoverageView
    truncated: bool
    exact: bool
    index_position: str
    timings_ms: dict[str, float]


ADVICE: Final = {
    Failure.TIMEOUT: "Ask again with more time, or for less evidence.",
    Failure.UNAVAILABLE: "The model's endpoint does not answer now; try again, or read the evidence yourself.",
    Failure.REFUSED: "The model's endpoint refuses the request; tell the operator, the request id finds it in the log.",
    Failure.MALFORMED: "The model did not keep to the contract, twice; try again, or read the evidence yourself.",
}


def answered_bytes(found: Answer, answered: Answered | None, reader: str, answer_ms: float) -> bytes:
    """An ``AnsweredView``; ``answered`` is None for a miss."""
    work = Work() if answered is None else answered.work
    said = None if answered is None else answered.said
    failure = None if answered is None else answered.failure
    if failure is not None and (said is None or not said.answer_found):
        # Not everything was read, so nothing is known to be missing.
        said = None
    view: AnsweredView = {
        "request_id": found.request_id,
        "kind": "miss" if answered is None else "failure" if said is None else "answer",
        "answer": None if said is None else said_view(said),
        "miss": None if found.miss is None else {"reason": found.miss.reason.value, "advice": found.miss.advice},
        "failure": None if failure is None else {"reason": failure.value, "advice": ADVICE[failure]},
        "plan": plan_view(found),
        "delivery": None if answered is None else answered.delivery.value,
        "stopped": None if answered is None else answered.stopped.value,
        "reader": reader,
        "evidence": [_item(hit, () if answered is None else answered.read_ids) for hit in found.hits],
        "usage": _usage(work, 0 if answered is None else answered.batch_tokens),
        "coverage": coverage_view(found.coverage),
        "truncated": found.truncated,
        "exact": found.exact,
        "index_position": found.index_position,
        "timings_ms": {**found.timings_ms, "answer": round(answer_ms, 3)},
    }
    return orjson.dumps(view)


def evidence_bytes(found: Answer, reader: str) -> bytes:
    """An ``EvidenceView`` of an answer with hits."""
    plan = plan_view(found)
    assert plan is not None  # noqa: S101 -- a search with hits has one
    view: EvidenceView = {
        "request_id": found.request_id,
        "plan": plan,
        "reader": reader,
        "evidence": [_item(hit, ()) for hit in found.hits],
    }
    return orjson.dumps(view)


def step_bytes(step: Step) -> bytes:
    """A ``StepView``."""
    said, failure = step.reading.said, step.reading.failure
    view: StepView = {
        "number": step.number,
        "evidence_ids": list(step.evidence_ids),
        "excerpt": step.excerpt,
        "answer": None if said is None else said_view(said),
        "failure": None if failure is None else failure.value,
    }
    return orjson.dumps(view)


def said_view(said: AnswerWithEvidence) -> AnswerWithEvidenceView:
    """The contract, as it is written on the wire."""
    return {
        "answer": said.answer,
        "answer_found": said.answer_found,
        "complete_answer_found": said.complete_answer_found,
        "evidence_ids": list(said.evidence_ids),
    }


def plan_view(found: Answer) -> PlanView | None:
    """The dispatcher's plan, as a search says it."""
    return None if found.plan is None else {"delivery": found.plan.delivery.value, "reason": found.plan.reason.value}


def _item(hit: Hit, read_ids: Collection[str]) -> EvidenceItemView:
    values = orjson.loads(hit.evidence.json)
    return {
        "id": hit.record.id,
        "title": clean(hit.record.name),
        "namespace": hit.record.namespace,
        "source_url": values.get("source_url", ""),
        "section": clean(values.get("section", "")),
        "form": hit.form.value,
        "tokens": hit.evidence.tokens,
        "read": hit.record.id in read_ids,
    }


def _usage(work: Work, batch_tokens: int) -> UsageView:
    return {
        "calls": work.calls,
        "repairs": work.repairs,
        "tokens_in": work.tokens_in,
        "tokens_out": work.tokens_out,
        "batch_tokens": batch_tokens,
        "tokens_saved": batch_tokens - work.tokens_in - work.tokens_out,
        "reported_tokens_in": work.reported_in,
        "reported_tokens_out": work.reported_out,
        "dropped_ids": work.dropped_ids,
    }
