"""Problems: every error an HTTP caller can see, as one RFC 9457 shape with a closed set of codes.

It is the only module that turns an exception into HTTP. A body never repeats a value that was sent or stored: it
names the field and what is allowed, so neither hidden records nor stack traces can show through.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NotRequired

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from typing_extensions import TypedDict

from cluster.errors import (
    ExpiredExport,
    ExportsExceeded,
    ExportTooLarge,
    InvalidRequest,
    RegistryUnavailable,
    ShardUnavailable,
    StaleVersion,
    UnknownExport,
    UnknownGrantList,
)
from serve_app.admission import Overloaded
from serve_app.auth_errors import FORBIDDEN_DETAIL, UNAUTHENTICATED_DETAIL, Forbidden, Unauthenticated
from serve_app.haproxy import telling
from shards.errors import InvalidRecord, ShardNotReady

MEDIA_TYPE: Final = "application/problem+json"


class Code(StrEnum):
    """What went wrong; clients branch on this, never on ``title`` or ``detail``."""

    INVALID_BODY = "invalid_body"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TIMEOUT = "request_timeout"
    STALE_VERSION = "stale_version"
    BODY_TOO_LARGE = "body_too_large"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    INVALID_REQUEST = "invalid_request"
    UNKNOWN_GRANT_LIST = "unknown_grant_list"
    EXPORT_TOO_LARGE = "export_too_large"
    EXPIRED_CURSOR = "expired_cursor"
    TOO_MANY_EXPORTS = "too_many_exports"
    OVERLOADED = "overloaded"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One unusable field and what it may hold."""

    field: str
    allowed: str


class ProblemView(TypedDict):
    """Body of every error."""

    type: str
    title: str
    status: int
    code: Code
    detail: str
    errors: NotRequired[list[FieldError]]
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error as its caller sees it; status and title follow from the code."""

    code: Code
    detail: str
    errors: tuple[FieldError, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def status(self) -> int:
        """The HTTP status."""
        return _KINDS[self.code][0]

    def to_json(self, request_id: str) -> bytes:
        """The body; equal problems give equal bytes but for the request id."""
        status, title = _KINDS[self.code]
        body: ProblemView = {
            "type": f"urn:shortlist:problem:{self.code}",
            "title": title,
            "status": status,
            "code": self.code,
            "detail": self.detail,
            "request_id": request_id,
        }
        if self.errors:
            body["errors"] = list(self.errors)
        return orjson.dumps(body)


class Refused(Exception):
    """Raised by the edge to answer with ``problem``."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


_KINDS: Final[dict[Code, tuple[int, str]]] = {
    Code.INVALID_BODY: (400, "The body is not usable JSON"),
    Code.UNAUTHENTICATED: (401, "A valid credential is required"),
    Code.FORBIDDEN: (403, "The caller may not do this"),
    Code.NOT_FOUND: (404, "Not found"),
    Code.METHOD_NOT_ALLOWED: (405, "The route has no such method"),
    Code.REQUEST_TIMEOUT: (408, "The body did not arrive in time"),
    Code.STALE_VERSION: (409, "A newer version is stored"),
    Code.EXPIRED_CURSOR: (410, "The cursor has expired"),
    Code.BODY_TOO_LARGE: (413, "The body is too large"),
    Code.UNSUPPORTED_ENCODING: (415, "The content encoding is not supported"),
    Code.INVALID_REQUEST: (422, "A field of the request is unusable"),
    Code.UNKNOWN_GRANT_LIST: (422, "The grant list is not known"),
    Code.EXPORT_TOO_LARGE: (422, "The export would be too large"),
    Code.TOO_MANY_EXPORTS: (429, "A limit of exports is reached"),
    Code.OVERLOADED: (429, "Too many questions are waiting"),
    Code.INTERNAL: (500, "Internal error"),
    Code.UNAVAILABLE: (503, "The service cannot do this now"),
}

CODES: Final = "; ".join(f"{code} ({status}): {title}" for code, (status, title) in _KINDS.items())
"""Every code with its HTTP status and its title, for the OpenAPI document."""

NOT_FOUND: Final = Problem(code=Code.NOT_FOUND, detail="There is nothing here that the caller may see.")
"""Unknown, hidden, disabled and removed alike; also unknown routes."""

INTERNAL: Final = Problem(code=Code.INTERNAL, detail="The request id finds this failure in the operator's log.")


NOT_READY: Final = Problem(
    code=Code.UNAVAILABLE,
    detail="A part of the service is starting, out of reach, or had no answer within timeout_ms; try again.",
    headers=(("retry-after", "1"),),
)
"""A fault that passes by itself; ``Retry-After`` is in seconds."""

_FIXED: Final[dict[type[Exception], Problem]] = {
    Forbidden: Problem(code=Code.FORBIDDEN, detail=FORBIDDEN_DETAIL),
    UnknownGrantList: Problem(
        code=Code.UNKNOWN_GRANT_LIST,
        detail="No grant list of this name is registered for the caller.",
        errors=(FieldError(field="narrow.grant_list", allowed="the name of a registered grant list"),),
    ),
    # A cursor of another caller is no cursor here.
    UnknownExport: NOT_FOUND,
    ExpiredExport: Problem(code=Code.EXPIRED_CURSOR, detail="The time of this export is over; begin a new one."),
    StaleVersion: Problem(code=Code.STALE_VERSION, detail="The stored version is not older than the one sent."),
    RegistryUnavailable: NOT_READY,
    ShardUnavailable: NOT_READY,
    ShardNotReady: NOT_READY,
}
"""Errors whose answer does not depend on what they carry."""


def problem_of(error: Exception) -> Problem:
    """The problem that answers ``error``; whatever is not known here is ``internal``."""
    match error:
        case Refused():
            return error.problem
        case InvalidRequest() | InvalidRecord():
            return invalid_request(FieldError(field=error.field, allowed=error.allowed))
        case Unauthenticated():
            challenge = (("www-authenticate", error.challenge),)
            return Problem(code=Code.UNAUTHENTICATED, detail=UNAUTHENTICATED_DETAIL, headers=challenge)
        case ExportTooLarge() | ExportsExceeded() | Overloaded():
            return _of_limit(error)
        case HTTPException() | RequestValidationError():
            return _of_router(error)
    return _FIXED.get(type(error), INTERNAL)


def _of_limit(error: ExportTooLarge | ExportsExceeded | Overloaded) -> Problem:
    """A limit that the caller has reached: which, and when to come back where that helps."""
    if isinstance(error, Overloaded):
        return overloaded(error.retry_after_s, error.room)
    if isinstance(error, ExportTooLarge):
        detail = f"More than {error.most} records match, the most that one export may have; narrow it."
        return Problem(code=Code.EXPORT_TOO_LARGE, detail=detail)
    return Problem(
        code=Code.TOO_MANY_EXPORTS,
        detail=f"{error.limit}: at most {error.most}; try again later.",
        headers=(("retry-after", str(error.retry_after_s)),),
    )


def _of_router(error: HTTPException | RequestValidationError) -> Problem:
    """What FastAPI says of a route or method that it does not have, or of a parameter; nothing else raises these."""
    if isinstance(error, RequestValidationError):
        return _of_parameters(error)
    if error.status_code == _KINDS[Code.METHOD_NOT_ALLOWED][0]:
        return method_not_allowed((error.headers or {}).get("Allow", ""))
    return NOT_FOUND if error.status_code == _KINDS[Code.NOT_FOUND][0] else INTERNAL


def _of_parameters(error: RequestValidationError) -> Problem:
    """What FastAPI finds wrong with a parameter of a query string: its name, and what it takes, never what was sent."""
    return invalid_request(
        *(
            FieldError(field=str(found["loc"][-1]), allowed=str(found["msg"]).removeprefix("Input should be "))
            for found in error.errors()
        )
    )


def method_not_allowed(allow: str) -> Problem:
    """The route exists, for other methods; ``allow`` lists them."""
    return Problem(code=Code.METHOD_NOT_ALLOWED, detail=f"This route answers {allow}.", headers=(("allow", allow),))


def overloaded(retry_after_s: int, room: int | None = None) -> Problem:
    """The answer would come too late; ``Retry-After`` is in whole seconds, ``room`` is for HAProxy alone."""
    return Problem(
        code=Code.OVERLOADED,
        detail="An answer would take longer than the budget of the request; try again later.",
        headers=(("retry-after", str(retry_after_s)), *telling(room)),
    )


def invalid_request(*errors: FieldError) -> Problem:
    """A problem that names each unusable field."""
    named = "; ".join(f"{error.field}: expected {error.allowed}" for error in errors)
    return Problem(code=Code.INVALID_REQUEST, detail=named, errors=errors)
