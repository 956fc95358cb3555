"""ModelReader: reads evidence by a language model, whose output is repaired once and then given up.

It speaks no protocol: ``ChatModel`` is the seam to whatever does.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from cluster.answering.contract import AnswerWithEvidence, Failure, Inquiry, Reading, Source, Work
from cluster.answering.output import BrokenOutput, said_in
from cluster.answering.prompts import Message, messages_of, repair_of, tokens_of
from cluster.budget import Deadline
from cluster.tokens import estimate_tokens

REPAIRS: Final = 1
"""Further calls that show a model the error of its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model said, with its endpoint's own counts of tokens, None where it gives none."""

    text: str
    tokens_in: int | None
    tokens_out: int | None


class ModelFailed(Exception):
    """A call gave no output; ``cause`` is a closed word or an HTTP status, for operators."""

    def __init__(self, failure: Failure, cause: str) -> None:
        super().__init__(failure, cause)
        self.failure = failure
        self.cause = cause


class ChatModel(Protocol):
    """A model behind some protocol."""

    name: str

    async def complete(self, messages: Sequence[Message], timeout_s: float) -> Completion:
        """One call without retries.

        Raises:
            ModelFailed: if there is no output; after ``timeout_s`` at the latest.
        """


class ModelReader:
    """See the module and ``cluster.answering.contract.Reader``."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = f"model:{model.name}"

    async def read(self, inquiry: Inquiry, sources: Sequence[Source], deadline: Deadline) -> Reading:
        """See ``Reader``: one call, and ``REPAIRS`` more where the output breaks the contract."""
        chat = messages_of(inquiry, sources)
        messages, work = chat, Work()
        for attempt in range(1 + REPAIRS):
            if deadline.remaining_ms() <= 0:
                return Reading(said=None, failure=Failure.TIMEOUT, work=work, cause="deadline")
            work = work.plus(Work(calls=1, repairs=int(attempt > 0), tokens_in=tokens_of(messages)))
            try:
                completion = await self._call(messages, deadline)
            except ModelFailed as failed:
                return Reading(said=None, failure=failed.failure, work=_unreported(work), cause=failed.cause)
            work = work.plus(_output_of(completion))
            try:
                said, dropped = said_in(completion.text, sources)
            except BrokenOutput as broken:
                work = replace(work, dropped_ids=work.dropped_ids + broken.dropped)
                messages = repair_of(chat, completion.text, broken.reason)
                continue
            return _read(said, replace(work, dropped_ids=work.dropped_ids + dropped))
        return Reading(said=None, failure=Failure.MALFORMED, work=work, cause="contract")

    async def _call(self, messages: Sequence[Message], deadline: Deadline) -> Completion:
        """A call that ends with the deadline, even where the endpoint sends a byte now and then."""
        timeout_s = deadline.remaining_ms() / 1000
        try:
            async with asyncio.timeout(timeout_s):
                return await self._model.complete(messages, timeout_s)
        except TimeoutError as exc:
            raise ModelFailed(Failure.TIMEOUT, "deadline") from exc


def _read(said: AnswerWithEvidence, work: Work) -> Reading:
    return Reading(said=said, failure=None, work=work)


def _output_of(completion: Completion) -> Work:
    return Work(
        tokens_out=estimate_tokens(completion.text),
        reported_in=completion.tokens_in,
        reported_out=completion.tokens_out,
    )


def _unreported(work: Work) -> Work:
    """Nobody knows what the endpoint counted of a call that failed."""
    return replace(work, reported_in=None, reported_out=None)
