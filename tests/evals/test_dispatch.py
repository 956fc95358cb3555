"""The labelled questions, and the command that judges the rules by them."""

import json
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from cluster.contract import Delivery
from cluster.question import shipped_parser
from cluster.question_lexicon import AnswerShape
from evals.dispatch import FITTED, KEPT, QUESTIONS, command, read, read_labelled
from evals.errors import BadEvalFile

LABELLED = read_labelled()
LANGUAGES = ("en", "fa", "ru")
LEAST = 0.95
LEAST_SHAPE = 0.93
"""A wrong shape inside of the right delivery costs no evidence; of the newest 60 questions .93 are read right."""


def test_there_are_a_hundred_questions_of_each_language_and_half_of_each_are_kept() -> None:
    by_lang = Counter(one.lang for one in LABELLED)
    kept = Counter(one.lang for one in LABELLED if one.half == KEPT)
    assert set(by_lang) == set(LANGUAGES)
    assert all(by_lang[lang] >= 100 and abs(by_lang[lang] - 2 * kept[lang]) <= 1 for lang in LANGUAGES)
    assert len({one.text for one in LABELLED}) == len(LABELLED)


def test_every_shape_of_every_language_is_in_both_halves() -> None:
    seen = Counter((one.lang, one.half, one.shape) for one in LABELLED)
    assert all(seen[lang, half, shape] >= 7 for lang in LANGUAGES for half in (KEPT, FITTED) for shape in AnswerShape)


def test_the_delivery_follows_from_shape_and_parts() -> None:
    for one in LABELLED:
        spread = one.several or one.shape in {AnswerShape.LIST, AnswerShape.COMPARISON}
        assert one.delivery is (Delivery.BATCH if spread else Delivery.SEQUENTIAL), one.id


@pytest.mark.parametrize("half", [KEPT, FITTED])
def test_the_shipped_rules_read_nineteen_of_twenty_in_every_language(half: str) -> None:
    readings = list(read([one for one in LABELLED if one.half == half], shipped_parser()))
    assert [reading.lang for reading in readings] == list(LANGUAGES)
    for reading in readings:
        assert sum(reading.shapes.values()) == reading.questions
        assert reading.delivery_right >= LEAST * reading.questions, reading.lang
        assert reading.shape_right >= LEAST_SHAPE * reading.questions, reading.lang
        assert reading.parts_right >= LEAST * reading.questions, reading.lang


def test_the_command_shows_figures_and_no_question() -> None:
    table = CliRunner().invoke(command, ["--half", "kept"])
    assert table.exit_code == 0
    assert all(one.text not in table.output for one in LABELLED)
    body = json.loads(CliRunner().invoke(command, ["--json"]).output)
    assert body["half"] == KEPT
    assert [one["lang"] for one in body["languages"]] == list(LANGUAGES)
    assert all(one["delivery_accuracy"] >= LEAST for one in body["languages"])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"shape": "number"}, "shape"),
        ({"half": "third"}, "half"),
        ({"parts": 2}, "line 1"),
        ({"more": "x"}, "line 1"),
    ],
)
def test_a_row_that_breaks_its_contract_is_named(tmp_path: Path, change: dict[str, object], named: str) -> None:
    row = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps(row | change) + "\n")
    with pytest.raises(BadEvalFile, match=named):
        read_labelled(path)


def test_two_rows_of_one_id_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(QUESTIONS.read_text("utf-8").splitlines()[0] + "\n" + QUESTIONS.read_text("utf-8").splitlines()[0])
    with pytest.raises(BadEvalFile, match="share an id"):
        read_labelled(path)
