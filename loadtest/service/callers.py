"""Callers: principals of many tenants with the roles of a mix, each with a token of the instance's own key.

Each has a tenant of its own, so that n callers make n scopes and need n masks, however few roles there are. It grants
nothing: the policy of the mix does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Final

from cluster.config import load_settings
from cluster.scope import Principal
from cluster.settings.auth import JwtSettings
from loadtest.service.mix import OPERATOR, Mix
from loadtest.tiers import Share
from serve_app.keys import read_secret
from serve_app.local_key import ensure_local_key, mint_token

MODE: Final = "autonomous"
"""The only shipped mode that sees tools which declare no side effect, as most of a catalogue do."""

_LIFE_S: Final = 7_200


@dataclass(slots=True)
class Callers:
    """Tokens of the local key in ``home``; no caller is handed out twice."""

    home: Path
    mix: Mix = field(init=False)
    _secret: bytes = field(init=False, repr=False)
    _rules: JwtSettings = field(init=False, repr=False)
    _numbers: Iterator[int] = field(default_factory=count, init=False, repr=False)

    def __post_init__(self) -> None:
        self.mix = Mix.in_home(self.home)
        self._secret = read_secret(ensure_local_key(self.home))
        self._rules = load_settings(None).auth.jwt

    def caller(self, number: int) -> Principal:
        """Caller ``number``."""
        return _principal(f"caller-{number}", f"tenant-{number:06}", self.mix.of(number).role)

    def fresh(self, number: int) -> tuple[str, ...]:
        """Tokens of ``number`` callers that nobody has been before."""
        return tuple(self._token(self.caller(one)) for one in islice(self._numbers, number))

    def whole(self) -> str:
        """The token of a caller who sees everything."""
        return self._token(_principal("whole", "bench", self.mix.parts[Share.ALL][0].role))

    def operator(self) -> str:
        """The token of a caller who may read the metrics."""
        return self._token(_principal(OPERATOR, "bench", OPERATOR))

    def _token(self, principal: Principal) -> str:
        return mint_token(self._secret, principal, self._rules, _LIFE_S).token


def _principal(subject: str, tenant: str, role: str) -> Principal:
    return Principal(subject=subject, tenant=tenant, roles=frozenset({role}), mode=MODE)
