"""How well questions are read: their shapes, parts and delivery against the labelled set, by language.

    python -m evals.dispatch [--half kept|fitted] [--json]

It fits nothing. Rules are written by the fitted half; of the kept half it shows figures only, never a question.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import orjson

from cluster.contract import Delivery
from cluster.dispatcher import spread_of
from cluster.question import QuestionParser, shipped_parser
from cluster.question_lexicon import AnswerShape
from evals.errors import BadEvalFile

QUESTIONS: Final = Path(__file__).parent / "gold" / "question_shapes.jsonl"
KEPT: Final = "kept"
FITTED: Final = "fitted"
PARTS: Final = ("one", "several")
_KEYS: Final = frozenset({"id", "question", "lang", "shape", "parts", "delivery", "half"})
_HELD: Final = {
    "shape": frozenset(AnswerShape),
    "parts": frozenset(PARTS),
    "delivery": frozenset(Delivery),
    "half": frozenset({KEPT, FITTED}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One question with what it asks for.

    Attributes:
        shape: of the first thing asked for.
        several: whether more than one thing is asked for.
        delivery: where scores lie far apart.
    """

    id: str
    text: str
    lang: str
    shape: AnswerShape
    several: bool
    delivery: Delivery
    half: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the rules made of the questions of one language.

    Attributes:
        shapes: (labelled, read) -> how many.
        shape_right, parts_right, delivery_right: questions.
    """

    lang: str
    questions: int
    shapes: Counter[tuple[AnswerShape, AnswerShape]]
    shape_right: int
    parts_right: int
    delivery_right: int


def read_labelled(path: Path = QUESTIONS) -> tuple[Labelled, ...]:
    """The labelled questions in file order.

    Raises:
        BadEvalFile: naming line and field of the first row that breaks its contract.
    """
    rows = [_labelled(path, n, line) for n, line in enumerate(path.read_bytes().splitlines(), 1)]
    if len({row.id for row in rows}) != len(rows):
        raise BadEvalFile(path, "", "two questions share an id")
    return tuple(rows)


def read(questions: Sequence[Labelled], parser: QuestionParser) -> Iterator[Reading]:
    """What the parser makes of the questions, by language in order of first appearance."""
    for lang in dict.fromkeys(one.lang for one in questions):
        ours = [one for one in questions if one.lang == lang]
        read_as = [parser.parse(one.text) for one in ours]
        pairs = list(zip(ours, read_as, strict=True))
        yield Reading(
            lang=lang,
            questions=len(ours),
            shapes=Counter((one.shape, question.shape) for one, question in pairs),
            shape_right=sum(one.shape is question.shape for one, question in pairs),
            parts_right=sum(one.several is question.several for one, question in pairs),
            delivery_right=sum(
                one.delivery is (Delivery.BATCH if spread_of(question) else Delivery.SEQUENTIAL)
                for one, question in pairs
            ),
        )


def _labelled(path: Path, number: int, line: bytes) -> Labelled:
    place = f"line {number}"
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as exc:
        raise BadEvalFile(path, place, "is not JSON") from exc
    if not isinstance(row, dict) or set(row) != _KEYS or not all(isinstance(value, str) for value in row.values()):
        raise BadEvalFile(path, place, f"has to hold the texts {', '.join(sorted(_KEYS))}")
    for key, held in _HELD.items():
        if row[key] not in held:
            raise BadEvalFile(path, f"{place}: {key}", f"{row[key]!r} is none of {', '.join(sorted(held))}")
    return Labelled(
        id=row["id"],
        text=row["question"],
        lang=row["lang"],
        shape=AnswerShape(row["shape"]),
        several=row["parts"] == PARTS[1],
        delivery=Delivery(row["delivery"]),
        half=row["half"],
    )


def _lines(reading: Reading) -> Iterator[str]:
    rights = (reading.delivery_right, reading.shape_right, reading.parts_right)
    delivery, shape, parts = (f"{right / reading.questions:.3f}" for right in rights)
    yield f"{reading.lang}  n={reading.questions}  delivery {delivery}  shape {shape}  parts {parts}"
    yield f"  {'labelled, read as':>18}" + "".join(f"{one:>11}" for one in AnswerShape)
    for labelled in AnswerShape:
        cells = "".join(f"{reading.shapes[labelled, one] or '.':>11}" for one in AnswerShape)
        yield f"  {labelled:>18}{cells}"


def _view(reading: Reading) -> dict[str, object]:
    return {
        "lang": reading.lang,
        "questions": reading.questions,
        "delivery_accuracy": round(reading.delivery_right / reading.questions, 4),
        "shape_accuracy": round(reading.shape_right / reading.questions, 4),
        "parts_accuracy": round(reading.parts_right / reading.questions, 4),
        "confusion": {
            labelled.value: {one.value: reading.shapes[labelled, one] for one in AnswerShape}
            for labelled in AnswerShape
        },
    }


@click.command()
@click.option("--half", type=click.Choice([KEPT, FITTED]), default=KEPT, show_default=True, help="Which questions.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
def command(half: str, as_json: bool) -> None:  # noqa: FBT001 -- click passes flags so
    """How well the shipped rules read questions, by language."""
    parser = shipped_parser()
    readings = list(read([one for one in read_labelled() if one.half == half], parser))
    if as_json:
        body = {"half": half, "parser": parser.version, "languages": [_view(one) for one in readings]}
        click.echo(orjson.dumps(body, option=orjson.OPT_INDENT_2))
        return
    click.echo(f"half {half}, rules {parser.version}")
    for reading in readings:
        click.echo("\n".join(_lines(reading)))


if __name__ == "__main__":
    command()
