"""Budget: every ceiling of one request, made once at the edge and obeyed by each stage.

A caller may lower a ceiling, never raise it. The clock starts at arrival; ``Deadline`` hands each stage what is left.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from cluster.errors import InvalidRequest
from shards.record import Kind

Clock = Callable[[], float]
"""A monotonic clock in seconds; tests inject their own."""


MOST_EVIDENCE_BYTES: Final = 16 * 2**20
"""The highest ceiling there is on the bytes of evidence; 1,000 records of a real catalogue stay below it."""

EVIDENCE_BYTES: Final = 128 * 2**10
"""The shipped one: twice what 2,400 tokens in 128 records come to, so that tokens decide unless a caller lowers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Ceilings of one request. ``evidence_k <= rerank_k <= candidate_k`` holds by construction.

    Attributes:
        candidate_k: records that survive the index cut.
        rerank_k: records handed to the ranker.
        evidence_k: records in the answer.
        evidence_tokens: tokens of all evidence together.
        evidence_bytes: of the JSON of all evidence together, in the native format.
        timeout_ms: from arrival to answer.
    """

    candidate_k: int
    rerank_k: int
    evidence_k: int
    evidence_tokens: int
    evidence_bytes: int = MOST_EVIDENCE_BYTES
    timeout_ms: int

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = getattr(self, spec.name)
            if value < 1:
                raise InvalidRequest(f"budget.{spec.name}", str(value), "an integer of at least 1")

    def for_hits(self, k: int) -> Self:
        """This budget with ``k`` places in the answer; earlier stages have at least as many."""
        return replace(self, candidate_k=max(self.candidate_k, k), rerank_k=max(self.rerank_k, k), evidence_k=k)

    def lowered(self, **asked: int | None) -> Self:
        """This budget with the asked ceilings lowered; later stages never exceed earlier ones.

        Raises:
            InvalidRequest: if a ceiling is asked that is above the own one or below 1.
        """
        values = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        for name, value in asked.items():
            if value is None:
                continue
            if not 1 <= value <= values[name]:
                raise InvalidRequest(f"budget.{name}", str(value), f"an integer from 1 to {values[name]}")
            values[name] = value
        values["rerank_k"] = min(values["rerank_k"], values["candidate_k"])
        values["evidence_k"] = min(values["evidence_k"], values["rerank_k"])
        return type(self)(**values)


DEFAULT_BUDGETS: Final = {
    Kind.TOOL: Budget(
        candidate_k=100,
        rerank_k=100,
        evidence_k=10,
        evidence_tokens=2400,
        evidence_bytes=EVIDENCE_BYTES,
        timeout_ms=800,
    ),
    Kind.PASSAGE: Budget(
        candidate_k=40, rerank_k=12, evidence_k=4, evidence_tokens=2400, evidence_bytes=EVIDENCE_BYTES, timeout_ms=800
    ),
}


MOST_K: Final = {Kind.TOOL: 128, Kind.PASSAGE: 12}
"""The most hits that a request may name, as far as its mode allows as many."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a request's time, on the clock of this process; other processes get remaining milliseconds.

    Attributes:
        since_s: when its time began: of those who wait for the same, who began first goes first.
    """

    at_s: float
    clock: Clock = time.monotonic
    since_s: float = 0.0

    @classmethod
    def of(cls, since_s: float, timeout_s: float, clock: Clock) -> Self:
        """A deadline ``timeout_s`` after the time at which a request began."""
        return cls(since_s + timeout_s, clock, since_s)

    @classmethod
    def after(cls, timeout_ms: float) -> Self:
        """A deadline ``timeout_ms`` from now."""
        return cls.of(time.monotonic(), timeout_ms / 1000, time.monotonic)

    def earlier(self, seconds: float) -> Self:
        """The same with so much less time."""
        return replace(self, at_s=self.at_s - seconds)

    def remaining_ms(self) -> float:
        """Milliseconds left, never below 0."""
        return max(0.0, (self.at_s - self.clock()) * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a request really used, beside the ceilings of ``Budget``; independent of the number of shards.

    ``matched`` is how many authorized records share anything with the query, so that a caller sees that more exist.
    ``dropped`` is how many of the final hits did not fit ``evidence_tokens`` and ``evidence_bytes`` in any form.
    ``dropped_tokens`` are those of the final hits in full that are not in the answer: dropped, summarised or cut.
    """

    candidates: int
    reranked: int
    evidence: int
    evidence_tokens: int
    evidence_bytes: int = 0
    matched: int
    dropped: int = 0
    dropped_tokens: int = 0
