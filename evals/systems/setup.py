"""Setup: how every system of one evaluation is built and asked. It builds nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.abstention import Strictness
from shards.record import SHARED_TENANT, SideEffect
from shards.scope import Grant, Narrowing, Scope

UNLIMITED_TOKENS: Final = 2**31
"""Unless an evaluation asks for a budget, tokens decide nothing."""

EVERYTHING: Final = Scope(
    grants=(
        Grant(
            reason="evaluation",
            tenants=frozenset({SHARED_TENANT}),
            permissions=frozenset(),
            mode="analyzer",
            side_effects=frozenset(SideEffect),
        ),
    )
)
"""Admits every record that ``evals.data`` opened."""

OPEN: Final = Narrowing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the systems of an evaluation are built and asked.

    Attributes:
        k: most ids in an answer.
        n: candidates to report, at least ``k``.
        shards: parts of shortlist's index.
        scope: what the questions' caller may see; peers know no scopes and see everything.
        narrowing: what each question leaves out of that.
        evidence_tokens: shortlist's budget for one answer.
        abstention: how strictly talk is turned away, None not at all.
        adaptive: whether every K is adaptive.
        models: names of the embedding models that systems with vectors use.
        vector_cache: database file of vectors that are not embedded again; None keeps none.
    """

    k: int
    n: int
    shards: int = 1
    scope: Scope = EVERYTHING
    narrowing: Narrowing = OPEN
    evidence_tokens: int = UNLIMITED_TOKENS
    abstention: Strictness | None = Strictness.BALANCED
    adaptive: bool = False
    models: tuple[str, ...] = ()
    vector_cache: Path | None = None
