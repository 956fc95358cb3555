"""The two refusals of the edge: not authenticated (401) and not allowed (403).

Each carries a precise reason for the audit log from a closed set; a client only ever sees the fixed sentences here.
"""

from enum import StrEnum
from typing import Final

UNAUTHENTICATED_DETAIL: Final = "The request needs a valid bearer credential."
FORBIDDEN_DETAIL: Final = "The credential does not allow this."
_CHALLENGE: Final = 'Bearer realm="shortlist"'
_INVALID_TOKEN: Final = f'{_CHALLENGE}, error="invalid_token"'


class Refusal(StrEnum):
    """Why a credential was refused; for operators only, never part of an answer."""

    NO_CREDENTIAL = "no_credential"
    TWO_CREDENTIALS = "two_credentials"
    NOT_BEARER = "not_bearer"
    TOO_LONG = "too_long"
    MALFORMED = "malformed"
    HEADER = "header"
    UNKNOWN_KEY = "unknown_key"
    ALGORITHM = "algorithm"
    SIGNATURE = "signature"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    CLAIM = "claim"


class Unauthenticated(Exception):
    """No principal: ``refusal`` says why, ``part`` names the header field or claim at fault where there is one."""

    def __init__(self, refusal: Refusal, part: str = "") -> None:
        super().__init__(refusal, part)
        self.refusal = refusal
        self.part = part

    def __str__(self) -> str:
        return f"{self.refusal}: {self.part}" if self.part else self.refusal.value

    @property
    def challenge(self) -> str:
        """Value of ``WWW-Authenticate`` (RFC 6750, section 3): an error only where a bearer credential was sent."""
        return _CHALLENGE if self.refusal in {Refusal.NO_CREDENTIAL, Refusal.NOT_BEARER} else _INVALID_TOKEN


class Forbidden(Exception):
    """A known principal asks for what its roles do not give; ``right`` names the missing one."""

    def __init__(self, right: str) -> None:
        super().__init__(right)
        self.right = right
