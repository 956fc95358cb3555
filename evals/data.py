"""Gold data: tools as records, and labelled questions. Reads the public formats, never writes, never ranks.

A tool row has ``id``, ``name``, ``description``, ``namespace`` and ``parameters`` (a JSON object, or that as text), and
may have aliases, keywords, examples, tags, capability, domain, product and locale. A query row has ``id``, ``query``,
``relevant`` (tool ids) and may have ``acceptable`` (ids that count in the hit rate only) and ``lang``. All other fields
are labels for people and are left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from evals.errors import BadEvalFile
from evals.rows import Row, read_rows
from shards.errors import InvalidRecord
from shards.record import SHARED_TENANT, Access, Kind, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One labelled query; without ``relevant`` ids the right answer is a typed miss.

    Attributes:
        acceptable: ids that a person would also accept; they count in the hit rate only.
        lang: language tag of the text, ``"und"`` where the file does not say.
    """

    id: str
    text: str
    relevant: frozenset[str]
    acceptable: frozenset[str]
    lang: str


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


def read_gold(tools: Sequence[Path], questions: Path, limit: int | None = None) -> GoldSet:
    """Read a catalogue from one or more files, joined by id, and its questions (the first ``limit`` of them).

    Raises:
        BadEvalFile: naming file, line and field of the first row that breaks its contract, or an empty file.
    """
    records, joined = read_tools(tools)
    return GoldSet(tools=records, questions=read_questions(questions)[:limit], joined=joined)


def read_tools(paths: Sequence[Path]) -> tuple[tuple[Record, ...], int]:
    """Records in order of first appearance, and how many later rows repeated an id.

    Raises:
        BadEvalFile: as ``read_gold``.
    """
    records: dict[str, Record] = {}
    rows = 0
    for path in paths:
        before = rows
        for place, row in read_rows(path):
            rows += 1
            record = _record(path, place, row)
            records.setdefault(record.id, record)
        if rows == before:
            raise BadEvalFile(path, "", "holds no tools")
    return tuple(records.values()), rows - len(records)


def read_questions(path: Path) -> tuple[Question, ...]:
    """Questions in file order.

    Raises:
        BadEvalFile: as ``read_gold``; also where two questions share an id.
    """
    questions: dict[str, Question] = {}
    for place, row in read_rows(path):
        question = Question(
            id=_text(path, place, row, "id"),
            text=_text(path, place, row, "query"),
            relevant=frozenset(_texts(path, place, row, "relevant", required=True)),
            acceptable=frozenset(_texts(path, place, row, "acceptable")),
            lang=_text(path, place, row, "lang", default="und"),
        )
        if question.id in questions:
            raise BadEvalFile(path, place, f"id {question.id!r} stands in an earlier row too")
        questions[question.id] = question
    if not questions:
        raise BadEvalFile(path, "", "holds no queries")
    return tuple(questions.values())


def _record(path: Path, place: str, row: Row) -> Record:
    try:
        return Record(
            id=_text(path, place, row, "id"),
            kind=Kind.TOOL,
            name=_text(path, place, row, "name"),
            namespace=_text(path, place, row, "namespace", default=""),
            description=_text(path, place, row, "description", default=""),
            access=Access(tenant=SHARED_TENANT),
            parameters=_parameters(path, place, row),
            aliases=_texts(path, place, row, "aliases"),
            keywords=_texts(path, place, row, "keywords"),
            examples=_texts(path, place, row, "examples"),
            tags=_texts(path, place, row, "tags"),
            capability=_text(path, place, row, "capability", default=""),
            domain=_text(path, place, row, "domain", default=""),
            product=_text(path, place, row, "product", default=""),
            locale=_text(path, place, row, "locale", default=""),
        )
    except InvalidRecord as exc:
        raise BadEvalFile(path, place, str(exc)) from exc


def _parameters(path: Path, place: str, row: Row) -> str:
    value = row.get("parameters")
    if isinstance(value, str):
        try:
            value = orjson.loads(value or "{}")
        except orjson.JSONDecodeError as exc:
            raise BadEvalFile(path, place, f"parameters: is not JSON: {exc}") from exc
    if value is not None and not isinstance(value, dict):
        raise BadEvalFile(path, place, "parameters: must be a JSON object, or one as text")
    return orjson.dumps(value or {}, option=orjson.OPT_SORT_KEYS).decode()


def _text(path: Path, place: str, row: Row, field: str, default: str | None = None) -> str:
    value = row.get(field)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or (not value and default is None):
        raise BadEvalFile(path, place, f"{field}: must be {'text' if default is not None else 'non-empty text'}")
    return value


def _texts(path: Path, place: str, row: Row, field: str, *, required: bool = False) -> tuple[str, ...]:
    value = row.get(field)
    if value is None and not required:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadEvalFile(path, place, f"{field}: must be a list of texts")
    return tuple(value)
