"""The audit log: writes, denials, exports, and what a client must not be told apart and an operator must.

Closed words, counts, request ids and pseudonyms only: no query, id, token or tenant. A write names its ``seq``, by
which the registry tells what was written; the rest of a request is in the request log, by the same request id.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import orjson

from cluster.config import Settings
from cluster.control import ControlPlane
from cluster.errors import RegistryUnavailable
from cluster.scope import Principal
from serve_app.auth_errors import Forbidden, Unauthenticated
from serve_app.log_file import LogFile, Sink, StandardError
from serve_app.patience import LOOK_TIMEOUT_S, within
from serve_app.pseudonyms import Of, Pseudonyms
from shards.record import Record, Status

EVENTS: Final = "shortlist.audit"
FILE_NAME: Final = "audit.log"

MOST_INQUIRIES: Final = 256
"""Looks for a cause at the same time; what is beyond is an event without one."""

_UNKNOWN_NOW: Final = "not_known_now"

_NOBODY: Final[Mapping[str, str]] = {}

logger = logging.getLogger(EVENTS)


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event and the event's own fields."""

    _FIELDS: Final = (
        "request_id", "subject", "tenant", "verb", "outcome", "cause", "record", "list", "records", "lines", "removed",
        "refused", "seq", "export", "error", "frames",
    )  # fmt: skip

    def format(self, record: logging.LogRecord) -> str:
        """See the class."""
        own = {field: value for field in self._FIELDS if (value := getattr(record, field, None)) is not None}
        line = {"time": record.created, "level": record.levelname, "event": record.getMessage(), **own}
        return orjson.dumps(line).decode()


class EventFile(logging.Handler):
    """Adds events to a sink, each before the request goes on."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        """As the library asks for it: a line that cannot be written is told on standard error."""
        try:
            self._sink.append(self.format(record).encode() + b"\n")
        except OSError:
            self.handleError(record)


def handler_of(settings: Settings) -> logging.Handler:
    """Where the settings send events.

    Raises:
        InvalidConfiguration: if the file cannot be written.
    """
    log = settings.log
    return EventFile(LogFile((log.folder or settings.home) / FILE_NAME) if log.to == "file" else StandardError())


def write_events(handler: logging.Handler) -> None:
    """Send the events, and nothing else, to ``handler``, as JSON lines. The composition root calls it once."""
    handler.setFormatter(JsonLines())
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False


def refused(request_id: str, error: Exception, caller: Mapping[str, str] = _NOBODY) -> None:
    """A credential or a right was refused; other errors are no events."""
    match error:
        case Unauthenticated():
            logger.info("unauthenticated", extra={"request_id": request_id, "cause": error.refusal.value})
        case Forbidden():
            logger.info("forbidden", extra={"request_id": request_id, "cause": error.right, **caller})


def wrote(request_id: str, caller: Mapping[str, str], *, verb: str, outcome: str, **about: str | int | None) -> None:
    """A write came to its end; ``about`` are further fields, ids as pseudonyms only.

    ``outcome`` is a closed word; ``unconfirmed``: it may have been done, or may yet be.
    """
    logger.info("written", extra={"request_id": request_id, **caller, "verb": verb, "outcome": outcome, **about})


def exported(
    request_id: str, export: str, *, event: str, seq: int, records: int, caller: Mapping[str, str] = _NOBODY
) -> None:
    """An export was opened or its last page read; ``export`` is the request id under which the registry has its entry.

    The entry itself (``cluster.export_store``) says who it was, and outlives the log.
    """
    logger.info(event, extra={"request_id": request_id, **caller, "export": export, "seq": seq, "records": records})


def cursor_refused(request_id: str, cause: str) -> None:
    """A cursor of no export of this caller; ``cause`` is a closed word or two."""
    logger.info("cursor_refused", extra={"request_id": request_id, "cause": cause})


class Inquiries:
    """Finds out why a record was not shown, and tells operators and nobody else.

    In the background: an answer that waited for it would be late where the control plane hangs, and would show by its
    time whether there is a record to look at.
    """

    def __init__(self, control: ControlPlane, pseudonyms: Pseudonyms, most: int = MOST_INQUIRIES) -> None:
        self._control = control
        self._pseudonyms = pseudonyms
        self._most = most
        self._running: set[asyncio.Task[None]] = set()

    def missing(self, request_id: str, principal: Principal, verb: str, record_id: str) -> None:
        """A record was asked for by its id and not shown."""
        known = {**self._pseudonyms.caller(principal), "record": self._pseudonyms.of(Of.RECORD, record_id)}
        event = partial(_not_visible, request_id, verb, known)
        if len(self._running) >= self._most:
            event(_UNKNOWN_NOW)
            return
        task = asyncio.get_running_loop().create_task(self._look(record_id, event))
        self._running.add(task)
        task.add_done_callback(partial(self._ended, request_id))

    def _ended(self, request_id: str, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            # Otherwise the loop would tell it, with the fault's own words.
            failed(request_id, fault)

    async def _look(self, record_id: str, event: Callable[[str], None]) -> None:
        try:
            cause = _cause_of(await within(LOOK_TIMEOUT_S, self._control.record(record_id)))
        except RegistryUnavailable:
            cause = _UNKNOWN_NOW
        event(cause)


def _not_visible(request_id: str, verb: str, known: Mapping[str, str], cause: str) -> None:
    logger.info("not_visible", extra={"request_id": request_id, "verb": verb, "cause": cause, **known})


def failed(request_id: str, error: BaseException) -> None:
    """A fault of ours: where and what, without the error's message, which may hold a query or an id."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("failed", extra={"request_id": request_id, "error": type(error).__qualname__, "frames": frames})


def reader_failed(request_id: str, failure: str, cause: str) -> None:
    """A model gave no answer: a closed word or an HTTP status, never a text."""
    logger.warning("reader_failed", extra={"request_id": request_id, "verb": failure, "cause": cause})


def _cause_of(stored: Record | None) -> str:
    """There is none, it is out of service, or it is hidden from this caller."""
    if stored is None:
        return "unknown"
    return "hidden" if stored.status is Status.ENABLED else stored.status.value
