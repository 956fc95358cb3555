"""What a verified token says: strict JSON, strict claims, and the principal they name.

It never sees a signature; ``serve_app.auth`` calls it for the header before, and for the claims after verification.
"""

import binascii
import json
import math
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cluster.scope import Principal, is_list_name, is_name
from serve_app.auth_errors import Refusal, Unauthenticated
from serve_app.json_body import without_repeats

DEFAULT_MODE: Final = "analyzer"
"""The mode of a token that names none."""

MAX_ROLES: Final = 64
MAX_TEXT: Final = 256
"""Characters of a subject or a role."""

_HEADER_FIELDS: Final = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})
"""x5t is only a thumbprint, which some issuers always send; crit, jku, jwk, x5u and x5c are refused with all others."""

_TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_LATEST_S: Final = 1 << 53
"""Times beyond this are not exact in a float; nobody means them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRules:
    """What the registered claims must be, and the modes a token may name."""

    audience: str
    issuer: str
    leeway_s: int
    modes: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A principal and the time from which its credential is void, in seconds since 1970; infinite for API keys."""

    principal: Principal
    not_after: float


def decode_segment(segment: str, refusal: Refusal) -> bytes:
    """The bytes of one base64url segment without padding, of characters that were already checked."""
    try:
        return urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except binascii.Error:
        raise Unauthenticated(refusal) from None


def parse_header(segment: str) -> Mapping[str, str]:
    """The token's header: only known fields, all of them strings, ``alg`` among them."""
    header = _parse_object(decode_segment(segment, Refusal.HEADER), Refusal.HEADER)
    texts: dict[str, str] = {}
    for name, value in header.items():
        if name not in _HEADER_FIELDS or not isinstance(value, str):
            raise Unauthenticated(Refusal.HEADER, name if name in _HEADER_FIELDS else "unknown field")
        texts[name] = value
    if "alg" not in texts or texts.get("typ", "jwt").lower() not in _TYPES:
        raise Unauthenticated(Refusal.HEADER, "typ" if "alg" in texts else "alg")
    return texts


def read_claims(payload: bytes, rules: ClaimRules, now_s: float) -> Verified:
    """The principal of a payload whose signature was verified.

    Raises:
        Unauthenticated: if a claim is missing, doubled, of another type, or not what ``rules`` and ``now_s`` ask for.
    """
    claims = _parse_object(payload, Refusal.MALFORMED)
    # A list of audiences is refused: a token made for several services may be replayed by any of them.
    if claims.get("aud") != rules.audience:
        raise Unauthenticated(Refusal.CLAIM, "aud")
    if claims.get("iss") != rules.issuer:
        raise Unauthenticated(Refusal.CLAIM, "iss")
    not_after = _time(claims, "exp") + rules.leeway_s
    if now_s >= not_after:
        raise Unauthenticated(Refusal.EXPIRED)
    for name in ("nbf", "iat"):
        if name in claims and now_s < _time(claims, name) - rules.leeway_s:
            raise Unauthenticated(Refusal.NOT_YET_VALID, name)
    return Verified(principal=_principal(claims, rules.modes), not_after=not_after)


def _principal(claims: Mapping[str, object], modes: frozenset[str]) -> Principal:
    tenant = _text(claims, "tenant")
    if not is_name(tenant):
        raise Unauthenticated(Refusal.CLAIM, "tenant")
    mode = _text(claims, "mode") if "mode" in claims else DEFAULT_MODE
    if mode not in modes:
        raise Unauthenticated(Refusal.CLAIM, "mode")
    grant_list = _text(claims, "grant_list") if "grant_list" in claims else None
    if grant_list is not None and not is_list_name(grant_list):
        raise Unauthenticated(Refusal.CLAIM, "grant_list")
    return Principal(
        subject=_text(claims, "sub"), tenant=tenant, roles=_roles(claims), mode=mode, grant_list=grant_list
    )


def _roles(claims: Mapping[str, object]) -> frozenset[str]:
    values = claims.get("roles")
    if not isinstance(values, list) or not 1 <= len(values) <= MAX_ROLES:
        raise Unauthenticated(Refusal.CLAIM, "roles")
    roles = [value for value in values if isinstance(value, str) and _is_text(value)]
    if len(roles) != len(values):
        raise Unauthenticated(Refusal.CLAIM, "roles")
    return frozenset(roles)


def _text(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not _is_text(value):
        raise Unauthenticated(Refusal.CLAIM, name)
    return value


def _is_text(value: str) -> bool:
    return 1 <= len(value) <= MAX_TEXT and value.isprintable()


def _time(claims: Mapping[str, object], name: str) -> float:
    """A NumericDate; bool is an int in Python and NaN compares false with everything, so both are refused by name."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _LATEST_S:
        raise Unauthenticated(Refusal.CLAIM, name)
    return float(value)


def _parse_object(raw: bytes, refusal: Refusal) -> dict[str, object]:
    """A JSON object in UTF-8 without repeated names, NaN or infinities."""
    try:
        value: object = json.loads(
            raw.decode(), object_pairs_hook=without_repeats, parse_constant=_refuse_constant, parse_float=_finite
        )
    except (ValueError, RecursionError):
        raise Unauthenticated(refusal, "json") from None
    if not isinstance(value, dict):
        raise Unauthenticated(refusal, "json")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
