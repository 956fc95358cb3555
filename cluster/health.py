"""Health: what the cluster as a whole can promise, a pure function of the states of its shard copies.

It watches nothing and replaces nothing; ``cluster.keeper`` does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class CopyState(StrEnum):
    """The life of one shard copy: it takes traffic only while ``ready``."""

    LOADING = "loading"
    READY = "ready"
    LOST = "lost"


class Health(StrEnum):
    """``ready``: every shard has all its copies. ``degraded``: every shard has one, some copy is missing.

    ``partial``: some shard has no ready copy, so answers lack coverage. ``starting``: as partial, but nothing was lost
    and the missing copies are loading for the first time. ``down``: no shard has a ready copy.
    """

    STARTING = "starting"
    READY = "ready"
    DEGRADED = "degraded"
    PARTIAL = "partial"
    DOWN = "down"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyHealth:
    """The state of one copy; ``first`` says that no copy in its place was ever lost."""

    shard: int
    state: CopyState
    first: bool


def health_of(shards: int, copies: Iterable[CopyHealth]) -> Health:
    """The cluster's health from the states of all its copies; ``shards`` is how many it should have, at least 1."""
    known = tuple(copies)
    served = {copy.shard for copy in known if copy.state is CopyState.READY}
    placed = {copy.shard for copy in known}
    if len(served) == shards:
        return Health.READY if all(copy.state is CopyState.READY for copy in known) else Health.DEGRADED
    waiting = [copy for copy in known if copy.shard not in served]
    first_load = all(copy.state is CopyState.LOADING and copy.first for copy in waiting)
    if first_load and len(placed) == shards:
        return Health.STARTING
    return Health.PARTIAL if served else Health.DOWN
