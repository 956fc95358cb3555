"""Flags: which ways of answering a request are on, decided once for each request by its text alone.

It reads no file and counts nothing: ``cluster.flag_watch`` follows the settings, ``cluster.shadow`` compares.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Final

FULL_HITS: Final = 3
"""Hits that come with their full schemas under PROGRESSIVE_SCHEMA_LOADING; those behind them come as summaries."""

WHOLE: Final = 100
"""Percent of all queries."""


class Flag(StrEnum):
    """One way of answering.

    ``progressive_schema_loading``: full schemas for the first ``FULL_HITS`` hits, summaries after them; the rest of a
    record is at ``GET /v1/records/{id}``. ``adaptive_discovery_k``: an answer ends where its scores fall away.
    ``hybrid_tool_discovery``: vectors have a part in the ranking; off, a search goes by words alone.
    ``vector_candidate_retrieval``: vectors find records that share no word with the query; off, they only order what
    words have found. ``indexed_candidate_retrieval``: shards cut by the index score and the cut is proved; off,
    everything authorized that matches is ranked, which is slow and gives the same answer.
    """

    PROGRESSIVE_SCHEMA_LOADING = "progressive_schema_loading"
    ADAPTIVE_DISCOVERY_K = "adaptive_discovery_k"
    HYBRID_TOOL_DISCOVERY = "hybrid_tool_discovery"
    VECTOR_CANDIDATE_RETRIEVAL = "vector_candidate_retrieval"
    INDEXED_CANDIDATE_RETRIEVAL = "indexed_candidate_retrieval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags that hold for one request, from its beginning to its end; see ``Flag``."""

    progressive_schema_loading: bool = False
    adaptive_discovery_k: bool = False
    hybrid_tool_discovery: bool = True
    vector_candidate_retrieval: bool = True
    indexed_candidate_retrieval: bool = True

    def flipped(self, flag: Flag) -> "Flags":
        """All the same but for this one."""
        flipped: dict[str, bool] = {flag.value: not getattr(self, flag.value)}
        return replace(self, **flipped)

    @property
    def held(self) -> tuple[str, ...]:
        """Names of those that hold, in the order of ``Flag``."""
        return _held(self)


@lru_cache(maxsize=1 << len(Flag))
def _held(flags: Flags) -> tuple[str, ...]:
    return tuple(flag.value for flag in Flag if getattr(flags, flag.value))


DEFAULT_FLAGS: Final = Flags()

DEFAULT_ROLLOUT: Final[Mapping[Flag, int]] = MappingProxyType(
    {flag: WHOLE if getattr(DEFAULT_FLAGS, flag.value) else 0 for flag in Flag}
)

NO_SHADOW: Final[Mapping[Flag, int]] = MappingProxyType(dict.fromkeys(Flag, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagPlan:
    """For which share of queries each flag holds, and for which share of requests the other way is tried, too.

    Attributes:
        rollout_percent: of queries, by their text, 0..100; every flag is there.
        shadow_percent: of requests, 0..100; every flag is there.
    """

    rollout_percent: Mapping[Flag, int] = field(default_factory=lambda: DEFAULT_ROLLOUT)
    shadow_percent: Mapping[Flag, int] = field(default_factory=lambda: NO_SHADOW)

    def of(self, query: str) -> Flags:
        """The flags that hold for a query; the same ones every time."""
        held: dict[str, bool] = {
            flag.value: rolled_out(flag, query, percent) for flag, percent in self.rollout_percent.items()
        }
        return Flags(**held)


def rolled_out(flag: Flag, query: str, percent: int) -> bool:
    """Whether a query is among the ``percent`` of all queries for which a flag holds; the same ones every time.

    Who is in stays in when ``percent`` rises. Each flag draws its own share, so that two of them at a tenth do not
    meet in the same queries.
    """
    if percent in {0, WHOLE}:
        return percent == WHOLE
    digest = hashlib.blake2b(query.encode(errors="surrogatepass"), digest_size=8, key=flag.value.encode()).digest()
    return int.from_bytes(digest, "big") % WHOLE < percent
