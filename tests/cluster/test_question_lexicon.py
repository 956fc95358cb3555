"""The question lexicon: what is refused, and that every word and cue of the shipped file has a use."""

import copy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from cluster.errors import InvalidConfiguration
from cluster.question import QuestionParser
from cluster.question_lexicon import AnswerShape, QuestionLexicon
from cluster.strict_yaml import read_yaml

SHIPPED = Path(str(files("configs"))) / "lexicons" / "questions.yaml"
SMALL: dict[str, Any] = {
    "version": 1,
    "cues": {
        "silent": {"en": "please"},
        "ask": {"en": "(how|what)_much when"},
        "and": {"en": "and"},
        "many": {"en": "everything"},
    },
    "endings": {"none": {"en": "ss"}, "many": {"en": "s"}},
    "beginnings": {"many": {"en": "multi"}},
    "groups": {"heads": "ask and"},
    "rules": [{"list": "^ .1 many $"}, {"amount": "^ -heads ask"}],
    "several": ["ask .. and / .. ask"],
}


def small(**changed: object) -> dict[str, Any]:
    return copy.deepcopy(SMALL) | changed


def test_rules_of_a_lexicon_of_ones_own() -> None:
    parser = QuestionParser(QuestionLexicon.of(small(), "own"))
    assert parser.parse("How much?").parts == (AnswerShape.AMOUNT,)
    assert parser.parse("please cats").parts == (AnswerShape.LIST,)
    assert parser.parse("multitool").parts == (AnswerShape.LIST,)
    assert parser.parse("boss").parts == (AnswerShape.TEXT,)
    assert parser.parse("one two cats").parts == (AnswerShape.TEXT,)
    assert parser.parse("when and what much").parts == (AnswerShape.AMOUNT, AnswerShape.AMOUNT)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"rules": [{"number": "ask"}]}, "number"),
        ({"rules": [{"amount": "asks"}]}, "asks"),
        ({"rules": [{"amount": ".x ask"}]}, ".x"),
        ({"rules": [{"amount": "ask / and"}]}, "ask / and"),
        ({"rules": ["ask"]}, "ask"),
        ({"rules": []}, "rules"),
        ({"several": ["ask and"]}, "ask and"),
        ({"several": ["ask .. / ask"]}, "ask .. / ask"),
        ({"groups": {"heads": "nothing"}}, "nothing"),
        ({"groups": {"others": "ask"}}, "heads"),
        ({"endings": {"plenty": {"en": "s"}}}, "plenty"),
        ({"cues": {**SMALL["cues"], "also": {"en": "when"}}}, "when"),
        ({"cues": {**SMALL["cues"], "also": {"en": ["when"]}}}, "also: en"),
        ({"version": "one"}, "version"),
        ({"more": {}}, "keys"),
    ],
)
def test_a_file_that_says_nothing_sure_is_refused_by_the_name_of_what_is_wrong(
    changed: dict[str, object], named: str
) -> None:
    with pytest.raises(InvalidConfiguration, match=r".") as refused:
        QuestionLexicon.of(small(**changed), "own")
    assert named in str(refused.value)


def test_the_version_tells_files_apart() -> None:
    changed = QuestionLexicon.of(small(rules=[{"date": "ask"}]), "own")
    assert changed.version != QuestionLexicon.of(small(), "own").version
    assert changed.version.startswith("questions-1-")


def test_every_cue_and_group_of_the_shipped_file_is_used() -> None:
    config: Any = read_yaml(SHIPPED)
    rules = [pattern for rule in config["rules"] for pattern in rule.values()] + config["several"]
    spoken = " ".join([*rules, *config["groups"].values()]).replace("|", " ").replace("?", " ")
    used = {word.lstrip("-!") for word in spoken.split()}
    unused = (set(config["cues"]) | set(config["groups"])) - used - {"silent", "heads", "singular"}
    assert unused == set()


def test_every_shape_has_a_rule_and_every_language_its_words() -> None:
    config: Any = read_yaml(SHIPPED)
    assert {shape for rule in config["rules"] for shape in rule} == set(AnswerShape)
    for cue in ("how_much", "when", "why", "how", "what", "compare", "list", "show", "amount_noun", "date_noun"):
        assert {"en", "fa", "ru", "ar", "zh"} <= set(config["cues"][cue]), cue
