"""Audit events as an operator reads them: one JSON object a line, closed words, no values."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from serve_app import audit
from serve_app.auth_errors import Forbidden, Refusal, Unauthenticated

SECRET = "hunter2"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    logger = logging.getLogger(audit.EVENTS)
    before = (logger.handlers[:], logger.level, logger.propagate)
    written = io.StringIO()
    audit.write_events(logging.StreamHandler(written))
    yield written
    logger.handlers[:], logger.level, logger.propagate = before


def test_a_refused_credential_is_an_event_with_its_cause_and_nothing_of_the_credential(lines: io.StringIO) -> None:
    audit.refused("r1", Unauthenticated(Refusal.EXPIRED, SECRET))
    event = json.loads(lines.getvalue())
    assert (event["event"], event["request_id"], event["cause"]) == ("unauthenticated", "r1", "expired")
    assert SECRET not in lines.getvalue()


def test_a_refused_right_is_an_event_and_other_errors_are_none(lines: io.StringIO) -> None:
    audit.refused("r1", ValueError(SECRET))
    assert not lines.getvalue()
    audit.refused("r2", Forbidden("writer"))
    assert json.loads(lines.getvalue())["cause"] == "writer"


def test_a_failure_tells_where_it_was_and_what_kind_but_not_its_message(lines: io.StringIO) -> None:
    try:
        int(SECRET)
    except ValueError as error:
        audit.failed("r1", error)
    event = json.loads(lines.getvalue())
    assert (event["level"], event["error"]) == ("ERROR", "ValueError")
    assert "test_audit.py" in event["frames"]
    assert SECRET not in lines.getvalue()
