"""Bulk writes: NDJSON lines to records, one write for all good ones, and a report of every line.

One bad line never costs the others. It checks no right by itself: the caller's writable tenants are handed in.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NotRequired

from pydantic_core import from_json
from typing_extensions import TypedDict

from cluster.control import ControlPlane, Receipt, WriteOutcome
from serve_app.json_body import RepeatedKey, check_keys
from serve_app.problems import FieldError, Refused, invalid_request
from serve_app.record_wire import parse_record
from shards.errors import InvalidRecord
from shards.record import Record

MAX_LINES: Final = 10_000
MAX_LINE_BYTES: Final = 2 * 2**20

_NOT_WRITABLE: Final = FieldError(field="id", allowed="an id that is free, or belongs to the record's own tenant")
_FOREIGN_TENANT: Final = FieldError(field="access.tenant", allowed="a tenant whose records the caller may write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that is not blank: its record, or why it is none; ``number`` counts all lines from 1."""

    number: int
    id: str
    record: Record | None = None
    error: FieldError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a line; exactly one of ``receipt`` and ``error`` is there."""

    line: Line
    receipt: Receipt | None = None
    error: FieldError | None = None


class LineView(TypedDict):
    """One line of the report. ``stale`` names the stored version; ``refused`` the field at fault and what it takes."""

    line: int
    id: str
    outcome: str
    version: NotRequired[int]
    field: NotRequired[str]
    allowed: NotRequired[str]


class ReportView(TypedDict):
    """Body of the answer to a bulk write; pass ``seq`` as ``min_seq`` to a search that must see it."""

    request_id: str
    seq: int | None
    applied: int
    unchanged: int
    stale: int
    refused: int
    lines: list[LineView]


def read_lines(body: bytes) -> tuple[Line, ...]:
    """The records of a body; blank lines are skipped.

    Raises:
        Refused: if there is no line, or more than ``MAX_LINES``.
    """
    raw = [(number, line) for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()]
    if not 1 <= len(raw) <= MAX_LINES:
        raise Refused(invalid_request(FieldError(field="body", allowed=f"1 to {MAX_LINES} lines, a JSON object each")))
    return tuple(_line(number, line) for number, line in raw)


async def write_lines(
    control: ControlPlane, lines: Sequence[Line], tenants: frozenset[str] | None
) -> tuple[Result, ...]:
    """Write what can be written, in one call; results in the order of the lines."""
    writable = [line for line in lines if line.record is not None and _may_write(line.record, tenants)]
    records = [line.record for line in writable if line.record is not None]
    receipts = await control.upsert(records, tenants) if records else ()
    by_line = {line.number: receipt for line, receipt in zip(writable, receipts, strict=True)}
    return tuple(_result(line, by_line.get(line.number)) for line in lines)


def report(request_id: str, results: Sequence[Result]) -> tuple[int, ReportView]:
    """How many lines were not taken, and the report."""
    lines = [_line_view(result) for result in results]
    counts = Counter(line["outcome"] for line in lines)
    view: ReportView = {
        "request_id": request_id,
        "seq": max((result.receipt.seq for result in results if result.receipt), default=None),
        "applied": counts["applied"],
        "unchanged": counts["unchanged"],
        "stale": counts["stale"],
        "refused": counts["refused"],
        "lines": lines,
    }
    return counts["stale"] + counts["refused"], view


def _line(number: int, raw: bytes) -> Line:
    record_id = ""
    try:
        if len(raw) > MAX_LINE_BYTES:
            return Line(number=number, id="", error=FieldError(field="line", allowed=f"at most {MAX_LINE_BYTES} bytes"))
        values: object = from_json(raw)
        check_keys(raw)
        if not isinstance(values, dict):
            return Line(number=number, id="", error=FieldError(field="line", allowed="a JSON object"))
        record_id = str(values.get("id", ""))[:512]
        return Line(number=number, id=record_id, record=parse_record(values))
    except InvalidRecord as error:
        return Line(number=number, id=record_id, error=FieldError(field=error.field, allowed=error.allowed))
    except RepeatedKey:
        return Line(number=number, id="", error=FieldError(field="line", allowed="an object that repeats no key"))
    except ValueError:
        return Line(number=number, id="", error=FieldError(field="line", allowed="valid JSON in UTF-8"))


def _may_write(record: Record, tenants: frozenset[str] | None) -> bool:
    return tenants is None or record.access.tenant in tenants


def _result(line: Line, receipt: Receipt | None) -> Result:
    if line.error is not None:
        return Result(line=line, error=line.error)
    if receipt is None:
        return Result(line=line, error=_FOREIGN_TENANT)
    if receipt.outcome is WriteOutcome.FOREIGN:
        return Result(line=line, error=_NOT_WRITABLE)
    return Result(line=line, receipt=receipt)


def _line_view(result: Result) -> LineView:
    view: LineView = {"line": result.line.number, "id": result.line.id, "outcome": "refused"}
    if result.receipt is not None:
        view["outcome"] = result.receipt.outcome.value
        view["version"] = result.receipt.version
    elif result.error is not None:
        view["field"] = result.error.field
        view["allowed"] = result.error.allowed
    return view
