"""READ THIS FIRST of answering. Evidence one piece at a time until the answer is complete, or all of it at once.

Piece by piece, the first look is at an excerpt of the best piece; where that does not answer all, the piece is read
whole beside the next one.

It knows neither models nor HTTP, and hands a reader nothing but the question and authorized evidence: pieces that carry
a part of the answer are read again beside the next one, never told about.
"""

from collections.abc import Awaitable, Callable, Sequence

import orjson

from cluster.answering.contract import (
    Answered,
    AnswerWithEvidence,
    Failure,
    Inquiry,
    Reader,
    Reading,
    Source,
    Step,
    Stop,
    Work,
)
from cluster.answering.excerpt import excerpt_of
from cluster.answering.prompts import messages_of, tokens_of
from cluster.budget import Deadline
from cluster.contract import Delivery
from cluster.tokens import estimate_tokens

OnStep = Callable[[Step], Awaitable[None]]
"""Hears of every reading as soon as it is there."""


async def unheard(_step: Step) -> None:
    """Nobody listens."""


async def answer_from(
    inquiry: Inquiry,
    sources: Sequence[Source],
    delivery: Delivery,
    reader: Reader,
    deadline: Deadline,
    *,
    on_step: OnStep = unheard,
) -> Answered:
    """The answer that a reader finds in at least one source, best first. No call starts after the deadline."""
    progress = _Progress(inquiry, sources, delivery)
    while progress.stopped is None:
        given = progress.ahead()
        if not given:
            progress.stopped = Stop.EVIDENCE_END
        elif deadline.remaining_ms() <= 0:
            progress.fail(Failure.TIMEOUT)
        else:
            reading = await reader.read(inquiry, given, deadline)
            await on_step(progress.take(given, reading))
    return Answered(
        delivery=delivery,
        said=progress.said,
        failure=progress.failure,
        stopped=progress.stopped,
        read_ids=tuple(one.id for one in sources[: progress.served]),
        work=progress.work,
        batch_tokens=_batch_tokens(inquiry, sources, progress.said),
    )


class _Progress:
    """How far an answer is."""

    def __init__(self, inquiry: Inquiry, sources: Sequence[Source], delivery: Delivery) -> None:
        self.said: AnswerWithEvidence | None = None
        self.failure: Failure | None = None
        self.stopped: Stop | None = None
        self.served = 0
        self.work = Work()
        self._sources = sources
        self._steps = 0
        self._at_once = 1 if delivery is Delivery.SEQUENTIAL else len(sources)
        self._first = excerpt_of(inquiry, sources[0]) if delivery is Delivery.SEQUENTIAL else sources[0]

    def ahead(self) -> list[Source]:
        """What to read next: what carries the answer so far with the next piece; nothing where all was read."""
        if self._steps == 0 and self._excerpted:
            return [self._first]
        fresh = self._sources[self.served :][: self._at_once]
        if self._steps == 1 and self._excerpted:
            # Of the best piece only an excerpt was read.
            return [self._sources[0], *fresh]
        carried = () if self.said is None else self.said.evidence_ids
        return [*(one for one in self._sources[: self.served] if one.id in carried), *fresh] if fresh else []

    @property
    def _excerpted(self) -> bool:
        return self._first is not self._sources[0]

    def take(self, given: Sequence[Source], reading: Reading) -> Step:
        """A reading was made; the last one that found something stands, for it has read what carried those before."""
        self._steps += 1
        self.served = max(self.served, 1 + [one.id for one in self._sources].index(given[-1].id))
        self.work = self.work.plus(reading.work)
        if reading.failure is not None:
            self.fail(reading.failure)
        elif reading.said is not None and (reading.said.answer_found or self.said is None):
            self.said = reading.said
            if reading.said.complete_answer_found:
                self.stopped = Stop.COMPLETE
        return Step(
            number=self._steps,
            evidence_ids=tuple(one.id for one in given),
            excerpt=given[0] is not self._sources[0] and given[0] is self._first,
            reading=reading,
        )

    def fail(self, failure: Failure) -> None:
        """The reader, or time, gave out; what was found before stands."""
        self.failure = failure
        self.stopped = Stop.TIMEOUT if failure is Failure.TIMEOUT else Stop.FAILED


def _batch_tokens(inquiry: Inquiry, sources: Sequence[Source], said: AnswerWithEvidence | None) -> int:
    """One prompt with every source, and one output that says the same."""
    return tokens_of(messages_of(inquiry, sources)) + (0 if said is None else output_tokens(said))


def output_tokens(said: AnswerWithEvidence) -> int:
    """Estimated tokens of an output of the contract; a label is as long as ``E12``."""
    labelled = {
        "answer": said.answer,
        "answer_found": said.answer_found,
        "complete_answer_found": said.complete_answer_found,
        "evidence_ids": ["E12"] * len(said.evidence_ids),
    }
    return estimate_tokens(orjson.dumps(labelled).decode())
