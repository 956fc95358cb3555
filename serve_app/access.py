"""The access table: every route and who may call it. A route without a row is closed, and fails a test.

It checks rights over routes; what a caller sees inside a route is the scope's business.
"""

import re
from enum import StrEnum
from typing import Final

from cluster.scope import Policy, Principal
from serve_app.auth_errors import Forbidden


class Right(StrEnum):
    """What a caller needs. All but ``anyone`` need a valid credential first."""

    ANYONE = "anyone"
    CALLER = "caller"
    WRITER = "writer"
    LIST_MANAGER = "list_manager"
    OPERATOR = "operator"


ACCESS: Final[dict[tuple[str, str], Right]] = {
    ("GET", "/"): Right.ANYONE,
    ("GET", "/healthz"): Right.ANYONE,
    ("GET", "/readyz"): Right.ANYONE,
    ("GET", "/openapi.json"): Right.ANYONE,
    ("POST", "/v1/search"): Right.CALLER,
    ("POST", "/v1/explain"): Right.CALLER,
    ("POST", "/v1/answer"): Right.CALLER,
    ("POST", "/v1/exports"): Right.CALLER,
    ("POST", "/v1/duplicates"): Right.CALLER,
    ("PUT", "/v1/duplicates/{record_id:path}"): Right.WRITER,
    ("DELETE", "/v1/duplicates/{record_id:path}"): Right.WRITER,
    ("GET", "/v1/records/{record_id:path}"): Right.CALLER,
    ("PUT", "/v1/records"): Right.WRITER,
    ("DELETE", "/v1/records/{record_id:path}"): Right.WRITER,
    ("POST", "/v1/records/{record_id:path}/disable"): Right.WRITER,
    ("PUT", "/v1/grants/{name}"): Right.LIST_MANAGER,
    ("GET", "/v1/grants/{name}"): Right.LIST_MANAGER,
    ("DELETE", "/v1/grants/{name}"): Right.LIST_MANAGER,
    # Both count the records and requests of every tenant. An address is no right here: behind the proxy every
    # caller comes from loopback.
    ("GET", "/v1/status"): Right.OPERATOR,
    ("GET", "/metrics"): Right.OPERATOR,
}

UNMATCHED: Final = "unmatched"
"""Stands for every path that no route has: what a caller chose is in no log and no metric."""

_PATTERNS: Final = tuple(
    (route, re.compile(re.escape(route).replace(r"\{record_id:path\}", ".+").replace(r"\{name\}", "[^/]+"), re.DOTALL))
    for route in sorted({route for _, route in ACCESS}, key=len, reverse=True)
)
"""The most particular ones first."""

OPEN_PATHS: Final = frozenset(path for (_, path), right in ACCESS.items() if right is Right.ANYONE)
"""The only paths that are answered without a credential; a path that no route has is not among them."""


def route_of(path: str) -> str:
    """The template that a path belongs to, whatever its method; ``UNMATCHED`` if it is none of the table."""
    return next((route for route, pattern in _PATTERNS if pattern.fullmatch(path)), UNMATCHED)


def methods_of(route: str) -> str:
    """The methods that a route answers, as an Allow header lists them."""
    return ", ".join(sorted(method for method, path in ACCESS if path == route))


def demand(policy: Policy, principal: Principal, method: str, route: str) -> None:
    """Let the principal through, or not.

    Raises:
        Forbidden: if the table has no such row, or the principal lacks the right.
    """
    right = ACCESS.get((method, route))
    if right is None or not _holds(policy, principal, right):
        raise Forbidden(str(right))


def _holds(policy: Policy, principal: Principal, right: Right) -> bool:
    match right:
        case Right.ANYONE | Right.CALLER:
            return True
        case Right.WRITER:
            return policy.writable_tenants(principal) != frozenset()
        case Right.LIST_MANAGER:
            return policy.may_manage_grant_lists(principal)
        case Right.OPERATOR:
            return policy.may_operate(principal)
