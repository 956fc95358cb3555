"""Dispatcher: hand the evidence over one by one, or all at once? Decided per question, from its shape and the scores.

A pure function behind a seam. It changes neither hits nor their order, reads no record's text, and knows no language:
what a question asks for, ``cluster.question`` says.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from cluster.contract import Delivery, Hit, Plan, PlanReason
from cluster.question import Question, QuestionParser, question_of, shipped_parser
from cluster.question_lexicon import AnswerShape

TIGHT_PERCENT: Final = 5
"""Top scores this close leave the choice to the reader: the retriever cannot tell them apart."""


class Dispatcher(Protocol):
    """Decides how evidence is handed to a model."""

    def plan(self, question: str, hits: Sequence[Hit], shape: AnswerShape | None = None) -> Plan:
        """The plan for at least one hit, best first; with the caller's own ``shape``, the words decide nothing."""


class RuleDispatcher:
    """The first rule that applies: one hit, comparison, several parts, list, tight scores, else a single fact.

    A question that exactly names its first hit alone is no list, whatever its verb: "list buckets" names ListBuckets.
    A list that the caller asked for is one. Scores are compared with their mention bonus: a record named exactly stands
    apart from those that share words, and two that carry the same name are tight.
    """

    def __init__(self, parser: QuestionParser | None = None) -> None:
        """With the shipped parser unless another is given."""
        self._parser = parser or shipped_parser()

    def plan(self, question: str, hits: Sequence[Hit], shape: AnswerShape | None = None) -> Plan:
        """See ``Dispatcher``."""
        if len(hits) == 1:
            return Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.ONE_HIT)
        asked = self._parser.parse(question) if shape is None else question_of(shape)
        reason = spread_of(asked)
        if reason is PlanReason.LIST and shape is None and _named_alone(hits):
            reason = None
        if reason is None and _tight(hits[0].score, hits[1].score):
            reason = PlanReason.TIGHT_SCORES
        if reason is None:
            return Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.SINGLE_FACT)
        return Plan(delivery=Delivery.BATCH, reason=reason)


def spread_of(question: Question) -> PlanReason | None:
    """Why an answer is spread over several pieces by its words alone; None where one piece can hold it."""
    if AnswerShape.COMPARISON in question.parts:
        return PlanReason.COMPARISON
    if question.several:
        return PlanReason.SEVERAL_PARTS
    return PlanReason.LIST if question.shape is AnswerShape.LIST else None


def _named_alone(hits: Sequence[Hit]) -> bool:
    """Whether the first hit's mention bonus alone is worth more than twice all that the second one has."""
    return hits[0].bonus > 2 * hits[1].score


def _tight(first: int, second: int) -> bool:
    """Whether two scores of a non-negative ratio scale lie within ``TIGHT_PERCENT`` of the higher; 0 has no ratio."""
    return first > 0 and (first - second) * 100 <= first * TIGHT_PERCENT
