"""The values of an answer to a question: what a reader gets, what it says, what it cost, and how it failed.

No behaviour but sums. ``AnswerWithEvidence`` is the contract that a model's output is held to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cluster.budget import Deadline
from cluster.contract import Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWithEvidence:
    """What a reader says after looking at some evidence.

    Attributes:
        answer: in the language of the question; empty if and only if nothing was found.
        answer_found: the evidence answers at least a part of the question.
        complete_answer_found: it answers all of it; never without ``answer_found``.
        evidence_ids: the pieces that carry the answer, each once, only ones that the reader was given; at least one
            where something was found, none otherwise.
    """

    answer: str
    answer_found: bool
    complete_answer_found: bool
    evidence_ids: tuple[str, ...]


NOTHING_FOUND = AnswerWithEvidence(answer="", answer_found=False, complete_answer_found=False, evidence_ids=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One authorized piece of evidence as a reader gets it.

    Attributes:
        id: of the record; models never see it.
        label: what models call it, unique within one answer.
        title: cleaned, as all of its texts: see ``cluster.answering.cleaning``.
        section: where in its document it stands, empty where unknown.
        text: what it says.
        about: further fields that tell it from others (release, parameters), by name.
    """

    id: str
    label: str
    title: str
    section: str
    text: str
    about: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question as a reader gets it: its cleaned text, and the shape of each part of the answer; at least one.

    Shapes are values of ``cluster.question_lexicon.AnswerShape``.
    """

    text: str
    shapes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What reading cost.

    Attributes:
        calls: to the model, or passes of the extractive reader.
        repairs: calls that showed a model the error of its output.
        tokens_in: of every prompt, by ``cluster.tokens``.
        tokens_out: of every output, by the same estimate.
        reported_in: of every prompt as the endpoint counted them, None where it did not always say.
        reported_out: of every output, alike.
        dropped_ids: ids that a model cited and was not given.
    """

    calls: int = 0
    repairs: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    reported_in: int | None = 0
    reported_out: int | None = 0
    dropped_ids: int = 0

    def plus(self, other: "Work") -> "Work":
        """Both together; what one of them did not report is not known of both."""
        return Work(
            calls=self.calls + other.calls,
            repairs=self.repairs + other.repairs,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            reported_in=_sum(self.reported_in, other.reported_in),
            reported_out=_sum(self.reported_out, other.reported_out),
            dropped_ids=self.dropped_ids + other.dropped_ids,
        )


class Failure(StrEnum):
    """Why a reader gave no answer.

    ``timeout``: the time of the answer was over. ``unavailable``: the endpoint does not answer, or is overloaded.
    ``refused``: it rejects the request; only its operator can help. ``malformed``: its output broke the contract twice.
    """

    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One look of a reader at some evidence: what it says, or why it could not; and the work in both cases.

    ``cause`` says more of a failure, in a closed word or an HTTP status, for operators only.
    """

    said: AnswerWithEvidence | None
    failure: Failure | None
    work: Work
    cause: str = ""


class Reader(Protocol):
    """Answers a question from pieces of evidence. Adds nothing to them, remembers nothing."""

    name: str
    """Stands in answers: ``extractive``, or ``model:`` and its name."""

    async def read(self, inquiry: Inquiry, sources: Sequence[Source], deadline: Deadline) -> Reading:
        """One look at at least one source; back at the deadline at the latest. Failures are values, not errors."""


class Stop(StrEnum):
    """Why no further evidence was read."""

    COMPLETE = "complete"
    EVIDENCE_END = "evidence_end"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reading of an answer, as it happens: which pieces were read, and what was said.

    ``excerpt``: only the sentences of the one piece that fit best were read.
    """

    number: int
    evidence_ids: tuple[str, ...]
    excerpt: bool
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The end of an answer.

    Attributes:
        said: the best reading; None only where the first one failed.
        failure: why the last reading failed, None where it did not.
        read_ids: pieces that were read at least once, in the order of their first reading.
        batch_tokens: what one call with every piece and the same output would have cost, by the same estimate.
    """

    delivery: Delivery
    said: AnswerWithEvidence | None
    failure: Failure | None
    stopped: Stop
    read_ids: tuple[str, ...]
    work: Work
    batch_tokens: int

    @property
    def tokens_saved(self) -> int:
        """Tokens in and out that batch would have cost more; below 0 where it would have been cheaper."""
        return self.batch_tokens - self.work.tokens_in - self.work.tokens_out


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
