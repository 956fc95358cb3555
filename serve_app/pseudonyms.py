"""Pseudonyms: keyed hashes that stand for ids, callers and scopes in logs, others every day.

Whoever has the key file can find the pseudonym of a known value on a known day; nobody else can try values. It writes
no log.
"""

import hmac
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from cluster.errors import InvalidConfiguration
from cluster.scope import Principal
from serve_app.private_file import create_private_file, read_private_file

FILE_NAME: Final = "log.key"

_KEY_BYTES: Final = 32
_SHOWN_BYTES: Final = 8
_REMEMBERED: Final = 16_384
"""Pseudonyms of a day that are kept: a hash costs thirty times what it takes to look one up."""

_DAY_S: Final = 86_400


class Of(StrEnum):
    """What a pseudonym stands for; equal texts of two kinds have different ones."""

    LIST = "list"
    RECORD = "record"
    SCOPE = "scope"
    SUBJECT = "subject"
    TENANT = "tenant"


class Pseudonyms:
    """HMAC-SHA256 under a key that is derived from the instance's own and the date (UTC).

    Args:
        key: of the instance; where None, one that this process forgets when it ends.
        clock: seconds since 1970.
    """

    def __init__(self, key: bytes | None = None, clock: Callable[[], float] = time.time) -> None:
        self._key = secrets.token_bytes(_KEY_BYTES) if key is None else key
        self._clock = clock
        self._day = -1
        self._remembered = _hashes(b"")

    @classmethod
    def in_home(cls, home: Path) -> "Pseudonyms":
        """With the key of a home: a file of mode 0600, made on first use.

        Raises:
            InvalidConfiguration: if the file cannot be made or used.
        """
        path = home / FILE_NAME
        if not path.exists():
            create_private_file(path, secrets.token_hex(_KEY_BYTES).encode() + b"\n")
        try:
            key = bytes.fromhex(read_private_file(path).decode().strip())
        except ValueError as exc:
            raise InvalidConfiguration(str(path), "something else", f"{_KEY_BYTES} bytes in hex") from exc
        if len(key) != _KEY_BYTES:
            raise InvalidConfiguration(str(path), f"{len(key)} bytes", f"{_KEY_BYTES} bytes in hex")
        return cls(key)

    def of(self, kind: Of, value: str) -> str:
        """Today's pseudonym of a value: 16 hex digits."""
        return self._today()(kind, value)

    def of_records(self, ids: list[str]) -> list[str]:
        """Today's pseudonyms of record ids, in their order."""
        today = self._today()
        return [today(Of.RECORD, record_id) for record_id in ids]

    def caller(self, principal: Principal | None) -> dict[str, str]:
        """Who called, as fields of an audit event; none where nobody is known."""
        if principal is None:
            return {}
        return {
            "subject": self.of(Of.SUBJECT, principal.subject),
            "tenant": self.of(Of.TENANT, principal.tenant),
        }

    def _today(self) -> Callable[[Of, str], str]:
        day = int(self._clock() // _DAY_S)
        if day != self._day:
            date = datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()
            self._remembered = _hashes(hmac.digest(self._key, date.encode(), "sha256"))
            self._day = day
        return self._remembered


def _hashes(key: bytes) -> Callable[[Of, str], str]:
    # A copy of one that has taken the key in costs half of ``hmac.digest``.
    keyed = hmac.new(key, digestmod="sha256")

    @lru_cache(maxsize=_REMEMBERED)
    def of(kind: Of, value: str) -> str:
        # The kind holds no colon, so no two pairs make the same message.
        message = f"{kind.value}:{value}".encode(errors="surrogatepass")
        pseudonym = keyed.copy()
        pseudonym.update(message)
        return pseudonym.digest()[:_SHOWN_BYTES].hex()

    return of
