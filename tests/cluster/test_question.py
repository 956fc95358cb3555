"""Questions by the shipped rules: shapes, parts, and what holds of any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.question import MOST_CHARACTERS, MOST_PARTS, QuestionParser, question_of, shipped_parser
from cluster.question_lexicon import AnswerShape
from evals.dispatch import read_labelled

PARSER = shipped_parser()
S = AnswerShape


def parts(text: str) -> tuple[AnswerShape, ...]:
    return PARSER.parse(text).parts


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("How much is a second licence?", S.AMOUNT),
        ("when did the backup run", S.DATE),
        ("Is the backup encrypted?", S.BOOLEAN),
        ("who closed ticket 7", S.NAME),
        ("how do I close a ticket", S.TEXT),
        ("what would happen if I closed it", S.TEXT),
        ("tell us more about closed tickets", S.TEXT),
        ("seats left on the licence?", S.AMOUNT),
        ("what's left of my quota", S.AMOUNT),
        ("every team to which tickets are sent", S.LIST),
        ("customers who left a bad review", S.LIST),
        ("the names of everyone on the team", S.LIST),
        ("who can see the archive", S.LIST),
        ("Basic or Pro?", S.COMPARISON),
        ("what do both plans have in common", S.COMPARISON),
        ("اسم همه‌ی مدیران", S.LIST),
        ("اگه پرداخت نکنم چی میشه", S.TEXT),
        ("مشتری‌هایی که بدهی دارند", S.LIST),
        ("Кто у нас ведёт архив?", S.NAME),
        ("письма без ответа", S.LIST),
        ("Which tickets are overdue?", S.LIST),
        ("which plan is cheaper", S.COMPARISON),
        ("بلیت چند است؟", S.AMOUNT),
        ("مهلت پرداخت کی تمام می‌شود", S.DATE),
        ("آیا نسخهٔ پشتیبان رمزگذاری شده", S.BOOLEAN),
        ("چه کسی تیکت را بست", S.NAME),
        ("چرا تیکت بسته شد", S.TEXT),
        ("چه تیکت‌هایی بازند", S.LIST),
        ("کدام طرح ارزان‌تر است", S.COMPARISON),
        ("сколько стоит билет", S.AMOUNT),
        ("когда закончится срок", S.DATE),
        ("зашифрована ли копия", S.BOOLEAN),
        ("кто закрыл заявку", S.NAME),
        ("почему закрыли заявку", S.TEXT),
        ("какие заявки открыты", S.LIST),
        ("какой тариф дешевле", S.COMPARISON),
        ("متى تنتهي الفاتورة؟", S.DATE),
        ("هل يمكن الدفع بالبطاقة؟", S.BOOLEAN),
        ("لماذا رفضت بطاقتي؟", S.TEXT),
        ("قارن بين الخطتين", S.COMPARISON),
        ("这个套餐多少钱？", S.AMOUNT),
        ("发票什么时候到期", S.DATE),
        ("可以退款吗？", S.BOOLEAN),
        ("如何重置密码", S.TEXT),
        ("有哪些套餐？", S.LIST),
        ("这两个套餐有什么区别？", S.COMPARISON),
    ],
)
def test_the_shape_of_one_thing_asked_for(question: str, shape: AnswerShape) -> None:
    assert parts(question) == (shape,)


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("add tea to my shopping list", S.TEXT),
        ("run list_objects on the bucket", S.TEXT),
        ("Can you tell me when the office opens?", S.DATE),
        ("Can I pay when the parcel arrives?", S.BOOLEAN),
        ("I paid yesterday. When will it show?", S.DATE),
        ("Does it ship to the U.S. and Canada?", S.BOOLEAN),
        ("files larger than 10 MB do not upload", S.TEXT),
        ("I left my card at the office", S.TEXT),
        ("tell me the first and last name", S.NAME),
        ("لیست خرید را پاک کن", S.TEXT),
        ("удали список покупок", S.TEXT),
        ("Вы больше не работаете в субботу?", S.BOOLEAN),
    ],
)
def test_a_word_in_another_role_does_not_mislead(question: str, shape: AnswerShape) -> None:
    assert parts(question) == (shape,)


@pytest.mark.parametrize(
    ("question", "shapes"),
    [
        ("when and how much did I pay", (S.DATE, S.AMOUNT)),
        ("Is it in stock, and what does it cost?", (S.BOOLEAN, S.AMOUNT)),
        ("Which is faster, A or B, and where do I buy it?", (S.COMPARISON, S.NAME)),
        ("create a ticket and assign it to Tom", (S.TEXT, S.TEXT)),
        ("Is it open? How much is it?", (S.BOOLEAN, S.AMOUNT)),
        ("Does it scan, and if so, how fast?", (S.BOOLEAN, S.AMOUNT)),
        ("tell me the price and the deadline", (S.AMOUNT, S.DATE)),
        ("چرا لغو شد و پولم کی برمی‌گردد؟", (S.TEXT, S.DATE)),
        ("Почему отменили и когда вернут деньги?", (S.TEXT, S.DATE)),
    ],
)
def test_several_things_asked_for_come_in_the_order_of_asking(question: str, shapes: tuple[AnswerShape, ...]) -> None:
    question_read = PARSER.parse(question)
    assert question_read.parts == shapes
    assert question_read.several
    assert question_read.shape is shapes[0]


@pytest.mark.parametrize("text", ["", " ", "7f3a", "printer jam", "...", "\ue000\ue001"])
def test_what_no_rule_knows_asks_for_text(text: str) -> None:
    assert parts(text) == (S.TEXT,)


def test_the_caller_says_the_shape_of_one_part() -> None:
    question = question_of(S.AMOUNT)
    assert (question.parts, question.parser, question.several) == ((S.AMOUNT,), "caller", False)


def test_a_question_after_a_long_log_is_read() -> None:
    log = "2024-01-01 12:00:00 worker started, ok\n" * 100
    assert parts(f"{log} When did it fail?") == (S.DATE,)


@pytest.mark.parametrize("joined", ["می‌توانم لغو کنم؟", "میتوانم لغو کنم؟", "می\u200cتوانم لغو كنم؟"])
def test_letters_and_half_spaces_of_any_keyboard_are_the_same(joined: str) -> None:
    assert parts(joined) == (S.BOOLEAN,)


_LETTERS = st.characters(codec="utf-8")
_WORDS = st.sampled_from(
    ["when", "how", "much", "and", "or", "is", "list", "all", "which", "than", "cheaper", "?", ".", ",", "کی", "و",
     "چند", "یا", "؟", "сколько", "и", "ли", "多少", "和", "\ue000", "w", "İ", "ſ", "\u200c", "_", "7", "-"]
)  # fmt: skip


@given(st.one_of(st.text(_LETTERS, max_size=3 * MOST_CHARACTERS), st.lists(_WORDS, max_size=60).map(" ".join)))
def test_any_text_is_read_and_always_alike(text: str) -> None:
    first, again = PARSER.parse(text), QuestionParser.parse(PARSER, text)
    assert first == again
    assert 1 <= len(first.parts) <= MOST_PARTS
    assert first.parser == PARSER.version


@given(st.sampled_from([one.text for one in read_labelled()]))
def test_blanks_around_a_question_change_nothing(text: str) -> None:
    assert parts(f"  {text}\n") == parts(text)


@given(st.sampled_from([one.text for one in read_labelled() if one.lang == "en"]))
def test_capital_letters_change_nothing(text: str) -> None:
    assert parts(text.upper()) == parts(text.lower())
