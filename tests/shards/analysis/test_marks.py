"""Marks: words of one meaning meet across languages, and nothing else does."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analysis.marks import ACTION, CONCEPT, Marks
from shards.analyzer import actions_of, analyze_query, concepts_of, terms_of


def _said(marks: Marks, text: str) -> list[tuple[str, int]]:
    return list(marks.said_in(terms_of(text)))


@pytest.mark.parametrize(
    ("concept", "texts"),
    [
        ("invoice", ["send the invoices", "فاکتورهای فروش", "faktor jadid", "الفاتورة", "查询发票", "счета за май"]),
        ("customer", ["client list", "مشتری", "moshtari", "للعملاء", "客户信息", "клиентов"]),
        ("exchange_rate", ["exchange_rate", "getExchangeRate", "نرخ ارز", "سعر الصرف", "人民币汇率", "обменный курс"]),
        ("database", ["db", "databases", "پایگاه‌داده", "پایگاه داده", "قاعدة بيانات", "云数据库", "базы данных"]),
        ("alarm_clock", ["set an alarm", "زنگ ساعت ۷", "منبه", "设置闹钟", "поставь будильник"]),
        ("kubernetes", ["k8s", "kubernetes", "کوبرنتیز"]),
    ],
)
def test_a_concept_is_one_in_all_languages(concept: str, texts: list[str]) -> None:
    for text in texts:
        assert CONCEPT + concept in concepts_of(terms_of(text)), text
        assert CONCEPT + concept in analyze_query(text).terms, text


@pytest.mark.parametrize(
    ("action", "texts"),
    [
        ("create", ["add", "creating", "ثبت کن", "می‌خواهم بسازم", "ایجاد کردن", "أنشئ", "إنشاء", "создай", "新建"]),
        ("delete", ["removed", "پاکش کن", "حذف", "امسح", "удаление", "удалите", "删除"]),
        ("send", ["publish", "بفرستید", "می‌فرستم", "أرسل", "отправьте", "发送"]),
        ("read", ["show", "نشونم بده", "ببینم", "می‌بینم", "اعرض", "покажите", "查看"]),
    ],
)
def test_an_action_is_one_in_all_languages_and_forms(action: str, texts: list[str]) -> None:
    for text in texts:
        assert ACTION + action in actions_of(terms_of(text)), text


def test_the_longest_phrase_wins() -> None:
    marks = Marks("≈", {"rate": ("rate",), "fx": ("exchange_rate",), "data": ("数据",), "db": ("数据库",)}, terms_of)
    assert _said(marks, "the exchange rate and a rate") == [("≈fx", 1), ("≈rate", 5)]
    assert _said(marks, "数据库和数据") == [("≈db", 0), ("≈data", 4)]


def test_a_phrase_is_also_met_as_one_word() -> None:
    marks = Marks("≈", {"todo": ("to_do",)}, terms_of)
    assert all(_said(marks, text) for text in ("todo", "to-do", "to do", "TODO list", "toDo"))
    assert not _said(marks, "to be done")


def test_a_word_of_several_meanings_says_all_of_them() -> None:
    marks = Marks("≈", {"b": ("order",), "a": ("order", "command")}, terms_of)
    assert _said(marks, "order") == [("≈a", 0), ("≈b", 0)]


def test_a_word_is_analysed_only_when_its_script_is_met() -> None:
    analysed: list[str] = []

    def analyse(text: str) -> Sequence[str]:
        analysed.append(text)
        return terms_of(text)

    marks = Marks("≈", {"cloud": ("cloud", "облако", "云端")}, analyse)
    assert analysed == []
    assert "cloud" in marks
    assert analysed == ["cloud"]
    assert "rain" not in marks
    assert analysed == ["cloud"]
    assert "云端" in marks
    assert analysed == ["cloud", "云端"]


@given(st.text())
def test_no_text_gives_a_mark_as_a_term(text: str) -> None:
    assert not any(term.startswith((ACTION, CONCEPT)) for term in terms_of(f"{text} {ACTION}create {CONCEPT}invoice"))
