"""What a query is taken to name exactly, and what it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.query import CAPABILITY, DOMAIN, MOST_PER_FIELD, NAMED, PERHAPS_NAMED, plan_query
from shards.analyzer import name_key
from shards.mentions import NO_MENTIONS, MentionField, key_hash
from shards.messages import MAX_TERMS


def _bonus(query: str, name: str, field: MentionField = MentionField.NAME) -> int:
    return plan_query(query).mentions.among(field).get(key_hash(name_key(name)), 0)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("find symbol", "find_symbol"),
        ("Find-Symbol", "findSymbol"),
        ("please run find_symbol on it", "find_symbol"),
        ("what does ApplyArchiveRule do?", "ApplyArchiveRule"),
        ("call `az account clear` first", "az account clear"),
        ("use `list` here", "list"),
        ("list", "list"),
        ("weather_forecast.get_prediction for Rome", "weather_forecast.get_prediction"),
        ("resolve-library-ids, then stop", "resolve_library_ids"),
        ("ثبت‌ هزينه", "ثبت هزینه"),
    ],
)
def test_the_query_surely_names_the_tool(query: str, name: str) -> None:
    assert _bonus(query, name) == NAMED


def test_a_query_that_names_several_tools_names_each_of_them() -> None:
    query = "Run find_symbol, getWeather and list-issues, then `az account clear`."
    assert all(
        _bonus(query, name) == NAMED for name in ("find_symbol", "get_weather", "list_issues", "az account clear")
    )


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("list all my tools", "list"),
        ("list all my tools", "all"),
        ("get user data", "get user"),
        ("I'm sure it's what you'd say", "m sure it"),
        ("send me an e-mail", "me an e"),
    ],
)
def test_plain_words_of_running_text_name_nothing(query: str, name: str) -> None:
    assert _bonus(query, name) == 0


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("please get current weather in Rome", "get_current_weather"),
        ('open the "report" tool', "report"),
        ("send an e-mail to Ann", "email"),
    ],
)
def test_words_that_may_be_a_name_get_a_bonus_that_terms_can_outweigh(query: str, name: str) -> None:
    assert _bonus(query, name) == PERHAPS_NAMED < NAMED


@pytest.mark.parametrize(
    ("query", "capability"),
    [("Send an email to Ann", "send_email"), ("查询财务报表", "财务"), ("گزارش مالی", "گزارش مالی")],
)
def test_capabilities_are_looked_up_without_the_stop_words_between(query: str, capability: str) -> None:
    assert _bonus(query, capability, MentionField.CAPABILITY) == CAPABILITY


def test_domains_are_looked_up_only_where_the_query_asks_for_a_tool() -> None:
    assert _bonus("which tool for finance", "finance", MentionField.DOMAIN) == DOMAIN
    assert _bonus("create a finance report", "finance", MentionField.DOMAIN) == DOMAIN
    assert _bonus("finance policy of last year", "finance", MentionField.DOMAIN) == 0


def test_a_query_without_letters_has_no_terms_and_names_at_most_itself() -> None:
    request = plan_query("🙂")
    assert request.terms == ()
    assert request.length == 0
    assert request.mentions.hashes.tolist() == [key_hash("🙂")]
    assert plan_query("  ").mentions == NO_MENTIONS


@given(st.text(max_size=400))
def test_a_plan_is_bounded_whatever_the_text(text: str) -> None:
    request = plan_query(text)
    assert request.length <= len(request.terms) == len(request.term_weights) <= MAX_TERMS
    for field in MentionField:
        start, end = request.mentions.span(field)
        assert len(request.mentions.among(field)) == end - start <= MOST_PER_FIELD
    assert (request.mentions.bonuses > 0).all()
    assert key_hash("") not in request.mentions.hashes


def test_a_ligature_of_many_letters_does_not_lengthen_a_query_beyond_what_is_read() -> None:
    ligature = "\ufdfa"  # 18 characters in its normal form
    assert plan_query(ligature * 4096) == plan_query(ligature * 600)
    assert plan_query(ligature) != plan_query(ligature * 2)


def test_bonuses_of_one_record_stay_under_the_limit_of_the_messages() -> None:
    assert NAMED + CAPABILITY + DOMAIN <= 600_000_000
