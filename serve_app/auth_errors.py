"""The two refusals of the edge: not authenticated (401) and not allowed (403).

Each carries a precise reason for the audit log from a closed set; a client only ever sees the fixed sentences here.
"""

from enum import StrEnum
from typing import Final

UNAUTHENTICATED_DETAIL: Final = "The request needs a valid bearer credential."
FORBIDDEN_DETAIL: Final = "The credential does not allow this."
CHALLENGE: Final = 'Bearer realm="shortlist"'
"""Value of ``WWW-Authenticate`` in every 401, whatever the reason."""


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


class Unauthenticated(Exception):  # noqa: N818 -- named after the answer it becomes
    """No principal: ``refusal`` says why, ``part`` names the header field or claim at fault where there is one."""

    def __init__(self, refusal: Refusal, part: str = "") -> None:
        super().__init__(refusal, part)
        self.refusal = refusal
        self.part = part

    def __str__(self) -> str:
        return f"{self.refusal}: {self.part}" if self.part else self.refusal.value


class Forbidden(Exception):  # noqa: N818 -- as above
    """A known principal asks for what its roles do not give; ``right`` names the missing one."""

    def __init__(self, right: str) -> None:
        super().__init__(right)
        self.right = right
