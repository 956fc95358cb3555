"""Gold data: a catalogue, read as ``shortlist import`` reads it, and labelled questions. Never writes, never ranks.

A query row has ``id``, ``query``, ``relevant`` (record ids) and may have ``acceptable`` (ids that count in the hit rate
only), ``lang`` and ``kind``. A row whose ``query`` is still empty and that has a ``todo`` is a template that waits to
be filled in (``evals.starter``). All other fields are labels for people and are left alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from cluster.errors import UnreadableSource
from cluster.importers.formats import Format, read_file, read_rows
from cluster.importers.source import Defaults, RawRecord, Refusal
from evals.errors import BadEvalFile
from serve_app.record_wire import parse_record
from shards.errors import InvalidRecord
from shards.record import SHARED_TENANT, Access, Record, Status

QUERY_FIELDS: Final = frozenset({"id", "query", "relevant", "acceptable", "lang", "kind", "todo"})

OPEN: Final = Access(tenant=SHARED_TENANT)
"""Of records that everybody may see: where nobody asks for more, retrieval is measured, not access."""

_DEFAULTS: Final = Defaults()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One labelled query; without ``relevant`` ids the right answer is a typed miss.

    Attributes:
        acceptable: ids that a person would also accept; they count in the hit rate only.
        lang: language tag of the text, ``"und"`` where the file does not say.
        kind: how the question was made (typo, cross-lingual, …), empty where the file does not say.
    """

    id: str
    text: str
    relevant: frozenset[str]
    acceptable: frozenset[str]
    lang: str
    kind: str = ""

    @property
    def wanted(self) -> frozenset[str]:
        """Every id that counts in the hit rate."""
        return self.relevant | self.acceptable


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSet:
    """A catalogue and the questions asked of it.

    Attributes:
        tools: distinct ids; where files share an id, the first file that has it wins.
        joined: rows left out because an earlier row has their id.
    """

    tools: tuple[Record, ...]
    questions: tuple[Question, ...]
    joined: int

    @property
    def unknown_labels(self) -> int:
        """Relevant ids, counted once per question, that no tool has: they cap the reachable recall."""
        known = {tool.id for tool in self.tools}
        return sum(len(question.relevant - known) for question in self.questions)


def read_gold(
    tools: Sequence[Path], questions: Path, limit: int | None = None, access: Access | None = OPEN
) -> GoldSet:
    """Read a catalogue from one or more files, joined by id, and its questions (the first ``limit`` of them).

    ``access`` is that of every record, None leaves each record its own.

    Raises:
        BadEvalFile: naming file, line and field of the first row that breaks its contract, or an empty file.
    """
    records, joined = read_tools(tools, access)
    return GoldSet(tools=records, questions=read_questions(questions)[:limit], joined=joined)


def read_tools(paths: Sequence[Path], access: Access | None = OPEN) -> tuple[tuple[Record, ...], int]:
    """Records in order of first appearance, and how many later rows repeated an id; ``access`` as in ``read_gold``.

    Raises:
        BadEvalFile: as ``read_gold``.
    """
    records: dict[str, Record] = {}
    rows = 0
    for path in paths:
        before = rows
        for record in _records(path):
            rows += 1
            opened = record if access is None else replace(record, access=access, status=Status.ENABLED)
            records.setdefault(record.id, opened)
        if rows == before:
            raise BadEvalFile(path, "", "holds no tools")
    return tuple(records.values()), rows - len(records)


def read_questions(path: Path) -> tuple[Question, ...]:
    """Questions in file order.

    Raises:
        BadEvalFile: as ``read_gold``; also where two questions share an id.
    """
    questions: dict[str, Question] = {}
    waiting = 0
    for place, row in _query_rows(path):
        if row.get("todo") and not row.get("query"):
            waiting += 1
            continue
        question = Question(
            id=_text(path, place, row, "id"),
            text=_text(path, place, row, "query"),
            relevant=_ids(path, place, row, "relevant"),
            acceptable=_ids(path, place, {"acceptable": []} | row, "acceptable"),
            lang=_text(path, place, {"lang": "und"} | row, "lang"),
            kind=_kind(path, place, row.get("kind", "")),
        )
        if question.id in questions:
            raise BadEvalFile(path, place, f"id {question.id!r} stands in an earlier row too")
        questions[question.id] = question
    if not questions:
        templates = f": {waiting} templates wait to be filled in" if waiting else ""
        raise BadEvalFile(path, "", f"holds no queries{templates}")
    return tuple(questions.values())


def _records(path: Path) -> Iterator[Record]:
    """The file's records as they are written."""
    with _readable(path):
        for item in read_file(path, Format.AUTO, _DEFAULTS):
            match item:
                case RawRecord():
                    yield _parsed(path, item)
                case Refusal():
                    raise BadEvalFile(path, item.name, item.reason)


def _parsed(path: Path, raw: RawRecord) -> Record:
    try:
        return parse_record(_DEFAULTS.fill(raw.values))
    except InvalidRecord as exc:
        raise BadEvalFile(path, raw.label, str(exc)) from exc


def _query_rows(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Each row with its place; a field that is null counts as absent."""
    with _readable(path):
        for row in read_rows(path, QUERY_FIELDS):
            if isinstance(row, Refusal):
                raise BadEvalFile(path, row.name, row.reason)
            if not isinstance(row.value, dict):
                raise BadEvalFile(path, row.place, "must be a JSON object")
            yield row.place, {field: value for field, value in row.value.items() if value is not None}


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except UnreadableSource as exc:
        raise BadEvalFile(path, "", exc.reason) from exc


def _text(path: Path, place: str, row: Mapping[str, object], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise BadEvalFile(path, place, f"{field}: must be non-empty text")
    return value


def _ids(path: Path, place: str, row: Mapping[str, object], field: str) -> frozenset[str]:
    value = row.get(field)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadEvalFile(path, place, f"{field}: must be a list of ids")
    return frozenset(value)


def _kind(path: Path, place: str, value: object) -> str:
    """One word, or several of a list joined by ``+``."""
    parts = value if isinstance(value, list) else [value]
    words = [part for part in parts if isinstance(part, str)]
    if len(words) != len(parts):
        raise BadEvalFile(path, place, "kind: must be text, or a list of texts")
    return "+".join(words)
