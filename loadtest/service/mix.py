"""Mix: what each caller of a service benchmark sees: all of a catalogue, about 30 %, about 1 %, or some 100 records.

Roles of a policy of its own decide it, by the namespaces that the catalogue has, as a team sees the servers it works
with. Drawn from a seed: equal catalogues have equal mixes. It makes no token and starts nothing.
"""

import json
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

from sqlalchemy import func, select

from cluster.policy_file import read_policy_file
from cluster.registry import Registry
from cluster.registry_schema import records
from loadtest.tiers import FEW, Share
from shards.record import SideEffect, Status

SEED: Final = 149

TEN: Final = (*[Share.ALL] * 3, *[Share.THIRD] * 3, *[Share.HUNDREDTH] * 3, Share.FEW)
"""What ten callers in a row see, in an order of their own."""

ROLES: Final = {Share.ALL: 1, Share.THIRD: 12, Share.HUNDREDTH: 24, Share.FEW: 24}
"""Roles of each share, at most; the namespaces of each were drawn anew."""

OPERATOR: Final = "operator"
"""The role that may read the metrics; it sees nothing."""

_SHARED: Final = "*"
_NEAR: Final = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What the holders of one role see.

    Attributes:
        namespaces: None for all of them.
        records: how many those are.
    """

    share: Share
    role: str
    namespaces: tuple[str, ...] | None
    records: int


@dataclass(frozen=True)
class Mix:
    """The parts of a catalogue with so many shared records in each namespace."""

    sizes: Mapping[str, int]

    @classmethod
    def in_home(cls, home: Path) -> "Mix":
        """Of the registry in ``home``: of its enabled records that are shared with everybody."""
        registry = Registry.in_home(home)
        try:
            with registry.engine.connect() as connection:
                shared = (records.c.tenant == _SHARED, records.c.status == Status.ENABLED.value)
                counted = select(records.c.namespace, func.count()).where(*shared).group_by(records.c.namespace)
                return cls({row[0]: row[1] for row in connection.execute(counted.order_by(records.c.namespace))})
        finally:
            registry.close()

    @cached_property
    def parts(self) -> Mapping[Share, tuple[Part, ...]]:
        """By share; each has one at least, and none of them is empty where the catalogue is not."""
        total = sum(self.sizes.values())
        wanted = {Share.THIRD: 0.3 * total, Share.HUNDREDTH: 0.01 * total, Share.FEW: FEW}
        whole = Part(share=Share.ALL, role="all", namespaces=None, records=total)
        found: dict[Share, tuple[Part, ...]] = {Share.ALL: (whole,)}
        for share, most in wanted.items():
            drawn = dict.fromkeys(self._drawn(f"{SEED}/{share.name}/{n}", most) for n in range(ROLES[share]))
            parts = tuple(self._part(share, number, names) for number, names in enumerate(drawn) if names)
            found[share] = parts or found[Share.ALL]
        return found

    def of(self, caller: int) -> Part:
        """What caller ``caller`` sees: the same one always sees the same."""
        ten, place = divmod(caller, len(TEN))
        share = Random(f"{SEED}/{ten}").sample(TEN, len(TEN))[place]  # noqa: S311 -- an order that can be drawn again
        return Random(f"{SEED}/caller/{caller}").choice(self.parts[share])  # noqa: S311 -- as above

    def policy(self) -> bytes:
        """The policy file with a role for each part, and with the shipped modes."""
        every = sorted(effect.value for effect in SideEffect)
        shipped = read_policy_file()
        roles: dict[str, object] = {OPERATOR: {"operate": True}}
        for part in (part for parts in self.parts.values() for part in parts):
            seen = {"tenants": ["$tenant", _SHARED], "permissions": ["read", "write", "admin"], "side_effects": every}
            limit = {} if part.namespaces is None else {"namespaces": part.namespaces}
            roles[part.role] = {"grants": [{"name": "seen", **seen, **limit}]}
        modes = {name: mode.model_dump(mode="json") for name, mode in shipped.modes.items()}
        # JSON is YAML.
        return json.dumps({"modes": modes, "roles": roles}).encode()

    def told(self, callers: int) -> dict[str, Any]:
        """What the first ``callers`` see, as plain JSON: by share how many they are, and of how many records."""
        seen = Counter(self.of(number) for number in range(callers))
        told = {}
        for share in Share:
            sizes = [part.records for part, number in seen.items() if part.share is share for _ in range(number)]
            if sizes:
                few, many = min(sizes), max(sizes)
                told[share.value] = {
                    "callers": len(sizes), "records_min": few, "records_median": statistics.median_low(sizes),
                    "records_max": many,
                }  # fmt: skip
        return told

    def _part(self, share: Share, number: int, names: tuple[str, ...]) -> Part:
        size = sum(map(self.sizes.__getitem__, names))
        return Part(share=share, role=f"{share.name.lower()}-{number}", namespaces=names, records=size)

    def _drawn(self, seed: str, most: float) -> tuple[str, ...]:
        """Namespaces with about ``most`` records together, the large ones sooner: teams work with few servers."""
        random = Random(seed)  # noqa: S311 -- as above
        keys = {name: random.random() ** (1 / size) for name, size in self.sizes.items()}
        chosen: list[str] = []
        total = 0
        for name in sorted(keys, key=keys.__getitem__, reverse=True):
            if total + self.sizes[name] <= most * _NEAR:
                chosen.append(name)
                total += self.sizes[name]
            if total >= most / _NEAR:
                break
        return tuple(sorted(chosen)) or tuple(islice(sorted(self.sizes, key=self.sizes.__getitem__), 1))
