"""Audit events: what a client must not be told apart and an operator must. Closed words and request ids only.

No query, id, token or tenant is written; whoever asks about one starts from the request id.
"""

import asyncio
import logging
import traceback
from typing import Final

import orjson

from cluster.control import ControlPlane
from cluster.errors import RegistryUnavailable
from serve_app.auth_errors import Forbidden, Unauthenticated
from serve_app.patience import LOOK_TIMEOUT_S, within
from shards.record import Record, Status

EVENTS: Final = "shortlist.audit"

MOST_INQUIRIES: Final = 256
"""Looks for a cause at the same time; what is beyond is an event without one."""

_UNKNOWN_NOW: Final = "not_known_now"

logger = logging.getLogger(EVENTS)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event and the event's own fields."""

    _FIELDS: Final = ("request_id", "verb", "cause", "error", "frames")

    def format(self, record: logging.LogRecord) -> str:
        """See the class."""
        own = {field: value for field in self._FIELDS if (value := getattr(record, field, None)) is not None}
        line = {"time": record.created, "level": record.levelname, "event": record.getMessage(), **own}
        return orjson.dumps(line).decode()


def write_events(handler: logging.Handler) -> None:
    """Send the events, and nothing else, to ``handler``, as JSON lines. The composition root calls it once."""
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


def refused(request_id: str, error: Exception) -> None:
    """A credential or a right was refused; other errors are no events."""
    match error:
        case Unauthenticated():
            logger.info("unauthenticated", extra={"request_id": request_id, "cause": error.refusal.value})
        case Forbidden():
            logger.info("forbidden", extra={"request_id": request_id, "cause": error.right})


class Inquiries:
    """Finds out why a record was not shown, and tells operators and nobody else.

    In the background: an answer that waited for it would be late where the control plane hangs, and would show by its
    time whether there is a record to look at.
    """

    def __init__(self, control: ControlPlane, most: int = MOST_INQUIRIES) -> None:
        self._control = control
        self._most = most
        self._running: set[asyncio.Task[None]] = set()

    def missing(self, request_id: str, verb: str, record_id: str) -> None:
        """A record was asked for by its id and not shown."""
        if len(self._running) >= self._most:
            _not_visible(request_id, verb, _UNKNOWN_NOW)
            return
        task = asyncio.get_running_loop().create_task(self._look(request_id, verb, record_id))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _look(self, request_id: str, verb: str, record_id: str) -> None:
        try:
            cause = _cause_of(await within(LOOK_TIMEOUT_S, self._control.record(record_id)))
        except RegistryUnavailable:
            cause = _UNKNOWN_NOW
        _not_visible(request_id, verb, cause)


def _not_visible(request_id: str, verb: str, cause: str) -> None:
    logger.info("not_visible", extra={"request_id": request_id, "verb": verb, "cause": cause})


def failed(request_id: str, error: Exception) -> None:
    """A fault of ours: where and what, without the error's message, which may hold a query or an id."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("failed", extra={"request_id": request_id, "error": type(error).__qualname__, "frames": frames})


def _cause_of(stored: Record | None) -> str:
    """There is none, it is out of service, or it is hidden from this caller."""
    if stored is None:
        return "unknown"
    return "hidden" if stored.status is Status.ENABLED else stored.status.value
