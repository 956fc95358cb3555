"""From a question's body and its caller to a request of the cluster: scope, budget, deadline.

It parses no bytes and searches nothing. Headers have no say here.
"""

import sys
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from cluster.budget import Budget, Deadline
from cluster.contract import SearchRequest
from cluster.errors import InvalidRequest
from cluster.scope import Principal
from serve_app.formats.formatting import most_tools
from serve_app.services import Services
from serve_app.trail import Trail
from serve_app.wire import QuestionBody, SearchBody
from shards.record import Kind

BUDGETS: Final = 1024
"""Budgets that are remembered: callers ask for the same few again and again."""

CALL: Final = "shortlist.call"
"""Where inner applications find the ``Call`` in the ASGI scope; absent on open paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One HTTP request that was let in: who, which, and when it arrived on the replica's clock, in seconds.

    ``trail`` is filled in by whoever searches for it.
    """

    principal: Principal
    request_id: str
    arrived_s: float
    trail: Trail = field(default_factory=Trail)


def search_request(services: Services, call: Call, body: SearchBody) -> SearchRequest:
    """The request of a search.

    Raises:
        InvalidRequest: naming the field that this caller may not ask so.
    """
    asked = question(services, call, body)
    if not body.pinned and not body.preferred and not body.explain and body.shape is None:
        return asked
    return replace(
        asked,
        pinned=_bounded("pinned", body.pinned, asked.budget.evidence_k),
        preferred=_bounded("preferred", body.preferred, asked.budget.candidate_k),
        explain=body.explain,
        shape=body.shape,
    )


def question(services: Services, call: Call, body: QuestionBody) -> SearchRequest:
    """What every question has: scope, budget, and a deadline that counts from arrival.

    Raises:
        InvalidRequest: as ``search_request``.
    """
    budget = _budget(services, call.principal, body)
    return SearchRequest(
        query=body.query,
        scope=services.policy.compile(call.principal, body.narrow.narrowing(call.principal.tenant)),
        budget=budget,
        deadline=Deadline.of(call.arrived_s, budget.timeout_ms / 1000, services.clock),
        request_id=call.request_id,
        min_seq=body.min_seq,
        flags=services.flags.now.of(body.query),
    )


def _budget(services: Services, principal: Principal, body: QuestionBody) -> Budget:
    """The server's budget of the kind, with ``k`` places in the answer, lowered as asked."""
    kind = Kind.PASSAGE if body.narrow.passages_only else Kind.TOOL
    own = services.budgets[kind]
    ceiling = min(services.policy.k_ceiling(principal.mode), services.most_k[kind], _most_tools(body))
    if body.k is not None and not 1 <= body.k <= ceiling:
        raise InvalidRequest("k", str(body.k), f"an integer from 1 to {ceiling}")
    places = min(own.evidence_k, ceiling) if body.k is None else body.k
    asked = body.budget
    return _lowered(
        own,
        places,
        asked.candidate_k,
        asked.rerank_k,
        asked.evidence_k,
        asked.evidence_tokens,
        asked.evidence_bytes,
        asked.timeout_ms,
    )


@lru_cache(maxsize=BUDGETS)
def _lowered(  # noqa: PLR0917 -- a cache key is positional
    own: Budget,
    places: int,
    candidate_k: int | None,
    rerank_k: int | None,
    evidence_k: int | None,
    evidence_tokens: int | None,
    evidence_bytes: int | None,
    timeout_ms: int | None,
) -> Budget:
    return own.for_hits(places).lowered(
        candidate_k=candidate_k,
        rerank_k=rerank_k,
        evidence_k=evidence_k,
        evidence_tokens=evidence_tokens,
        evidence_bytes=evidence_bytes,
        timeout_ms=timeout_ms,
    )


def _most_tools(body: QuestionBody) -> int:
    """What the provider takes of tools; more would have to be left out after they were found."""
    limit = most_tools(body.format) if isinstance(body, SearchBody) and not body.narrow.passages_only else None
    return sys.maxsize if limit is None else limit


def _bounded(field: str, ids: list[str], most: int) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(ids))
    if len(distinct) > most:
        raise InvalidRequest(field, str(len(distinct)), f"at most {most} ids under this budget")
    return distinct
