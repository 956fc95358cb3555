"""The analyzer's promises: every script gives terms, one form per word, records and queries alike."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analyzer import (
    ANALYZER_ID,
    BRIDGE_SHARE,
    CONCEPT_SHARE,
    FILLER,
    FULL,
    JOINED,
    LONG_QUERY,
    LONGEST_TERM,
    TALK,
    UNREPEATED,
    actions_of,
    analyze_query,
    asks_for_a_tool,
    concepts_of,
    name_key,
    terms_of,
)
from shards.messages import MAX_TERMS


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Describes the S3BucketACLs", ("describ", "the", "s3", "bucket", "acl", "s3bucketacl")),
        ("get_user-by.id", ("get", "user", "by", "id", "getuserbyid")),
        ("IPv4 VMs HTTPServer", ("ipv4", "vms", "http", "server", "httpserver")),
        ("user's devices, don't", ("user", "devic", "don")),
        ("e-mail and iPhone", ("mail", "email", "and", "phone", "iphon")),
        ("1.5 2024-03-01", ("1", "5", "2024", "03", "01")),
        ("Café ﬁle ｆｕｌｌ naïve Łódź", ("cafe", "file", "full", "naiv", "lodz")),
        ("查询CVM实例", ("查询", "cvm", "实例")),
        ("查", ("查",)),
        ("удалённые серверы", ("удален", "сервер")),
        ("देवनागरी में", ("देवनागरी", "में")),
        ("한국어", ("한국", "국어")),
        ("ทดสอบ", ("ทด", "ดส", "สอ", "อบ")),
    ],
)
def test_a_text_gives_these_terms(text: str, terms: tuple[str, ...]) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize("text", ["", " \n\t", "___ --- ...", "🙂 !?", "\u200c\u200d"])
def test_a_text_without_letters_or_digits_gives_no_terms(text: str) -> None:
    assert terms_of(text) == ()
    assert analyze_query(text).terms == ()


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("حسابداري", "حسابداری"),  # Arabic yeh
        ("كالا", "کالا"),  # Arabic kaf
        ("کتاب\u200cها", "کتابها"),  # zero-width non-joiner
        ("می\u200cخواهم", "میخواهم"),
        ("صورت\u200dحساب", "صورتحساب"),  # zero-width joiner
        ("فاکتور ۱۲۳", "فاکتور 123"),  # Persian digits
        ("فاکتور ١٢٣", "فاکتور 123"),  # Arabic-Indic digits
        ("مُحَمَّد", "محمد"),  # tashkeel
        ("مـــحمد", "محمد"),  # tatweel
        ("هزينه‌هاي ماه ۳", "هزینههای ماه 3"),  # all together
        ("الفاتورة", "فاتوره"),  # article, teh marbuta
    ],
)
def test_persian_and_arabic_writing_variants_equal_their_normal_form(written: str, normal: str) -> None:
    assert terms_of(written) == terms_of(normal)
    assert analyze_query(written) == analyze_query(normal)
    assert name_key(written) == name_key(normal) or written.startswith("ال")


def test_a_persian_plural_set_apart_by_a_space_meets_the_joined_one() -> None:
    assert analyze_query("کتاب ها") == analyze_query("کتاب‌ها") == analyze_query("کتابها") == analyze_query("کتاب")


def test_a_chinese_clause_does_not_become_one_term() -> None:
    query = analyze_query("请帮我查询云服务器实例的列表")
    assert {"查询", "服务", "实例", "列表"} <= set(query.terms)


@pytest.mark.parametrize("query", ["the of and", "what can I do with it", "你的", "را که از"])
def test_a_query_of_nothing_but_generic_words_still_has_terms_that_records_hold(query: str) -> None:
    analyzed = analyze_query(query)
    assert analyzed.terms
    terms = terms_of(query)
    assert set(analyzed.terms) <= {*terms, *actions_of(terms), *concepts_of(terms)}


def test_stop_words_leave_a_query_that_has_other_words_and_fillers_weigh_little() -> None:
    query = analyze_query("please list the instances")
    assert query.terms == ("pleas", "list", "instanc", "→read", "≈list", "≈instance")
    assert query.weights == (FILLER * UNREPEATED // FULL, UNREPEATED, UNREPEATED, 192, CONCEPT_SHARE, CONCEPT_SHARE)
    assert query.length == 4


def test_a_concept_weighs_less_than_its_word_and_more_where_it_is_the_only_bridge() -> None:
    assert CONCEPT_SHARE < BRIDGE_SHARE < UNREPEATED
    assert dict(zip(*_pairs("invoice"), strict=True))["≈invoice"] == CONCEPT_SHARE
    assert dict(zip(*_pairs("فاکتور"), strict=True))["≈invoice"] == BRIDGE_SHARE
    assert dict(zip(*_pairs("turn the volume up"), strict=True))["≈raise"] == FILLER * CONCEPT_SHARE // FULL


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("can you please list my invoices", "list invoices"),
        ("لطفا لیست فاکتورهامو بهم نشون بده", "لیست فاکتور نشون"),
        ("من می‌خوام یه فاکتور جدید بسازم", "فاکتور جدید بسازم"),
        ("پلیز فاکتور رو پیدا کن", "فاکتور پیدا"),
        ("请帮我查询发票", "查询发票"),
        ("пожалуйста, мне нужно найти счёт", "найти счет"),
        ("أريد من فضلك إنشاء فاتورة", "إنشاء فاتورة"),
        ("lotfan mikham faktor sabt konam", "faktor sabt"),
    ],
)
def test_the_words_of_asking_hardly_count(asked: str, wanted: str) -> None:
    query = analyze_query(asked)
    heavy = {term for term, weight in zip(query.terms, query.weights, strict=True) if weight >= CONCEPT_SHARE}
    assert heavy == set(analyze_query(wanted).terms)


def test_a_word_said_twice_weighs_more_than_a_word_said_once() -> None:
    weights = dict(zip(*_pairs("convert currency to another currency"), strict=True))
    assert weights["currenc"] == FULL
    assert weights["convert"] == UNREPEATED


def test_the_joined_form_weighs_less_than_its_parts() -> None:
    weights = dict(zip(*_pairs("find_symbol"), strict=True))
    assert weights["findsymbol"] == JOINED * UNREPEATED // FULL < weights["symbol"]


def test_a_verb_in_a_long_query_weighs_less_than_its_nouns() -> None:
    nouns = " ".join(f"w{index}x" for index in range(LONG_QUERY))
    story = dict(zip(*_pairs(f"find {nouns}"), strict=True))
    assert story["find"] == UNREPEATED * TALK // FULL < story["w1x"] == UNREPEATED
    short = dict(zip(*_pairs("find w1x"), strict=True))
    assert short["find"] == short["w1x"] == UNREPEATED


def test_a_pair_of_characters_that_is_a_verb_keeps_its_weight_in_a_long_query() -> None:
    query = dict(zip(*_pairs("查询云服务器实例规格库存价格信息"), strict=True))
    assert len(query) > LONG_QUERY
    assert query["查询"] == query["服务"] == UNREPEATED


def test_words_for_one_action_meet_across_languages() -> None:
    spoken = ["delete a record", "remove the record", "رکورد را حذف کن", "删除记录", "удалить запись"]
    assert all("→delete" in analyze_query(text).terms for text in spoken)


@pytest.mark.parametrize(
    ("query", "asks"), [("which tool for taxes", True), ("send it", True), ("refund policy", False)]
)
def test_a_query_asks_for_a_tool_by_an_action_or_a_word_for_tool(query: str, asks: bool) -> None:  # noqa: FBT001
    assert asks_for_a_tool(analyze_query(query).terms) is asks


def test_a_long_query_keeps_its_weightiest_terms() -> None:
    words = [f"w{index}x" for index in range(200)]
    query = analyze_query("please " + " ".join(words) + " " + words[150])
    assert len(query.terms) == MAX_TERMS
    assert words[150] in query.terms
    assert "pleas" not in query.terms


@pytest.mark.parametrize(
    "name", ["find_symbol", "findSymbol", "Find symbol", "FIND-SYMBOL", "find.symbol", "find/symbol"]
)
def test_ways_to_write_a_name_share_one_key(name: str) -> None:
    assert name_key(name) == "findsymbol"


def test_a_name_of_no_letters_is_its_own_key() -> None:
    assert name_key(" 🙂 ") == "🙂"
    assert name_key("🙂") != name_key("🙃")


def test_the_analyzer_id_is_stable_in_one_installation() -> None:
    assert ANALYZER_ID.startswith("text-")
    assert len(ANALYZER_ID) == len("text-") + 12


@given(st.text())
def test_terms_are_bounded_folded_and_never_empty(text: str) -> None:
    for term in terms_of(text):
        assert 0 < len(term) <= LONGEST_TERM
        assert not any(character.isspace() for character in term)


@given(st.text())
def test_unicode_normal_forms_of_a_text_give_the_same_terms(text: str) -> None:
    expected = terms_of(unicodedata.normalize("NFC", text))
    assert terms_of(unicodedata.normalize("NFD", text)) == expected


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1))
def test_letters_and_digits_of_every_script_give_terms(text: str) -> None:
    kept = unicodedata.normalize("NFKC", text)
    assert terms_of(text) or not any(unicodedata.category(c)[0] in "LN" and c not in "ـء" for c in kept)


@given(st.text())
def test_a_query_has_distinct_terms_and_weights_in_range(text: str) -> None:
    query = analyze_query(text)
    assert len(set(query.terms)) == len(query.terms) == len(query.weights) <= MAX_TERMS
    assert all(1 <= weight <= FULL for weight in query.weights)


@given(st.lists(st.sampled_from(["list", "getUser", "کتاب‌ها", "查询", "a_b", "I'm", "№5"]), max_size=8))
def test_a_text_is_the_sum_of_its_words(words: list[str]) -> None:
    assert terms_of(" ".join(words)) == tuple(term for word in words for term in terms_of(word))


def _pairs(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    query = analyze_query(text)
    return query.terms, query.weights
