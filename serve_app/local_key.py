"""The key that Shortlist makes for itself where no other is configured, and the tokens signed with it.

It verifies nothing: ``serve_app.auth`` treats this key like any other HS256 key.
"""

import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jwt

from cluster.scope import Principal
from cluster.settings.auth import JwtSettings
from serve_app.private_file import create_private_file

LOCAL_KID: Final = "local"
"""The kid of tokens that the local key signs."""

FILE_NAME: Final = "local.key"
MAX_TTL_S: Final = 366 * 24 * 3600
"""Longest life of a minted token."""

_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class MintedToken:
    """A signed token and the time it ends, in seconds since 1970."""

    token: str
    expires_at: int


def ensure_local_key(home: Path) -> Path:
    """The file of the local key under ``home``, made on first use; safe when several processes start at once."""
    path = home / FILE_NAME
    if not path.exists():
        create_private_file(path, secrets.token_hex(_KEY_BYTES).encode() + b"\n")
    return path


def mint_token(secret: bytes, principal: Principal, rules: JwtSettings, ttl_s: int) -> MintedToken:
    """A token of the local key that says what ``principal`` is, valid from now for ``ttl_s`` seconds."""
    now_s = int(time.time())
    claims: dict[str, object] = {
        "iss": rules.issuer,
        "aud": rules.audience,
        "sub": principal.subject,
        "iat": now_s,
        "exp": now_s + ttl_s,
        "tenant": principal.tenant,
        "roles": sorted(principal.roles),
        "mode": principal.mode,
    }
    if principal.grant_list is not None:
        claims["grant_list"] = principal.grant_list
    token = jwt.encode(claims, secret, algorithm="HS256", headers={"kid": LOCAL_KID})
    return MintedToken(token=token, expires_at=now_s + ttl_s)
