"""Compounds and clauses: where words without a sign between them part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analysis.cjk import clauses
from shards.analysis.compounds import pieces_of
from shards.analyzer import analyze_query, terms_of


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("containerapp", ("container", "app")),
        ("apigateway", ("api", "gateway")),
        ("keyvaluestore", ("key", "value", "store")),
        ("usergroups", ("user", "groups")),
        ("createorupdate", ("create", "or", "update")),
        ("database", ()),  # a word of its own
        ("runtime", ()),
        ("message", ()),
        ("kubernetes", ()),
        ("api", ()),
        ("سرویسدهنده", ()),
    ],
)
def test_a_compound_parts_into_known_words_only(word: str, pieces: tuple[str, ...]) -> None:
    assert pieces_of(word) == pieces


def test_a_compound_and_its_words_meet() -> None:
    assert terms_of("apigateway") == ("apigateway", "api", "gateway")
    query = analyze_query("apigateway")
    weights = dict(zip(query.terms, query.weights, strict=True))
    assert weights["gateway"] < weights["apigateway"]


@given(st.from_regex(r"[a-z]{1,45}", fullmatch=True))
def test_pieces_hold_every_letter_in_order(word: str) -> None:
    assert "".join(pieces_of(word)) in {"", word}


@pytest.mark.parametrize(
    ("run", "pieces"),
    [
        ("请帮我查询云服务器的列表", ["查询云服务器", "列表"]),
        ("能否帮我预定会议吗", ["预定会议"]),
        ("我想知道天气怎么样", ["天气"]),
        ("我们需要申请证书", ["申请证书"]),
        ("发送邀请", ["发送邀请"]),
        ("旅行目的地", ["旅行目的地"]),
        ("的", ["的"]),
        ("请", ["请"]),
    ],
)
def test_words_of_asking_part_a_chinese_run_and_fall_away(run: str, pieces: list[str]) -> None:
    assert clauses(run) == pieces


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1))
def test_clauses_are_never_empty(run: str) -> None:
    assert clauses(run)
    assert all(clauses(run))
