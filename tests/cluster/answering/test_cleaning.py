"""What reaches a reader: nothing invisible, and every visible character."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.answering.cleaning import clean


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain", "plain"),
        ("a\u202eb\u2066c\u200fd", "abcd"),
        ("a\x00b\x1b[31mc\x7f\x9b", "ab[31mc"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("x\ufe0f\U000e0101y\u2800z\u3164", "xyz"),
        ("a\u200bb\ufeffc\u2060", "abc"),
        ("می\u200cرود", "می\u200cرود"),
        ("a\u200cb, ب\u200c\u200cپ", "ab, بپ"),
        ("one\r\ntwo\rthree\u2028four\u2029five\tsix", "one\ntwo\nthree\nfour\nfive six"),
        ("قیمت ۱۲٫۵ یورو — Привет 漢字 🙂", "قیمت ۱۲٫۵ یورو — Привет 漢字 🙂"),
    ],
)
def test_invisible_characters_go_and_visible_ones_stay(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text())
def test_cleaning_is_done_after_one_pass_and_leaves_nothing_invisible(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    for character in cleaned:
        assert character in "\n\u200c" or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
