"""Authentication: the Authorization header, and nothing else of a request, becomes a principal.

What the principal may do is ``cluster.scope``'s business. Headers of proxies, query strings and bodies are never read
here, so a tenant in one of them cannot matter.
"""

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from cluster.config import Settings
from cluster.scope import Policy, Principal
from serve_app.api_keys import ApiKeys
from serve_app.auth_errors import Refusal, Unauthenticated
from serve_app.keys import KeySet
from serve_app.token_claims import ClaimRules, Verified, decode_segment, parse_header, read_claims

MAX_CREDENTIAL_BYTES: Final = 8192
"""Longest token or key that is looked at."""

_SCHEME: Final = "bearer "
_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_API_KEY: Final = re.compile(r"[A-Za-z0-9_~+/=-]+")
_CACHED: Final = 8192

CacheKey = tuple[bytes, str]


class VerifiedCache:
    """Bounded memory of credentials that were verified, least recently used out first; it holds hashes, no tokens.

    Safe for threads. It knows nothing of time: who asks checks ``not_after``.
    """

    def __init__(self, capacity: int = _CACHED) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[CacheKey, Verified] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: CacheKey) -> Verified | None:
        """The entry, made the most recently used, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def put(self, key: CacheKey, entry: Verified) -> None:
        """Keep ``entry``, at the cost of the oldest where there is no room."""
        with self._lock:
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._capacity:
                self._entries.popitem(last=False)


class Authenticator:
    """Turns credentials into principals. Keys, API keys and policy are read once, when it is built.

    Attributes:
        generation: changes with any key, API key, claim rule or the policy; a cached credential counts only within it.
    """

    def __init__(
        self,
        *,
        keys: KeySet,
        api_keys: ApiKeys | None,
        rules: ClaimRules,
        policy_version: str,
        cache: VerifiedCache | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._api_keys = api_keys
        self._rules = rules
        self._cache = VerifiedCache() if cache is None else cache
        self._clock = clock
        meaning = (
            keys.version, "" if api_keys is None else api_keys.version, policy_version,
            rules.audience, rules.issuer, rules.leeway_s, sorted(rules.modes),
        )  # fmt: skip
        self.generation: Final = hashlib.sha256(repr(meaning).encode()).hexdigest()

    @classmethod
    def from_settings(cls, settings: Settings, policy: Policy | None = None) -> "Authenticator":
        """As configured; where nothing is, with the local key, which is made on first use.

        Raises:
            InvalidConfiguration: if a key file, the API-key file or the policy cannot be used.
        """
        policy = Policy.load(settings.policy) if policy is None else policy
        auth = settings.auth
        return cls(
            keys=KeySet.from_settings(auth, settings.home),
            api_keys=None if auth.api_keys is None else ApiKeys.read(auth.api_keys, policy),
            rules=ClaimRules(
                audience=auth.jwt.audience, issuer=auth.jwt.issuer, leeway_s=auth.jwt.leeway_s, modes=policy.modes
            ),
            policy_version=policy.version,
        )

    def authenticate(self, authorization: str | None) -> Principal:
        """The principal of an Authorization header's value; a few microseconds for a credential seen before.

        Raises:
            Unauthenticated: for anything but a valid bearer credential.
        """
        credential = _bearer(authorization)
        key = (hashlib.sha256(credential.encode()).digest(), self.generation)
        known = self._cache.get(key)
        if known is None:
            known = self._verify(credential)
            self._cache.put(key, known)
        elif self._clock() >= known.not_after:
            raise Unauthenticated(Refusal.EXPIRED)
        return known.principal

    def _verify(self, credential: str) -> Verified:
        """A credential with dots is a token, one without an API key."""
        if "." in credential:
            return self._verify_token(credential)
        if _API_KEY.fullmatch(credential) is None:
            raise Unauthenticated(Refusal.MALFORMED)
        found = None if self._api_keys is None else self._api_keys.find(credential)
        if found is None:
            raise Unauthenticated(Refusal.UNKNOWN_KEY)
        return found

    def _verify_token(self, token: str) -> Verified:
        segments = _TOKEN.fullmatch(token)
        if segments is None:
            raise Unauthenticated(Refusal.MALFORMED)
        header = parse_header(segments[1])
        key = self._keys.find(header.get("kid"))
        if key is None:
            raise Unauthenticated(Refusal.UNKNOWN_KEY, "kid")
        if header["alg"] != key.algorithm:
            raise Unauthenticated(Refusal.ALGORITHM, "alg")
        signature = decode_segment(segments[3], Refusal.SIGNATURE)
        if not key.verifies(token.rpartition(".")[0].encode(), signature):
            raise Unauthenticated(Refusal.SIGNATURE)
        return read_claims(decode_segment(segments[2], Refusal.MALFORMED), self._rules, self._clock())


def authorization_of(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The one Authorization header among raw ASGI headers (lower-case names), None if there is none.

    Raises:
        Unauthenticated: if there are two: a proxy in front may have checked the other one.
    """
    found = [value for name, value in headers if name == b"authorization"]
    if len(found) > 1:
        raise Unauthenticated(Refusal.TWO_CREDENTIALS)
    return found[0].decode("latin-1") if found else None


def _bearer(authorization: str | None) -> str:
    if authorization is None:
        raise Unauthenticated(Refusal.NO_CREDENTIAL)
    # Length first: nothing below should ever walk over a megabyte.
    if len(authorization) > MAX_CREDENTIAL_BYTES + len(_SCHEME):
        raise Unauthenticated(Refusal.TOO_LONG)
    if authorization[: len(_SCHEME)].lower() != _SCHEME:
        raise Unauthenticated(Refusal.NOT_BEARER)
    credential = authorization[len(_SCHEME) :]
    if not credential.isascii():
        raise Unauthenticated(Refusal.MALFORMED)
    return credential
