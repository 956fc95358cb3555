"""Schedule: when the requests of an open loop are due, and what became of them. It sends nothing.

Callers who do not know of each other send at random times, so the gaps are exponential. A latency counts from the time
a request was due: what it waited because the one before it was slow is part of it (no coordinated omission).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from loadtest.spread import percentile, spread

_LATE_SHARE: Final = 0.99


class Outcome(StrEnum):
    """How a request ended, from the caller's side."""

    HITS = "hits"
    MISS = "miss"
    PARTIAL = "partial"
    TIMED_OUT = "timed_out"
    REFUSED_429 = "refused_429"
    REFUSED_503 = "refused_503"
    NO_ANSWER = "no_answer"
    ERROR = "error"


ACCEPTED: Final = frozenset({Outcome.HITS, Outcome.MISS, Outcome.PARTIAL})
"""Answered with what was found, or found to be absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One request.

    Attributes:
        late_ms: how much later than due it was sent.
        latency_ms: from due to the last byte, or to giving up.
        retry_after: it named a time to come back.
    """

    outcome: Outcome
    late_ms: float
    latency_ms: float
    retry_after: bool = False


def arrivals(rate: float, seconds: float, seed: int) -> npt.NDArray[np.float64]:
    """float64[n], ascending, in [0, ``seconds``): times at which independent callers send ``rate`` requests a second.

    Raises:
        ValueError: if the rate or the time is not above 0.
    """
    if rate <= 0 or seconds <= 0:
        raise ValueError(f"rate and seconds: {rate} and {seconds} are not allowed; expected more than 0")
    random = np.random.default_rng(seed)
    number = int(rate * seconds + 6 * np.sqrt(rate * seconds) + 16)
    times = np.cumsum(random.exponential(1 / rate, number))
    return times[times < seconds]


def account(replies: Sequence[Reply], seconds: float, budget_ms: float) -> dict[str, Any]:
    """What became of the requests of ``seconds``, as plain JSON.

    ``sent`` a second, ``shares`` by outcome, ``latency`` of the accepted ones and of the refusals, of these also
    without what the generator itself was late: beside a service that fills the machine it gets its turn late,
    ``inside_budget``: the share of accepted ones that took no longer than ``budget_ms``; ``late_p99_ms``: of the
    generator itself.
    """
    accepted = np.array([reply.latency_ms for reply in replies if reply.outcome in ACCEPTED])
    refused = [reply for reply in replies if reply.outcome in {Outcome.REFUSED_429, Outcome.REFUSED_503}]
    counts = {outcome: sum(reply.outcome is outcome for reply in replies) for outcome in Outcome}
    return {
        "sent_rps": round(len(replies) / seconds, 1),
        "accepted_rps": round(len(accepted) / seconds, 1),
        "shares": {outcome.value: round(count / max(1, len(replies)), 5) for outcome, count in counts.items() if count},
        "accepted": spread(accepted),
        "refused": spread([reply.latency_ms for reply in refused]),
        "refused_from_sent": spread([reply.latency_ms - reply.late_ms for reply in refused]),
        "refusals_with_retry_after": sum(reply.retry_after for reply in refused),
        "budget_ms": budget_ms,
        "inside_budget": round(float(np.mean(accepted <= budget_ms)), 5) if len(accepted) else None,
        "late_p99_ms": round(percentile(np.sort([reply.late_ms for reply in replies]), _LATE_SHARE), 3),
        "errors": counts[Outcome.ERROR] + counts[Outcome.NO_ANSWER],
    }
