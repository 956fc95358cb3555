"""Systems: what a service benchmark puts side by side, by name, and where each stands behind the endpoint."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One application behind the endpoint.

    Attributes:
        prefix: of its routes.
        meaning: for people, in a few words.
        searches: its answers are those of a search, so errors in them count.
    """

    name: str
    prefix: str
    meaning: str
    searches: bool = True


SHORTLIST: Final = System(name="shortlist", prefix="", meaning="searches, as served")
DRESSED: Final = System(
    name="dressed",
    prefix="/dressed",
    meaning="no search; same ingress, authentication, parsing, answer",
    searches=False,
)
BARE: Final = System(name="bare", prefix="/bare", meaning="no search; an empty 200", searches=False)
EMPTY: Final = System(
    name="empty_fanout", prefix="/fanout", meaning="bare, and one empty call to every shard", searches=False
)
NAIVE: Final = System(name="naive", prefix="/naive", meaning="searches, one actor call per shard per query")
DEFAULTS: Final = System(name="defaults", prefix="", meaning="searches behind Ray Serve with its own defaults")
LOGGED: Final = System(name="logged", prefix="/logged", meaning="searches, with the request log: shortlist's twin")
QUIET: Final = System(name="quiet", prefix="/quiet", meaning="searches, without the request log")

BASELINES: Final = (DRESSED, BARE, EMPTY, NAIVE)
"""They share the instance and the shards of ``SHORTLIST``; ``DEFAULTS`` needs an instance of its own."""

TWINS: Final = (LOGGED, QUIET)
"""As ``BASELINES``, for the comparison of the request log alone."""

BY_NAME: Final = {system.name: system for system in (SHORTLIST, *BASELINES, DEFAULTS, *TWINS)}
