"""Near terms of one dictionary beside plain Python."""

from collections.abc import Iterable
from itertools import islice, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shards.near.edit_kernel import LONGEST
from shards.near.remembered import RememberedWords
from shards.near.terms import NearTerms, nearest
from shards.near.words import looks_like_a_word
from shards.text_table import TextTable
from shards.utf8 import encoded
from tests import near_reference
from tests.depth import examples

ROOTS = ("invoic", "custom", "configur", "avail", "mee", "abba", "teest")
letters = st.text(alphabet="abeinorstv", min_size=1, max_size=9)
words = st.one_of(letters, st.builds("".join, st.tuples(st.sampled_from(ROOTS), letters)))


def table_of(terms: Iterable[str]) -> TextTable:
    return TextTable.of(sorted(map(encoded, terms)))


def written(word: str, *terms: str) -> dict[str, int]:
    table = table_of(terms)
    return {table[row]: likeness for row, likeness in NearTerms(table).written(word)}


def spoken(word: str, *terms: str) -> dict[str, int]:
    table = table_of(terms)
    return {table[row]: likeness for row, likeness in NearTerms(table).spoken(word)}


@examples(150)
@given(word=words.filter(looks_like_a_word), terms=st.sets(words, max_size=30))
@example(word="invoicc", terms={"invoic", "inv", "invoiccccccc", "invoicccccccc"})
@example(word="meetnig", terms={"meet", "mee", "meetn"})
def test_near_terms_are_those_that_plain_python_finds(word: str, terms: set[str]) -> None:
    expected = {term: near_reference.likeness(word, term) for term in terms}
    assert written(word, *terms) == {term: likeness for term, likeness in expected.items() if likeness}


@examples(50)
@given(word=words.filter(looks_like_a_word), terms=st.sets(words, min_size=2, max_size=30), cut=st.integers(0, 30))
def test_likeness_does_not_depend_on_what_else_a_dictionary_holds(word: str, terms: set[str], cut: int) -> None:
    half = sorted(terms)[:cut]
    whole = written(word, *terms)
    assert written(word, *half) == {term: whole[term] for term in half if term in whole}


@pytest.mark.parametrize(
    ("word", "term", "likeness"),
    [
        ("invioc", "invoic", 212),  # swapped: 256 - 38 * 7 / 6
        ("invoce", "invoic", 0),  # a letter too few and another one: 19
        ("ivoice", "invoice", 199),  # a letter too few: 9
        ("invvoic", "invoic", 224),  # a letter twice: 6
        ("invpic", "invoic", 212),  # its neighbour on the keyboard: 7
        ("invxic", "invoic", 193),  # any other letter: 10
        ("xnvoic", "invoic", 0),  # another first letter costs 4 more
        ("nivoic", "invoic", 212),  # but not where it is swapped
        ("kubernetse", "kubernetes", 230),
        ("kuberentse", "kubernetes", 203),  # twice in a long word: 14
        ("calc", "calcul", 161),  # broken off
        ("calc", "calculators", 0),  # but not so far
        ("accountants", "account", 250),  # an ending: 2
        ("informatuon", "inform", 225),  # a misspelt one: 9
        ("قیمتشون", "قیمت", 246),
        ("تغیر", "تغییر", 199),
        ("фактуры", "фактур", 208),
    ],
)
def test_likeness_by_hand(word: str, term: str, likeness: int) -> None:
    assert written(word, term).get(term, 0) == likeness


def test_the_likest_come_first_and_equals_in_the_order_of_texts() -> None:
    table = table_of(("servar", "server", "servir", "serverr", "other"))
    found = NearTerms(table).written("servor")
    assert [table[row] for row, _ in found] == ["servar", "server", "servir"]


@pytest.mark.parametrize("term", ["abc1ef", "ab", "→abcdef", "abcdéf_", "查询实例", "abcdef" * 7, "𐐨bcdef"])
def test_terms_that_are_no_words_are_never_near(term: str) -> None:
    assert written("abcdef", term) == {}
    assert spoken("abcdef", term) == {}


def test_long_words_are_compared_up_to_the_bound() -> None:
    word = "ab" * (LONGEST // 2)
    assert written(word[:-1], word) == {word: 256 - 38 * 9 // (LONGEST - 1)}
    assert written(word[:-1], word + "a") == {}


def test_an_empty_dictionary_has_no_near_terms() -> None:
    near = NearTerms(table_of(()))
    assert (near.written("invoice"), near.spoken("moshtari")) == ([], [])


def test_a_dictionary_of_several_pages_gives_what_its_pieces_give() -> None:
    persian = ["مشتری", "مشترک", "فاکتور"]
    latin = ("".join(letters) for letters in product("abeikmrst", repeat=6))
    terms = sorted(map(encoded, [*islice(latin, 150_000), *persian, "moshtari"]))
    whole = NearTerms(TextTable.of(terms))
    starts = range(0, len(terms), 40_000)
    pieces = [(start, NearTerms(TextTable.of(terms[start : start + 40_000]))) for start in starts]
    for search, word in ((NearTerms.written, "bartik"), (NearTerms.spoken, "moshtari"), (NearTerms.spoken, "کتاب")):
        expected = [(start + row, likeness) for start, near in pieces for row, likeness in search(near, word)]
        assert search(whole, word) == sorted(expected, key=lambda found: (-found[1], found[0]))
        assert expected


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("moshtari", "مشتری"), ("moshtari", "مشتر"), ("faktor", "فاکتور"), ("factor", "فاکتور"), ("anbar", "انبار"),
        ("hesab", "حساب"), ("hessab", "حساب"), ("gheymat", "قیمت"), ("qeymat", "قیمت"), ("xarid", "خرید"),
        ("kharid", "خرید"), ("forush", "فروش"), ("foroosh", "فروش"), ("hafteh", "هفته"), ("mahsoolat", "محصول"),
        ("khastan", "خواستن"), ("vaziyat", "وضعیت"), ("yadavari", "یاداور"), ("ezafe", "اضافه"),
        ("schet", "счет"), ("tsena", "цена"), ("sozdat", "созда"), ("zakaz", "заказ"),
        ("تلگرام", "telegram"), ("فاکتور", "factor"), ("сервер", "server"),
    ],
)  # fmt: skip
def test_a_word_meets_itself_in_another_script(word: str, term: str) -> None:
    assert spoken(word, term, "other", "دیگر", "иное").keys() == {term}


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("moshtari", "مشترک"), ("anbar", "بار"), ("hesab", "حسابدار"), ("kala", "کل"),
        ("server", "صفر"), ("hesab", "hesob"), ("سرور", "сервер"), ("قیمت", "قیامت"),
    ],
)  # fmt: skip
def test_other_words_do_not_and_nor_do_those_of_its_own_script(word: str, term: str) -> None:
    assert spoken(word, term) == {}


def test_a_dictionary_takes_twelve_bytes_for_each_word_in_it_and_an_eighth_of_four() -> None:
    words = ["".join(letters) for letters in islice(product("bdfgkmrst", repeat=4), 3200)]
    smaller, larger = (NearTerms(table_of([*words[:count], "s3", "查询"])).nbytes for count in (1600, 3200))
    assert larger - smaller == 1600 * 12 + 200 * 4


@examples(50)
@given(
    dictionaries=st.lists(st.sets(words, max_size=12), min_size=1, max_size=4),
    asked=st.lists(words.filter(looks_like_a_word), min_size=1, max_size=6),
    silent=st.integers(0, 255),
)
def test_several_dictionaries_give_what_each_gives_whether_it_is_remembered_or_not(
    dictionaries: list[set[str]], asked: list[str], silent: int
) -> None:
    whole = [NearTerms(table_of(terms)) for terms in dictionaries]
    small, large = RememberedWords(1_000), RememberedWords()
    for place, word in enumerate((*asked, *asked)):
        chosen = whole[place % len(whole) :]
        found = nearest(chosen, word, silent, silent)
        each = [nearest((one,), word, silent, silent)[0].tolist() for one in chosen]
        assert [one.tolist() for one in found] == each
        louder = [[(row, near) for row, near in one.written(word) if near > silent] for one in chosen]
        assert [len(numbers) for numbers in each] == list(map(len, louder))
    for word in (*asked, *asked):
        expected = [one.tobytes() for one in nearest(whole, word, 0, 0)]
        assert small.nearest(whole, word, 0, 0) == large.nearest(whole, word, 0, 0) == expected


def test_what_is_remembered_stays_under_its_ceiling() -> None:
    near = NearTerms(table_of(("servar", "server")))
    remembered = RememberedWords(1_000)
    for word in ("servor", "serverr", "sarver", "serber", "servr"):
        remembered.nearest((near,), word, 0, 0)
        assert 0 < remembered.held_bytes <= 1_000
