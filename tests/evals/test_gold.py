"""The shipped gold set: what it holds, and that it is sound. How the product does on it, ``make eval-check`` says."""

from collections import Counter
from pathlib import Path

import pytest

from evals.data import read_gold
from shards.analyzer import name_key

GOLD = Path(__file__).parents[2] / "evals" / "gold"
SET = read_gold([GOLD / "tools.jsonl"], GOLD / "queries.jsonl")

NO_MATCH = {"small_talk", "out_of_scope"}
KINDS = {"plain", "indirect", "name", "typo", "finglish", "cross", "mixed", "multi"} | NO_MATCH


def test_it_has_enough_tools_and_queries_in_five_languages_and_enough_without_an_answer() -> None:
    assert len(SET.tools) >= 60
    assert len(SET.questions) >= 250
    assert sum(not question.relevant for question in SET.questions) >= 40
    languages = Counter(question.lang for question in SET.questions)
    assert set(languages) == {"en", "fa", "ar", "zh", "ru"}
    assert min(languages.values()) >= 40


def test_it_asks_only_for_tools_it_has_and_for_every_one_of_them() -> None:
    ids = {tool.id for tool in SET.tools}
    assert SET.unknown_labels == 0
    assert all(question.acceptable <= ids - question.relevant for question in SET.questions)
    assert ids == {one for question in SET.questions for one in question.relevant}


def test_every_query_has_a_kind_and_no_query_is_asked_twice() -> None:
    assert {question.kind for question in SET.questions} == KINDS
    assert all((question.kind in NO_MATCH) == (not question.relevant) for question in SET.questions)
    assert len({question.text for question in SET.questions}) == len(SET.questions)


@pytest.mark.parametrize("lang", ["en", "fa", "ar", "zh", "ru"])
def test_every_language_has_typos_foreign_tools_small_talk_and_requests_out_of_scope(lang: str) -> None:
    kinds = {question.kind for question in SET.questions if question.lang == lang}
    assert {"plain", "indirect", "name", "typo", "cross", "multi"} | NO_MATCH <= kinds


def test_a_query_by_name_holds_the_name_of_its_tool() -> None:
    names = {tool.id: name_key(tool.name) for tool in SET.tools}
    for question in SET.questions:
        if question.kind == "name":
            (wanted,) = question.relevant
            assert names[wanted] in name_key(question.text.replace(" ", "")), question.text


def test_its_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in GOLD.iterdir()) < 200_000
