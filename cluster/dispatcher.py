"""Dispatcher: hand the evidence over one by one, or all at once? Decided per question, from its shape and the scores.

A pure function behind a seam. It changes neither hits nor their order, and reads no record's text. English rules.
"""

import re
from collections.abc import Sequence
from typing import Final, Protocol

from cluster.contract import Delivery, Hit, Plan, PlanReason

TIGHT_PERCENT: Final = 5
"""Top scores this close leave the choice to the reader: the retriever cannot tell them apart."""

COMPARISON: Final = re.compile(
    r"\bcompar(?:e|es|ed|ing|ison|isons)\b"
    r"|\b(?:versus|vs)\b"
    r"|\bdifferences?\s+(?:between|from|of|in)\b|\bdiffers?\s+from\b|\bdifferent\s+from\b"
    r"|\b(?:better|worse|cheaper|faster|slower|larger|smaller|higher|lower|(?:more|less)\s+\w+)\s+than\b"
    r"|\bwhich\s+(?:one\s+)?(?:is|are|was|has|have|costs?|should)\b.*\bor\b"
    r"|\bpros\s+and\s+cons\b|\badvantages?\b.*\bover\b|\btrade-?offs?\b",
    re.IGNORECASE,
)
"""Both values must lie in one window."""

LIST: Final = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you)\s+)?(?:give me a list|show me a list|list|enumerate|name)\b"
    r"|\ball\s+(?:\w+\s+){0,3}?(?!(?:this|does|always)\b)\w{3,}s\b|\b(?:each|every\s+one)\s+of\b"
    r"|\bwhat\s+are\s+(?:the|my|our|all|some)\b"
    r"|\b(?:which|what)\s+(?:\w+\s+){0,2}?\w+s\s+(?:are|were|do|have|can|could|should|support|include|need|exist)\b"
    r"|\b(?:steps|ways|options|types|kinds|examples|reasons|requirements)\s+(?:to|of|for|in)\b"
    r"|\b(?:top|first|last)\s+\d+\b",
    re.IGNORECASE,
)
"""The answer is spread over several pieces."""


class Dispatcher(Protocol):
    """Decides how evidence is handed to a model."""

    def plan(self, question: str, hits: Sequence[Hit]) -> Plan:
        """The plan for at least one hit, best first."""


class RuleDispatcher:
    """The first rule that applies: one hit, comparison, list, tight scores, else a single fact.

    A question that exactly names its first hit alone is no list, whatever its verb: "list buckets" names ListBuckets.
    Scores are compared with their mention bonus: a record named exactly stands apart from those that share words,
    and two that carry the same name are tight.
    """

    def plan(self, question: str, hits: Sequence[Hit]) -> Plan:
        """See ``Dispatcher``."""
        if len(hits) == 1:
            return Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.ONE_HIT)
        if COMPARISON.search(question):
            return Plan(delivery=Delivery.BATCH, reason=PlanReason.COMPARISON)
        if LIST.search(question) and not _named_alone(hits):
            return Plan(delivery=Delivery.BATCH, reason=PlanReason.LIST)
        if _tight(hits[0].score, hits[1].score):
            return Plan(delivery=Delivery.BATCH, reason=PlanReason.TIGHT_SCORES)
        return Plan(delivery=Delivery.SEQUENTIAL, reason=PlanReason.SINGLE_FACT)


def _named_alone(hits: Sequence[Hit]) -> bool:
    """Whether the first hit's mention bonus alone is worth more than twice all that the second one has."""
    return hits[0].bonus > 2 * hits[1].score


def _tight(first: int, second: int) -> bool:
    """Whether two scores of a non-negative ratio scale lie within ``TIGHT_PERCENT`` of the higher; 0 has no ratio."""
    return first > 0 and (first - second) * 100 <= first * TIGHT_PERCENT
