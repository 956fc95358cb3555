"""Shadow: after an answer was sent, the same search once more with one flag the other way round, to compare.

It never touches an answer. One search at a time, only while nothing else is to be done, within a time of its own; what
it finds is counted and dropped.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol

from cluster.budget import Deadline
from cluster.contract import Answer, SearchRequest
from cluster.errors import ClusterError
from cluster.flags import WHOLE, Flag, FlagPlan
from shards.errors import ShardError

TIMEOUT_S: Final = 2.0
"""Time of one comparison; ranking everything may take longer than a request may."""


class Searcher(Protocol):
    """A router."""

    async def search(self, request: SearchRequest) -> Answer:
        """See ``cluster.router.Router.search``."""


class Outcome(StrEnum):
    """What a comparison came to.

    ``equal``: the same ids in the same order. ``different``: not so. ``incomparable``: something else differs that
    decides, too: the index moved, time ran out, vectors were used in one of the two only, or, without the index, one of
    the two is not proved exact. ``skipped``: due, but there was other work.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    INCOMPARABLE = "incomparable"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Comparisons of one flag so far."""

    compared: int
    equal: int
    incomparable: int
    skipped: int


class Shadow:
    """Draws its share of the requests and compares. Belongs to one event loop.

    Args:
        router: that gave the answers.
        plan: what is wanted now.
        busy: whether other work waits.
    """

    def __init__(self, router: Searcher, plan: Callable[[], FlagPlan], busy: Callable[[], bool]) -> None:
        self._router = router
        self._plan = plan
        self._busy = busy
        self._due: dict[Flag, int] = dict.fromkeys(Flag, 0)
        self._counts = {flag: dict.fromkeys(Outcome, 0) for flag in Flag}
        self._task: asyncio.Task[None] | None = None

    def after(self, request: SearchRequest, answer: Answer) -> None:
        """An answer was sent; returns at once, whether it is compared or not."""
        drawn = [flag for flag, percent in self._plan().shadow_percent.items() if percent and self._draw(flag, percent)]
        if not drawn:
            return
        if self._busy() or not (self._task is None or self._task.done()):
            for flag in drawn:
                self._counts[flag][Outcome.SKIPPED] += 1
            return
        self._task = asyncio.create_task(self._compare(drawn, request, answer))

    async def idle(self) -> None:
        """Until the comparison that runs is done."""
        if self._task is not None:
            await self._task

    def outcomes(self) -> Mapping[Flag, Mapping[Outcome, int]]:
        """Comparisons so far."""
        return self._counts

    def parity(self) -> dict[Flag, Parity]:
        """The same, as a share can be computed of it."""
        return {
            flag: Parity(
                compared=counts[Outcome.EQUAL] + counts[Outcome.DIFFERENT],
                equal=counts[Outcome.EQUAL],
                incomparable=counts[Outcome.INCOMPARABLE],
                skipped=counts[Outcome.SKIPPED],
            )
            for flag, counts in self._counts.items()
        }

    def _draw(self, flag: Flag, percent: int) -> bool:
        """Whether it is this request's turn; of any hundred in a row, ``percent`` are drawn."""
        self._due[flag] += percent
        if self._due[flag] < WHOLE:
            return False
        self._due[flag] -= WHOLE
        return True

    async def _compare(self, drawn: list[Flag], request: SearchRequest, answer: Answer) -> None:
        for flag in drawn:
            if self._busy():
                self._counts[flag][Outcome.SKIPPED] += 1
                continue
            clock = request.deadline.clock
            other = replace(request, flags=request.flags.flipped(flag), deadline=Deadline.of(clock(), TIMEOUT_S, clock))
            try:
                outcome = outcome_of(flag, answer, await self._router.search(other))
            except (ClusterError, ShardError):
                outcome = Outcome.INCOMPARABLE
            self._counts[flag][outcome] += 1


def outcome_of(flag: Flag, answer: Answer, other: Answer) -> Outcome:
    """Compare the answer that was sent with the one the other way round."""
    if not _comparable(flag, answer, other):
        return Outcome.INCOMPARABLE
    same = [hit.record.id for hit in answer.hits] == [hit.record.id for hit in other.hits]
    return Outcome.EQUAL if same else Outcome.DIFFERENT


def _comparable(flag: Flag, answer: Answer, other: Answer) -> bool:
    if answer.index_position != other.index_position or not (answer.coverage.full and other.coverage.full):
        return False
    if flag is Flag.HYBRID_TOOL_DISCOVERY:
        return True
    if flag is Flag.INDEXED_CANDIDATE_RETRIEVAL and not (answer.exact and other.exact):
        return False
    return answer.vectors.state is other.vectors.state
