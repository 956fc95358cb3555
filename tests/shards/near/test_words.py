"""Unknown words made ready for comparison."""

import pytest

from shards.near.endings import EXACT, MISSPELT, NO_ENDING, ending_costs
from shards.near.words import looks_like_a_word, word_of


@pytest.mark.parametrize("term", ["invoic", "مشتری", "счет", "naïve", "four", "a" * 40])
def test_letters_of_scripts_that_part_their_words_are_a_word(term: str) -> None:
    assert looks_like_a_word(term)


@pytest.mark.parametrize(
    "term", ["", "a", "abc", "12345", "s3bucket", "→read", "≈invoice", "查询实例", "a" * 41, "a_bcd"]
)
def test_numbers_marks_pairs_and_short_terms_are_none(term: str) -> None:
    assert not looks_like_a_word(term)


def test_an_ending_may_be_left_out_and_be_misspelt() -> None:
    # "ants" is an ending, "nts" is one without its first letter, "ts" and "s" are none of two letters and more.
    assert ending_costs("accountants")[7:] == [EXACT, MISSPELT, NO_ENDING, NO_ENDING, 0]
    costs = ending_costs("informatuon")
    assert (costs[6], costs[11]) == (MISSPELT, 0)
    assert all(cost in {NO_ENDING, EXACT, MISSPELT} for cost in costs[:-1])


def test_what_stands_before_an_ending_is_long_enough() -> None:
    assert ending_costs("sing") == [NO_ENDING] * 4 + [0]
    assert ending_costs("חשבונית") == [NO_ENDING] * 7 + [0]


def test_little_before_an_ending_must_be_spelt_right() -> None:
    word = word_of("careless")
    assert (word.endings[4], word.limits[4]) == (EXACT, EXACT)
    assert word.limits[8] > EXACT


def test_a_doubtful_letter_is_heard_both_ways() -> None:
    keys, costs = word_of("exel").ways[:, 0].tolist(), word_of("tanzimat").ways[:, 1].tolist()
    assert len(set(keys)) == 2
    assert word_of("anbar").ways[:, 1].tolist() == [0]
    assert costs == [0, 2]
    assert word_of("חשבונית").ways.tolist() == []
