"""Gold of answers: labelled questions about articles, with what a right answer says. Never writes, never judges."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from cluster.question_lexicon import AnswerShape
from evals.errors import BadEvalFile

UNANSWERED: Final = "unanswered"
"""Kind of the questions that no article answers."""

PERMISSION: Final = "permission"
"""Kind of those that only somebody may be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestion:
    """One labelled question.

    Attributes:
        relevant: record ids, any of which answers, but for ``comparison``, which needs all; none if unanswered.
        answer: what a right answer says, empty if unanswered.
        shape: the label of a person, which readers do not get.
    """

    id: str
    text: str
    lang: str
    kind: str
    relevant: frozenset[str]
    answer: str
    shape: str

    @property
    def answered(self) -> bool:
        """Whether some article answers it."""
        return self.kind != UNANSWERED

    def share_of(self, ids: frozenset[str]) -> float:
        """What these records hold of what the answer needs, 0..1: recall of one question."""
        if self.shape == AnswerShape.COMPARISON:
            return len(self.relevant & ids) / len(self.relevant)
        return float(bool(self.relevant & ids))


def read_answer_questions(path: Path) -> tuple[AnswerQuestion, ...]:
    """Questions in file order.

    Raises:
        BadEvalFile: for the first row that breaks its contract, a repeated id, or an empty file.
    """
    questions: dict[str, AnswerQuestion] = {}
    for place, row in _rows(path):
        question = _question(path, place, row)
        if question.id in questions:
            raise BadEvalFile(path, place, f"id {question.id!r} stands in an earlier row too")
        questions[question.id] = question
    if not questions:
        raise BadEvalFile(path, "", "holds no questions")
    return tuple(questions.values())


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as exc:
        raise BadEvalFile(path, "", f"cannot be read: {exc.strerror}") from exc
    for number, line in enumerate(lines, start=1):
        place = f"line {number}"
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as exc:
            raise BadEvalFile(path, place, "must be one JSON object") from exc
        if not isinstance(row, dict):
            raise BadEvalFile(path, place, "must be one JSON object")
        yield place, row


def _question(path: Path, place: str, row: Mapping[str, object]) -> AnswerQuestion:
    texts = {}
    for field in ("id", "question", "lang", "kind", "answer", "shape"):
        value = row.get(field)
        if not isinstance(value, str) or (not value and field != "answer"):
            raise BadEvalFile(path, place, f"{field}: must be text")
        texts[field] = value
    relevant = row.get("relevant")
    if not isinstance(relevant, list) or not all(isinstance(one, str) for one in relevant):
        raise BadEvalFile(path, place, "relevant: must be a list of record ids")
    if bool(relevant) != bool(texts["answer"]) or (texts["kind"] == UNANSWERED) != (not relevant):
        raise BadEvalFile(path, place, f"relevant and answer: both, or for kind {UNANSWERED} neither")
    return AnswerQuestion(
        id=texts["id"],
        text=texts["question"],
        lang=texts["lang"],
        kind=texts["kind"],
        relevant=frozenset(relevant),
        answer=texts["answer"],
        shape=texts["shape"],
    )
