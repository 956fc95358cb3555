"""Tiers: records under four tenants, so that one catalogue is seen whole, to 30 %, to 1 %, or as 100 records of it.

Which tenants a principal has decides it, as in a real policy; no kernel is told how large a share is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from shards.record import Access, Record, SideEffect, Status
from shards.scope import Grant, Scope

FEW: Final = 100


class Share(StrEnum):
    """How much of a catalogue a scope admits."""

    ALL = "100 %"
    THIRD = "30 %"
    HUNDREDTH = "1 %"
    FEW = "100 records"


TENANTS: Final = {Share.FEW: "few", Share.HUNDREDTH: "hundredth", Share.THIRD: "third", Share.ALL: "rest"}
"""The tenant of a tier's own records; a scope admits those of its tier and of all smaller ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiered:
    """One record and the smallest share that holds it."""

    record: Record
    tier: Share


def tier_of(number: int, size: int) -> Share:
    """The tier of record ``number`` of ``size``: spread evenly over the catalogue, whose order is random."""
    step = max(1, size // FEW)
    if number % step == 0 and number // step < FEW:
        return Share.FEW
    if number % 100 == 0:
        return Share.HUNDREDTH
    return Share.THIRD if number % 10 < 3 else Share.ALL  # noqa: PLR2004 -- three in ten


def tiered(records: Iterator[Record], size: int) -> Iterator[Tiered]:
    """The records, enabled and owned by the tenants of their tiers."""
    for number, record in enumerate(records):
        tier = tier_of(number, size)
        owned = replace(record, access=Access(tenant=TENANTS[tier]), status=Status.ENABLED, version=1)
        yield Tiered(record=owned, tier=tier)


def scope_of(share: Share, caller: str = "anyone") -> Scope:
    """The scope that admits ``share`` of the records; that of another caller is another one to every cache."""
    return Scope(
        grants=(
            Grant(
                reason="benchmark",
                tenants=frozenset((caller, *(TENANTS[tier] for tier in tiers_in(share)))),
                permissions=frozenset(),
                mode="autonomous",
                side_effects=frozenset(SideEffect),
            ),
        )
    )


def tiers_in(share: Share) -> Sequence[Share]:
    """The tiers that ``share`` holds, the smallest first."""
    order = list(TENANTS)
    return order[: order.index(share) + 1]
