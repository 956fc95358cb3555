"""Which words count as known whatever a catalogue holds."""

import pytest

from shards.near.known_words import is_known, known_near


@pytest.mark.parametrize("term", ["about", "pleas", "delet", "invoic", "مشتری", "برای"])
def test_words_of_the_lexicons_and_words_that_say_nothing_are_known(term: str) -> None:
    assert is_known(term)


@pytest.mark.parametrize("term", ["abuot", "beij", "zorbalink", "≈invoice", "→delete"])
def test_other_words_and_marks_are_not(term: str) -> None:
    assert not is_known(term)


def test_a_misspelt_stop_word_is_silent() -> None:
    written, spoken = known_near("abuot")
    assert written.silent > 0
    assert written.marks == spoken.marks == ()


def test_a_misspelt_word_says_what_the_word_says() -> None:
    written, _ = known_near("inovic")
    assert dict(written.marks)["≈invoice"] == 212
    assert written.silent < 212


def test_a_word_of_another_script_says_it_too() -> None:
    _, spoken = known_near("moshtarry")
    assert "≈customer" in dict(spoken.marks)


def test_a_word_near_none_says_nothing() -> None:
    assert all((known.silent, known.marks) == (0, ()) for known in known_near("zorbalinkat"))
