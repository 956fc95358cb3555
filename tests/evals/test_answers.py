"""Answers in figures: the judge by hand, the shipped knowledge base by its properties."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from evals.answer_gold import read_answer_questions
from evals.answer_judge import is_right
from evals.answers import GOLD, HANDBOOK, command
from evals.articles import read_articles
from evals.errors import BadEvalFile


@pytest.mark.parametrize(
    ("answer", "gold", "shape", "right"),
    [
        ("45 minutes", "45 minutes", "amount", True),
        ("The link works for 45 minutes.", "45 minutes", "amount", True),
        ("45 hours", "45 minutes", "amount", False),
        ("30 minutes", "45 minutes", "amount", False),
        ("three hours", "around 3 hours", "amount", True),
        ("۶ یورو", "ماهی ۶ یورو", "amount", True),
        ("9 March 2026", "9 March 2026", "date", True),
        ("10 March 2026", "9 March 2026", "date", False),
        ("Yes. It is not needed.", "yes", "boolean", True),
        ("خیر. ندارد", "خیر", "boolean", True),
        ("It depends", "no", "boolean", False),
        ("", "no", "boolean", False),
        ("Turn on automatic time now", "Turn on automatic time in the system settings", "text", True),
        ("Nothing of it", "Turn on automatic time in the system settings", "text", False),
        ("word " * 500 + "veloria.conf", "veloria.conf", "name", True),
        (" ".join(f"w{number}" for number in range(500)) + " veloria.conf", "veloria.conf", "name", False),
    ],
)
def test_the_judge_says_what_a_person_would(answer: str, gold: str, shape: str, right: bool) -> None:  # noqa: FBT001
    assert is_right(answer, gold, shape) is right


@pytest.mark.parametrize("base", [GOLD, HANDBOOK], ids=["knowledge", "handbook"])
def test_every_relevant_id_of_the_shipped_questions_is_an_article(base: Path) -> None:
    ids = {record.id for record in read_articles(base / "articles")}
    for question in read_answer_questions(base / "questions.jsonl"):
        assert question.relevant <= ids, question.id


def test_of_passages_as_long_as_those_of_real_documents_three_quarters_are_saved() -> None:
    asked = ["--articles", str(HANDBOOK / "articles"), "--questions", str(HANDBOOK / "questions.jsonl"), "--json"]
    result = CliRunner().invoke(command, asked)
    assert result.exit_code == 0, result.output
    figures = orjson.loads(result.stdout)
    assert 150 <= figures["tokens"]["piece"] <= 300
    for pieces, least in (("4", 0.7), ("6", 0.78), ("8", 0.82), ("12", 0.86)):
        ways = figures["first_by_pieces"][pieces]
        assert least <= ways["sequential"]["saved_share"]
        # An excerpt of the first piece is what saves more than stopping after it.
        assert figures["tokens"]["most_saved"][pieces] < ways["sequential"]["saved_share"]
        assert ways["sequential"]["found"] >= ways["batch"]["found"]


def test_who_finds_all_that_stands_there_saves_as_much_at_equal_answers() -> None:
    asked = ["--articles", str(HANDBOOK / "articles"), "--questions", str(HANDBOOK / "questions.jsonl"), "--json"]
    result = CliRunner().invoke(command, [*asked, "--knowing"])
    assert result.exit_code == 0, result.output
    figures = orjson.loads(result.stdout)
    first = figures["first_by_pieces"]["4"]
    assert figures["reader"] == "knowing"
    assert first["sequential"]["found"] == first["batch"]["found"] == first["batch"]["questions"]
    assert first["sequential"]["saved_share"] >= 0.7


def test_the_command_says_everything_and_leaves_what_was_asked_for(tmp_path: Path) -> None:
    save, plot = tmp_path / "answers.json", tmp_path / "answers.png"
    result = CliRunner().invoke(command, ["--half", "kept", "--save", str(save), "--plot", str(plot), "--json"])
    assert result.exit_code == 0, result.output
    figures = orjson.loads(result.stdout)
    assert orjson.loads(save.read_bytes())["ways"] == figures["ways"]
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert figures["leaks"] == []
    # What the README says, with room for what other parts of the index change.
    assert figures["recall_at_40"] >= 0.95
    assert figures["ways"]["sequential"]["found_share"] >= 0.68
    assert figures["first_by_pieces"]["8"]["sequential"]["saved_share"] >= 0.65
    assert figures["first_by_pieces"]["12"]["sequential"]["saved_share"] >= 0.72
    assert set(figures["sequential_loses"]) == set(figures["by_pieces"]) == {"1", "2", "4", "6", "8", "12"}
    assert figures["ways"]["batch"]["saved_share"] == 0
    assert {"fa", "ru", "en"} == set(figures["by_lang"])


def test_a_row_that_breaks_its_contract_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "question": "q", "lang": "en", "kind": "exact", "relevant": [], "answer": "x"}\n')
    with pytest.raises(BadEvalFile, match=r"line 1.*shape"):
        read_answer_questions(path)
