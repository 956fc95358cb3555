"""Typed values in sentences of three languages: hand-worked cases."""

import pytest

from cluster.answering.contract import Inquiry, Source
from cluster.answering.reader import read
from cluster.answering.sentences import sentences_of
from cluster.answering.values import best_amount, best_date, best_name


@pytest.mark.parametrize(
    ("question", "sentence", "value"),
    [
        ("How much does Team cost?", "Team costs $1,299.50 a year for 12 seats.", "$1,299.50"),
        ("How many seats are in it?", "Team costs $1,299.50 a year for 12 seats.", "12 seats"),
        ("How long is the link valid?", "After 3 links it is valid for 45 minutes.", "45 minutes"),
        ("How large may a file be?", "A file may have up to 250 GB, in 8 parts.", "250 GB"),
        ("What percent is refunded?", "We refund 12,5 % within 14 days.", "12,5 %"),
        ("How soon is the answer there?", "An answer comes within two working days.", "two working days"),
        ("How long is it locked?", "It is locked for an hour.", "an hour"),
        ("Release 3.1 how many devices?", "Release 3.1 allows 10 devices.", "10 devices"),
        ("هزینه طرح تیمی چند یورو است؟", "طرح تیمی برای ۳ نفر ماهی ۱۱ یورو است.", "۱۱ یورو"),
        ("قیمت چند تومان است؟", "قیمت آن ١٢٬٥٠٠ تومان است.", "١٢٬٥٠٠ تومان"),
        ("مهلت بازگشت چند روز است؟", "مهلت بازگشت ۷ روز کاری است.", "۷ روز کاری"),
        ("چند درصد تخفیف دارد؟", "تخفیف ۲۰ درصد برای ۵ نفر است.", "۲۰ درصد"),
        ("Сколько стоит тариф?", "Тариф для 3 человек стоит 1 500 руб. в месяц.", "1 500 руб"),
        ("Сколько дней ждать возврат?", "Возврат приходит через 10 рабочих дней.", "10 рабочих дней"),
        ("Сколько места есть?", "Есть 200 ГБ на 1 человека.", "200 ГБ"),
    ],
)
def test_the_amount_that_was_asked_for(question: str, sentence: str, value: str) -> None:
    found = best_amount(question, sentence)
    assert found is not None
    assert found.text == value
    assert sentence[found.start : found.end] == value


@pytest.mark.parametrize(
    ("question", "sentence", "value"),
    [
        ("When was it?", "It was released on 9 March 2026, a Monday.", "9 March 2026"),
        ("When was it?", "It was released on March 9, 2026.", "March 9, 2026"),
        ("Until when?", "Prices hold until 2027-06-30.", "2027-06-30"),
        ("Когда это было?", "Сбой был 9 марта 2026 года.", "9 марта 2026"),
        ("کی منتشر شد؟", "نسخه تازه ۱۲ فروردین ۱۴۰۵ منتشر شد.", "۱۲ فروردین ۱۴۰۵"),
        ("تا کی؟", "تا ۱۴۰۵/۰۳/۱۵ اعتبار دارد.", "۱۴۰۵/۰۳/۱۵"),
    ],
)
def test_the_date_in_the_calendar_that_it_is_written_in(question: str, sentence: str, value: str) -> None:
    found = best_date(question, sentence)
    assert found is not None
    assert found.text == value


@pytest.mark.parametrize(
    ("question", "sentence", "value"),
    [
        ("In which file is the proxy?", "Write the proxy into `veloria.conf` on each machine.", "veloria.conf"),
        ("Who leads sales?", "Discounts need the word of Mirela Tomas.", "Mirela Tomas"),
        ("Кто отвечает за продажи?", "Скидки согласует Анна Петрова.", "Анна Петрова"),
        ("کدام گزینه را بزنم؟", "گزینهٔ «فراموشی رمز» را انتخاب کنید.", "فراموشی رمز"),
        ("Which address?", "Write to billing@veloria.example first.", "billing@veloria.example"),
    ],
)
def test_the_name_that_the_question_does_not_say(question: str, sentence: str, value: str) -> None:
    found = best_name(question, sentence)
    assert found is not None
    assert found.text == value


def answer(question: str, shape: str, *texts: str, title: str = "") -> tuple[str, tuple[str, ...]]:
    sources = [
        Source(id=f"kb:{number}", label=f"E{number}", title=title, section="", text=text)
        for number, text in enumerate(texts, start=1)
    ]
    said = read(Inquiry(text=question, shapes=(shape,)), sources)
    assert said.answer_found == bool(said.answer) == bool(said.evidence_ids)
    return said.answer, said.evidence_ids


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        (
            "Does the client support SOCKS proxies?",
            "NTLM proxies are supported; SOCKS proxies are not supported.",
            "No",
        ),
        (
            "Does the client support NTLM proxies?",
            "NTLM proxies are supported; SOCKS proxies are not supported.",
            "Yes",
        ),
        ("آیا طرح پایه ورود یکپارچه دارد؟", "در طرح پایه ورود یکپارچه وجود ندارد.", "خیر"),
        ("Можно ли вернуть ключ?", "Ключ нельзя вернуть после активации.", "Нет"),
    ],
)
def test_yes_or_no_is_what_the_clause_says_in_the_language_of_the_question(question: str, text: str, word: str) -> None:
    assert answer(question, "boolean", text)[0].split(".")[0] == word


def test_a_list_is_its_items_and_nothing_around_them() -> None:
    steps = "1. Download the client.\n2. Accept the licence.\n3. Sign in to the client."
    text = f"Before you begin, read this.\n\n{steps}\n\nDone."
    assert answer("List the steps to install the client", "list", text, title="Steps to install the client")[0] == (
        "Download the client.\nAccept the licence.\nSign in to the client."
    )


def test_of_several_pieces_the_one_with_the_answer_is_cited() -> None:
    found = answer("How long is a reset link valid?", "amount", "Devices: 10.", "A reset link is valid for 45 minutes.")
    assert found == ("45 minutes", ("kb:2",))


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("When was the label introduced?", "date"),
        ("How many moons has Jupiter?", "amount"),
        ("؟", "text"),
        ("", "name"),
    ],
)
def test_what_no_sentence_answers_is_not_found(question: str, shape: str) -> None:
    assert answer(question, shape, "Print the label and bring the parcel to a shop.") == ("", ())


def test_wrapped_lines_are_one_sentence_and_items_are_their_own() -> None:
    text = "# Head\n\nOne line\nwraps here. Version 3.1 stays whole.\n- item `a_b` one\n- item **two**\n\n| a | b |"
    assert [one.text for one in sentences_of(text)] == [
        "Head", "One line wraps here.", "Version 3.1 stays whole.", "item `a_b` one", "item two", "| a | b |",
    ]  # fmt: skip
