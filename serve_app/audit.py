"""Audit events: what a client must not be told apart and an operator must. Closed words and request ids only.

No query, id, token or tenant is logged; whoever asks about one starts from the request id.
"""

import logging
import traceback

from serve_app.auth_errors import Forbidden, Unauthenticated
from shards.record import Record, Status

logger = logging.getLogger("shortlist.audit")


def refused(request_id: str, error: Exception) -> None:
    """A credential or a right was refused; other errors are no events."""
    match error:
        case Unauthenticated():
            logger.info("unauthenticated", extra={"request_id": request_id, "cause": error.refusal.value})
        case Forbidden():
            logger.info("forbidden", extra={"request_id": request_id, "cause": error.right})


def not_visible(request_id: str, verb: str, cause: str) -> None:
    """A record was asked for by its id and not shown; ``cause`` is ``unknown``, ``hidden`` or its status."""
    logger.info("not_visible", extra={"request_id": request_id, "verb": verb, "cause": cause})


def failed(request_id: str, error: Exception) -> None:
    """A fault of ours: where and what, without the error's message, which may hold a query or an id."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("failed", extra={"request_id": request_id, "error": type(error).__qualname__, "frames": frames})


def cause_of(stored: Record | None) -> str:
    """Why a record was not shown: there is none, it is out of service, or it is hidden from this caller."""
    if stored is None:
        return "unknown"
    return "hidden" if stored.status is Status.ENABLED else stored.status.value
