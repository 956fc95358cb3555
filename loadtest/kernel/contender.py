"""Contender: an engine that is measured, and what it is asked. It measures nothing but one call."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from loadtest.tiers import Share

HITS: Final = 10
"""Hits that every contender is asked for."""

Search = Callable[[], float]
"""One call, ready to run; returns the CPU seconds it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One record as the peers get it: its analysed terms joined by blanks, and its tier."""

    text: str
    tier: Share


Lines = Callable[[], Iterator[Line]]
"""The records from the first on, as often as they are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One query: its text, and its terms without repeats, stop words and marks."""

    text: str
    terms: tuple[str, ...]


class Contender(Protocol):
    """An engine with an index.

    Attributes:
        name: in results and pictures.
        at_once: questions that one call answers.
    """

    name: str
    at_once: int

    def prepared(self, questions: Sequence[Question], share: Share) -> Search:
        """A call by callers who see ``share``, with at most ``at_once`` questions in the engine's own form already."""


def timed(search: Callable[[], object]) -> Search:
    """``search`` on the clock of this process."""

    def run() -> float:
        started_s = time.process_time()
        search()
        return time.process_time() - started_s

    return run
