"""The look for near-duplicates of one record: candidates by the search's own retrieval, each compared on its own.

Who may see what is decided by the scope, before anything is compared; a budget of its own says how many and how long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cluster.budget import Budget, Deadline
from cluster.contract import Coverage, SearchRequest, VectorState
from cluster.duplicates import Judgement, Verdict, canonical_of, judge
from cluster.router import Router
from shards.record import Record
from shards.scope import Narrowing, Scope

_QUERY_CHARS: Final = 4096

_ORDER: Final = {verdict: place for place, verdict in enumerate(Verdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One candidate and what is to be thought of it."""

    record: Record
    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a look found.

    Attributes:
        compared: duplicates first, then those for review, then the others; the most alike first.
        canonical: id of the record that stands for the one asked about and its duplicates; its own where it has none.
        coverage: which part of the caller's records was looked through.
        vectors: whether vectors had a part in it.
    """

    compared: tuple[Compared, ...]
    canonical: str
    coverage: Coverage
    vectors: VectorState


def neighbours(record: Record) -> Narrowing:
    """What candidates share with a record, beside its tenant: its kind and product."""
    return Narrowing(kinds=frozenset({record.kind.value}), products=frozenset({record.product}))


def within_tenant(scope: Scope, tenant: str) -> Scope:
    """``scope`` without the records of every other tenant; it admits a subset."""
    grants = tuple(
        replace(grant, tenants=frozenset({tenant})) for grant in scope.grants if tenant in grant.tenants
    )  # fmt: skip
    return replace(scope, grants=grants)


async def find(
    router: Router, record: Record, scope: Scope, *, candidates: int, deadline: Deadline, request_id: str
) -> Found:
    """Compare ``record``, stored or not, with the ``candidates`` records most like it.

    ``scope`` is the caller's, narrowed by ``neighbours``; only the record's own tenant is left of it.

    Raises:
        ShardUnavailable: if a candidate's text did not come in time.
    """
    # One more, because a stored record is its own best candidate.
    most = candidates + 1
    remaining_ms = max(1, int(deadline.remaining_ms()))
    budget = Budget(
        candidate_k=most, rerank_k=most, evidence_k=most, evidence_tokens=1, timeout_ms=remaining_ms
    )  # fmt: skip
    inside = within_tenant(scope, record.access.tenant)
    request = SearchRequest(
        query=f"{record.name}. {record.description}"[:_QUERY_CHARS],
        scope=inside,
        budget=budget,
        deadline=deadline,
        request_id=request_id,
    )
    ranked = await router.candidates(request)
    likeness = dict(zip(ranked.ids, ranked.likenesses, strict=True))
    ids = [one for one in ranked.ids if one != record.id][:candidates]
    found = await router.documents(inside, ids, deadline)
    with_vectors = ranked.vectors.state is VectorState.USED
    compared = [
        Compared(record=one, judgement=judge(record, one, likeness[one.id] if with_vectors else None)) for one in found
    ]
    compared.sort(key=_place)
    return Found(
        compared=tuple(compared),
        canonical=canonical_of([record, *_duplicates(compared)]).id,
        coverage=ranked.coverage,
        vectors=ranked.vectors.state,
    )


def _duplicates(compared: Sequence[Compared]) -> list[Record]:
    return [one.record for one in compared if one.judgement.verdict is Verdict.DUPLICATE]


def _place(one: Compared) -> tuple[int, int, int, str]:
    likeness = one.judgement.likeness
    return _ORDER[one.judgement.verdict], -likeness.words, -likeness.part, one.record.id
