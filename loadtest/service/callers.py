"""Callers: principals of many tenants and roles, each with a token of the instance's own key.

Different tenants make different scopes, so that n callers need n masks. It grants nothing: the policy does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Final

from cluster.config import JwtSettings, load_settings
from cluster.scope import Principal
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key, mint_token

ROLES: Final = ("reader", "writer", "tenant_admin")
MODE: Final = "autonomous"
"""The only shipped mode that sees tools which declare no side effect, as most of a catalogue do."""

_LIFE_S: Final = 7_200


def caller(number: int) -> Principal:
    """Caller ``number``; roles take turns, each number has a tenant of its own."""
    return Principal(
        subject=f"caller-{number}",
        tenant=f"tenant-{number:06}",
        roles=frozenset({ROLES[number % len(ROLES)]}),
        mode=MODE,
    )


@dataclass(slots=True)
class Callers:
    """Tokens of the local key in ``home``; no caller is handed out twice."""

    home: Path
    _secret: bytes = field(init=False, repr=False)
    _rules: JwtSettings = field(init=False, repr=False)
    _numbers: Iterator[int] = field(default_factory=count, init=False, repr=False)

    def __post_init__(self) -> None:
        self._secret = read_secret(ensure_local_key(self.home))
        self._rules = load_settings(None).auth.jwt

    def fresh(self, number: int) -> tuple[str, ...]:
        """Tokens of ``number`` callers that nobody has been before."""
        return tuple(
            mint_token(self._secret, caller(one), self._rules, _LIFE_S).token for one in islice(self._numbers, number)
        )

    def operator(self) -> str:
        """The token of a caller who may read the metrics."""
        principal = Principal(subject="operator", tenant="bench", roles=frozenset({"admin"}), mode=MODE)
        return mint_token(self._secret, principal, self._rules, _LIFE_S).token
