"""ListingSystem: anything that turns a query into a list of ids, measured like shortlist. It ranks nothing itself."""

import time
from collections.abc import Collection, Mapping
from typing import Protocol

from evals.run import Found


class Searcher(Protocol):
    """A search over a catalogue it was built with, without scopes, proofs or claims."""

    def search(self, query: str, n: int) -> tuple[str, ...]:
        """The best ``n`` ids, best first; only those that match at all."""


class ListingSystem:
    """A ``Searcher`` as a ``System``.

    Args:
        name: how reports call it.
        identity: names and versions of what decides its order.
    """

    def __init__(self, name: str, searcher: Searcher, identity: Mapping[str, str], *, k: int, n: int) -> None:
        self.name = name
        self.identity = identity
        self._searcher = searcher
        self._k = k
        self._n = n

    def search(self, question: str) -> Found:
        """See ``System``."""
        started_s = time.perf_counter()
        candidates = self._searcher.search(question, self._n)
        elapsed_ms = (time.perf_counter() - started_s) * 1000
        return Found(
            ranked=candidates[: self._k],
            scores=(),
            candidates=candidates,
            miss=None if candidates else "no_match",
            exact=None,
            elapsed_ms=elapsed_ms,
        )

    def full_ranking(self, question: str) -> None:
        """See ``System``: its scores cannot be compared."""

    def hidden(self, ids: Collection[str]) -> Mapping[str, str]:  # noqa: ARG002 -- the protocol's
        """See ``System``: it knows no scopes."""
        return {}
