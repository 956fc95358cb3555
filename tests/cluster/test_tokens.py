"""The estimate of tokens, by hand and as a property."""

from hypothesis import given
from hypothesis import strategies as st

from cluster.tokens import estimate_tokens


def test_each_class_of_characters_has_its_own_rate() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcdefgh") == 2  # 8 letters / 4
    assert estimate_tokens('{"":}') == 3  # 5 marks / 2, rounded up
    assert estimate_tokens("查询余额") == 4  # 12 bytes / 3
    assert estimate_tokens("سند جدید") == 5  # 14 bytes / 3 and 1 blank / 4, rounded up
    assert estimate_tokens("send an email.") == 4  # 13 / 4 + 1 / 2


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(start: str, rest: str) -> None:
    assert estimate_tokens(start) <= estimate_tokens(start + rest) <= estimate_tokens(start) + estimate_tokens(rest)


@given(st.text(alphabet=st.characters()))
def test_any_text_is_counted_lone_surrogates_included(text: str) -> None:
    assert estimate_tokens(text) < estimate_tokens(text + "\ud800\ud800\ud800\ud800")
