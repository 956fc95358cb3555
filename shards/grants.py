"""Grant lists: the registered id sets that scopes name instead of carrying ids.

Whether a caller may use a list was decided when its scope was compiled.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shards.scope import Scope

ABSENT: Final = -1
"""The version of a list that is not registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantList:
    """One list; ``version`` differs between any two states of it in the life of a shard."""

    version: int
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class GrantLists:
    """All grant lists of a shard at one index state; immutable."""

    lists: Mapping[str, GrantList] = field(default_factory=dict)

    def ids(self, name: str) -> frozenset[str]:
        """Ids of a list; empty for a list that does not exist."""
        found = self.lists.get(name)
        return frozenset() if found is None else found.ids

    def versions(self, scope: Scope) -> tuple[int, ...]:
        """Versions of the lists that ``scope`` names, in its order; masks are cached under them."""
        names = [grant.grant_list for grant in scope.grants] + [scope.narrowing.grant_list]
        return tuple(self._version(name) for name in names if name is not None)

    def _version(self, name: str) -> int:
        found = self.lists.get(name)
        return ABSENT if found is None else found.version

    def changed(self, changes: Mapping[str, Iterable[str] | None], version: int) -> "GrantLists":
        """These lists with some replaced, or removed where None; ``version`` was never used before."""
        lists = dict(self.lists)
        for name, ids in changes.items():
            if ids is None:
                lists.pop(name, None)
            else:
                lists[name] = GrantList(version=version, ids=frozenset(ids))
        return GrantLists(lists)
