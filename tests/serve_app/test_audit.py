"""Audit events as an operator reads them: one JSON object a line, closed words, no values."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster.local import LocalCluster
from cluster.registry import Registry
from cluster.scope import Principal
from serve_app import audit
from serve_app.auth_errors import Forbidden, Refusal, Unauthenticated
from serve_app.cli.main import cli
from serve_app.pseudonyms import Of, Pseudonyms
from shards.record import Record

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


class SlowPlane(LocalCluster):
    """A control plane that answers when it is told to."""

    def __init__(self, home: Path) -> None:
        super().__init__(Registry.in_home(home))
        self.may_answer = asyncio.Event()

    async def record(self, record_id: str) -> Record | None:
        await self.may_answer.wait()
        return await super().record(record_id)


def test_inquiries_wait_for_their_cause_without_holding_anybody_up_and_are_bounded(
    lines: io.StringIO, tmp_path: Path
) -> None:
    pseudonyms = Pseudonyms()
    caller = Principal(subject=SECRET, tenant=SECRET, roles=frozenset({"reader"}), mode="analyzer")

    async def story() -> None:
        plane = SlowPlane(tmp_path)
        inquiries = audit.Inquiries(plane, pseudonyms, most=2)
        for number in range(3):
            inquiries.missing(f"r{number}", caller, "get", SECRET)
        assert [event["cause"] for event in events()] == ["not_known_now"]
        plane.may_answer.set()
        async with asyncio.timeout(5):
            while len(events()) < 3:  # noqa: ASYNC110 -- no event tells that a line was written
                await asyncio.sleep(0)

    def events() -> list[dict[str, str]]:
        return [json.loads(line) for line in lines.getvalue().splitlines()]

    asyncio.run(story())
    assert {event["request_id"]: event["cause"] for event in events()} == {
        "r0": "unknown",
        "r1": "unknown",
        "r2": "not_known_now",
    }
    for event in events():
        assert {key: event[key] for key in ("subject", "tenant")} == pseudonyms.caller(caller)
        assert event["record"] == pseudonyms.of(Of.RECORD, SECRET)
    assert SECRET not in lines.getvalue()


@pytest.mark.usefixtures("lines")
def test_an_import_is_an_event_with_the_request_id_and_the_position_of_its_report(tmp_path: Path) -> None:
    source = tmp_path / "tools.jsonl"
    tools = [{"id": f"a:{SECRET}", "name": SECRET, "description": SECRET, "access": {"tenant": SECRET}}, {"id": SECRET}]
    source.write_text("\n".join(map(json.dumps, tools)))
    home = tmp_path / "home"
    result = CliRunner().invoke(cli, ["import", str(source), "--home", str(home), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    written = (home / audit.FILE_NAME).read_text()
    event = json.loads(written)
    expected = {
        "level": "INFO", "event": "written", "request_id": report["request_id"], "verb": "import", "outcome": "applied",
        "records": 1, "removed": 0, "refused": 1, "seq": report["seq"],
    }  # fmt: skip
    assert {key: event[key] for key in event if key != "time"} == expected
    assert SECRET not in written
