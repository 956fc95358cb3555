"""Masks of snippets: what they take, what they leave, and that they take no longer for a text made to be slow."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve_app.masking import SNIPPET_CHARS, snippet


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("mail jane.doe+x@example.co.uk about it", "jane"),
        ("ایمیل علی@مثال.ایران را بفرست", "علی"),
        ("card 4111 1111 1111 1111 please", "1111"),
        ("call +98-912-345-6789", "345"),
        ("کد ملی ۱۲۳۴۵۶۷۸۹۰ را ثبت کن", "۳۴۵"),
        ("use key AKIAIOSFODNN7EXAMPLE now", "AKIA"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl", "eyJ"),
        ("a token of letters: abcdefghijklmnopqrstuvwxyzabcdefghij", "abcdef"),
        ("my password hunter2 does not work", "hunter2"),
        ("api-key=ab12", "ab12"),
        ("Bearer abc", "abc"),
        ("open https://user:pw@example.com/a?session=abc#frag", "abc"),
        ("open https://user:pw@example.com/a?session=abc#frag", "pw"),
        ("open https://example.com/a#session=abc", "abc"),
    ],
)
def test_what_may_identify_or_open_something_is_masked(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in snippet(text)


@pytest.mark.parametrize(
    "text",
    ["send an email to my colleague", "create_calendar_event", "list the 10 largest files of 2024", "查询云服务器"],
)
def test_ordinary_words_and_short_numbers_stay(text: str) -> None:
    assert snippet(text) == text


def test_a_secret_at_the_cut_is_masked_before_it_is_cut() -> None:
    text = "x " * (SNIPPET_CHARS // 2 - 3) + "abcdef0123456789abcdef0123456789"
    assert "abcdef" not in snippet(text)


@given(st.text(max_size=300))
def test_a_snippet_has_its_length_at_most(text: str) -> None:
    assert len(snippet(text)) <= SNIPPET_CHARS


@pytest.mark.parametrize("piece", ["a", "a.", "1", "1 ", "a@", "://", "a://", "password ", "@", "-", "a1-", "?#"])
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    text = (piece * 4096)[:4096]
    before_s = time.thread_time()
    snippet(text)
    assert time.thread_time() - before_s < 0.1
