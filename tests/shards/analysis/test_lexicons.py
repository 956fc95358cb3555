"""The word lists themselves: no list undoes another, and none is forgotten."""

from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path

import pytest
import yaml

from shards.analysis.lexicons import ACTIONS, CONCEPTS, ENGLISH, KEPT, LEXICONS
from shards.analysis.stopwords import FILLERS, STOPWORDS
from shards.analyzer import terms_of

LANGUAGES = {"en", "fa", "fl", "ar", "zh", "ru"}


def _folder() -> Path:
    with as_file(files("configs") / "lexicons") as folder:
        return folder


def _read(path: Path) -> dict[str, dict[str, str]]:
    said: dict[str, dict[str, str]] = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 -- strings
    return said


def test_every_lexicon_that_decides_terms_is_part_of_the_analyzers_id() -> None:
    decide_no_terms = {"smalltalk.yaml", "questions.yaml"}
    found = {path.name for path in _folder().rglob("*.yaml")}
    assert {file.name for file in LEXICONS} == found - decide_no_terms


def test_no_concept_is_written_twice_and_every_language_is_known() -> None:
    names: list[str] = []
    for path in (_folder() / "concepts").glob("*.yaml"):
        for name, languages in _read(path).items():
            names.append(name)
            assert set(languages) <= LANGUAGES, name
            assert all(isinstance(words, str) and words.split() for words in languages.values()), name
    assert len(names) == len(set(names)) == len(CONCEPTS)


@pytest.mark.parametrize("entries", [ACTIONS, CONCEPTS], ids=["actions", "concepts"])
def test_every_word_gives_terms_and_is_no_stop_word(entries: dict[str, tuple[str, ...]]) -> None:
    for name, words in entries.items():
        for word in words:
            assert terms_of(word), (name, word)
            assert word not in STOPWORDS, (name, word)


def test_stop_words_and_fillers_are_different_words() -> None:
    assert not STOPWORDS & FILLERS


def test_common_actions_have_words_in_all_five_languages() -> None:
    said = _read(_folder() / "actions.yaml")
    assert all(set(languages) >= LANGUAGES - {"fl"} for languages in said.values())


def test_kept_words_and_their_plurals_share_a_stem_that_no_other_word_has() -> None:
    for word in KEPT:
        assert terms_of(word) == (word,)
    assert terms_of("customers") == terms_of("customer") != terms_of("custom")
    assert terms_of("universities") == terms_of("university") != terms_of("universal")
    assert terms_of("goods") != terms_of("good")


def test_english_words_are_those_of_the_english_lists() -> None:
    assert {"invoice", "create", "bucket"} <= ENGLISH
    assert not {"faktor", "فاکتور"} & ENGLISH
    assert set(chain.from_iterable(ACTIONS.values())) > {"create", "ساختن", "بساز"}
