"""Scope: what one principal may see, compiled to plain sets, and the narrowing a request adds.

A scope admits a record if *any* grant admits it, no denial matches, the record is enabled, and *every* narrowing
holds. It is built by ``cluster.scope`` and evaluated by ``shards.mask``; it holds no list of what exists.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import orjson

from shards.errors import MalformedMessage
from shards.record import SideEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One source of authority, a conjunction; ``reason`` says where it comes from.

    Attributes:
        reason: the policy rule that gave it, for operators only.
        tenants: tenants whose records it admits (``"*"`` here means the shared records, not every tenant).
        permissions: permissions the caller holds; a record's required ones must be a subset.
        mode: the caller's mode; a record that lists modes must list it.
        side_effects: side effects admitted.
        namespaces: patterns, each an exact namespace or a prefix ending in ``*``; None admits every namespace.
        ids: record ids admitted, None admits every id.
        grant_list: name of a registered grant list whose ids are admitted; None means no list is asked for. An
            unknown or removed list admits nothing.
    """

    reason: str
    tenants: frozenset[str]
    permissions: frozenset[str]
    mode: str
    side_effects: frozenset[SideEffect]
    namespaces: frozenset[str] | None = None
    ids: frozenset[str] | None = None
    grant_list: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Records that no grant can admit: by namespace pattern (as in ``Grant``) or by id."""

    reason: str
    namespaces: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What a request leaves out of its own scope; None leaves the field open. It can never widen.

    ``namespaces`` takes the patterns of ``Grant.namespaces``; all others match exactly. ``releases`` matches the
    record's ``release`` (the product version it belongs to), not the registry's version counter. ``grant_list``
    names a registered list whose ids stay.
    """

    kinds: frozenset[str] | None = None
    namespaces: frozenset[str] | None = None
    products: frozenset[str] | None = None
    locales: frozenset[str] | None = None
    releases: frozenset[str] | None = None
    domains: frozenset[str] | None = None
    capabilities: frozenset[str] | None = None
    ids: frozenset[str] | None = None
    grant_list: str | None = None


@dataclass(frozen=True, kw_only=True)
class Scope:
    """A compiled scope. ``Scope(grants=())`` admits nothing: the default is to deny."""

    grants: tuple[Grant, ...]
    denials: tuple[Denial, ...] = ()
    narrowing: Narrowing = Narrowing()

    @cached_property
    def packed(self) -> bytes:
        """This scope as bytes, reasons included, made once; equal scopes have equal bytes."""
        return orjson.dumps(
            {"grants": self.grants, "denials": self.denials, "narrowing": self.narrowing},
            default=_sorted,
            option=orjson.OPT_SORT_KEYS,
        )

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The scope of ``packed``.

        Raises:
            MalformedMessage: if these are not the bytes of a scope.
        """
        try:
            raw = orjson.loads(packed)
            return cls(
                grants=tuple(
                    Grant(**_values(one) | {"side_effects": frozenset(map(SideEffect, one["side_effects"]))})
                    for one in raw["grants"]
                ),
                denials=tuple(Denial(**_values(one)) for one in raw["denials"]),
                narrowing=Narrowing(**_values(raw["narrowing"])),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            raise MalformedMessage("scope", repr(exc)) from exc

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of the meaning of this scope; equal scopes share masks and frequencies, reasons left out."""
        without_reasons = orjson.loads(self.packed)
        for part in (*without_reasons["grants"], *without_reasons["denials"]):
            del part["reason"]
        return hashlib.blake2b(orjson.dumps(without_reasons, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def _values(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass from their JSON; every list of a scope is a set."""
    return {name: frozenset(value) if isinstance(value, list) else value for name, value in raw.items()}


def _sorted(value: Any) -> list[Any]:  # noqa: ANN401 -- orjson hands over whatever it cannot write
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(type(value).__name__)
