"""Persian and Arabic words: what is written onto a known word comes off, and no other word loses a letter."""

import pytest

from shards.analysis.attached import base_of
from shards.analysis.persian import conjugated, stem
from shards.analysis.scripts import normalise
from shards.analyzer import terms_of


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("فاکتورا", "فاکتور"),  # the spoken plural
        ("فاکتورو", "فاکتور"),  # the spoken object
        ("فاکتورهاشونو", "فاکتور"),
        ("فاکتورمان", "فاکتور"),
        ("گزارش‌های", "گزارش"),
        ("گزارشا", "گزارش"),
        ("مشتریان", "مشتری"),
        ("حسابم", "حساب"),
        ("قیمتش", "قیمت"),
        ("نقدی", "نقد"),  # a form of the same line of the lexicon
        ("جلسات", "جلسه"),
        ("چکها", "چک"),
        ("چکامو", "چک"),
        ("الفاتورة", "فاتوره"),
        ("فاتورتي", "فاتوره"),
        ("والفاتورة", "فاتوره"),
        ("للعميل", "عمیل"),
        ("بالبريد", "برید"),
        ("شركات", "شرکه"),
        ("موظفين", "موظف"),
    ],
)
def test_what_is_attached_to_a_known_word_comes_off(written: str, word: str) -> None:
    assert terms_of(written)[0] == word


@pytest.mark.parametrize(
    "word", ["گزارش", "مالیات", "ارزش", "کارت", "نامه", "فرمت", "کالا", "خودرو", "باران", "بسته", "حساب", "کتاب"]
)
def test_a_known_word_that_looks_like_an_inflection_stays(word: str) -> None:
    assert terms_of(word) == (word,)


@pytest.mark.parametrize("word", ["کدام", "کتابفروش", "ژرفا", "xyz"])
def test_a_word_that_holds_no_known_word_has_no_base(word: str) -> None:
    assert base_of(normalise(word)) is None


def test_a_plural_is_not_taken_for_a_feminine_word_with_another_ending() -> None:
    assert base_of("کتابها") == "کتاب"  # کتابة, writing, is known too


def test_unknown_words_keep_their_light_stem() -> None:
    assert stem("درختها") == "درخت"
    assert terms_of("درختهایشان") == terms_of("درخت")


def test_a_verb_has_its_written_and_spoken_forms() -> None:
    forms = set(conjugated("ساخت", "ساز"))
    assert {"ساخت", "ساختن", "ساخته", "ساختیم", "بساز", "بسازم", "بسازید", "بسازین", "میسازم", "میسازه"} <= forms
    assert "ساز" not in forms
    assert "بیاور" in set(conjugated("اورد", "اور"))
