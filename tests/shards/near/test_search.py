"""Near terms of a search: what they cost, whom they show, and when there are none."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.analyzer import terms_of
from shards.messages import NearTerm
from shards.near.known_words import is_known, known_near
from shards.near.remembered import RememberedWords
from shards.near.search import MOST_WORDS, NEAREST
from shards.near.words import looks_like_a_word
from shards.record import Access
from shards.scope import Scope
from shards.shard import Shard
from tests import near_reference
from tests.depth import examples
from tests.shards.makers import ALL, index_of, loaded, plain, query, record, upsert

HIDDEN = Access(tenant="elsewhere")


def near(shard: Shard, *terms: str, scope: Scope | None = None) -> list[tuple[int, str, int]]:
    """Position, term and frequency of each near term."""
    asked = query(*terms) if scope is None else query(*terms, scope=scope)
    (hits,) = shard.search((asked,))
    return [(one.position, one.term, one.frequency) for one in hits.near]


def test_an_unknown_word_comes_with_its_nearest_terms_and_how_many_records_hold_them() -> None:
    shard = loaded([record("a", "zorbalinkot"), record("b", "zorbalinkot dapo"), record("c", "zorbalinkxt")])
    (hits,) = shard.search((query("veku", "zorbalinkat", "dapo"),))
    assert hits.near == (
        NearTerm(position=1, term="zorbalinkot", likeness=232, frequency=2, spoken=False),
        NearTerm(position=1, term="zorbalinkxt", likeness=222, frequency=1, spoken=False),
    )


def test_a_known_word_is_left_alone_and_so_is_a_query_with_summed_weights() -> None:
    shard = loaded([record("a", "zorbalinkot"), record("b", "zorbalinkat")])
    assert near(shard, "zorbalinkat") == []
    (hits,) = shard.search((query("zorbalinkit", weights=(1,)),))
    assert hits.near == ()


def test_time_that_runs_out_over_near_terms_costs_them_alone() -> None:
    index = index_of([record("a", "zorbalinkot dapo"), record("b", "dapo")], 10)
    asked = query("dapo", "zorbalinkat")
    whole = index.search(asked, lambda: False)
    clock = iter([False])
    # What its caller may see is known from the first search. Once before the rows are chosen; then time is up.
    cut = index.search(asked, lambda: next(clock, True))
    assert plain(cut) == plain(whole)
    assert (cut.near, cut.near_expired) == ((), True)
    assert (len(whole.near), whole.near_expired) == (1, False)


def test_numbers_marks_short_terms_and_words_of_the_lexicons_are_left_alone() -> None:
    shard = loaded([record("a", "12346 abd invoik delek zorbalinkot")])
    assert near(shard, "12345", "abc", "→delet", "invoic", "delet", "查询") == []
    assert near(shard, "invoix") != []


def test_a_term_that_only_hidden_records_hold_is_not_near() -> None:
    shard = loaded([record("a", "zorbalinkot"), record("b", "zorbalinkit", access=HIDDEN)])
    assert near(shard, "zorbalinkat") == [(0, "zorbalinkot", 1)]


def test_a_word_that_only_hidden_records_hold_is_unknown() -> None:
    shard = loaded([record("a", "zorbalinkot"), record("b", "zorbalinkat", access=HIDDEN)])
    assert near(shard, "zorbalinkat") == [(0, "zorbalinkot", 1)]
    both = Scope(grants=(replace(ALL, tenants=frozenset({"*", "elsewhere"})),))
    assert near(shard, "zorbalinkat", scope=both) == []


def test_removed_records_lend_no_terms_and_new_ones_do() -> None:
    shard = loaded([record("a", "zorbalinkot")])
    shard.apply(1, 2, [upsert(2, record("a", "zorbalinkit"))])
    assert near(shard, "zorbalinkat") == [(0, "zorbalinkit", 1)]


@pytest.mark.parametrize("segment_rows", [1, 2, 100])
def test_segments_add_up(segment_rows: int) -> None:
    texts = ["zorbalink" + vowel + "t" for vowel in "eeeiiouyy"]
    index = index_of([record(f"r{number}", text) for number, text in enumerate(texts)], segment_rows)
    hits = index.search(query("zorbalinkat"), lambda: False)
    expected = [("zorbalinket", 3), ("zorbalinkit", 2), ("zorbalinkot", 1), ("zorbalinkut", 1)]
    assert [(one.term, one.frequency) for one in hits.near] == expected
    assert len(expected) == NEAREST


def test_terms_of_another_script_have_places_of_their_own() -> None:
    texts = ["فکتور", "hsab", "حساب", "zorbalink"]
    shard = loaded([record(f"r{number}", text) for number, text in enumerate(texts)])
    (hits,) = shard.search((query("hesaab"),))
    assert [(one.term, one.spoken) for one in hits.near if one.term[0] not in "≈→"] == [("حساب", True)]


def test_marks_come_with_the_records_that_bear_them() -> None:
    shard = loaded([record("a", "Bill the client", name="bill"), record("b", "Send a bill", name="bill")])
    (hits,) = shard.search((query("inovic"),))
    assert [(one.term, one.frequency) for one in hits.near] == [("≈invoice", 2)]


def test_only_the_first_words_are_looked_at() -> None:
    known = [f"zu{first}{second}ka" for first in "bdfgkl" for second in "bdfgkl"][: MOST_WORDS - 1]
    shard = loaded([record("a", " ".join(("zorbalinkot", *known)))])
    assert near(shard, *known, "zorbalinkat") == [(MOST_WORDS - 1, "zorbalinkot", 1)]
    assert near(shard, *known, "zorbalinkot", "zorbalinkat") == []


def test_no_authorized_record_no_near_term() -> None:
    shard = loaded([record("a", "zorbalinkot", access=HIDDEN)])
    assert near(shard, "zorbalinkat") == []


def test_an_answer_is_the_same_when_the_searches_of_its_words_are_remembered_and_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shards.near.search._REMEMBERED", RememberedWords(800))
    shard = loaded([record("a", "zorbalinkot"), record("b", "venturika", access=HIDDEN)])
    for _ in range(2):
        for word in ("zorbalinkat", "venturike", "zorbolinkot"):
            assert near(shard, word) == ([] if word == "venturike" else [(0, "zorbalinkot", 1)])


letters = st.text(alphabet="beorz", min_size=1, max_size=4)
words = st.builds("".join, st.tuples(st.sampled_from(("zorba", "venturi", "kelbozer")), letters))


@examples(40)
@given(
    records=st.lists(st.tuples(st.lists(words, min_size=1, max_size=3), st.booleans()), min_size=1, max_size=9),
    asked=st.lists(st.one_of(words, st.sampled_from(("dapo", "inovic", "abc"))), min_size=1, max_size=4, unique=True),
    segment_rows=st.integers(1, 9),
)
def test_near_terms_are_those_that_plain_python_finds_among_authorized_records(
    records: list[tuple[list[str], bool]], asked: list[str], segment_rows: int
) -> None:
    made = [
        record(f"r{number}", " ".join(said), **({"access": HIDDEN} if hidden else {}))
        for number, (said, hidden) in enumerate(records)
    ]
    seen = (frozenset(terms_of(" ".join(said))) for said, hidden in records if not hidden)
    frequencies = Counter(term for terms in seen for term in terms)
    hits = index_of(made, segment_rows).search(query(*asked), lambda: False)
    found = [(one.position, one.term, one.likeness, one.frequency) for one in hits.near if not one.spoken]
    assert [one for one in found if one[1] in frequencies] == _expected(asked, frequencies)


def _expected(asked: list[str], frequencies: Counter[str]) -> list[tuple[int, str, int, int]]:
    expected = []
    for position, word in enumerate(asked):
        if not looks_like_a_word(word) or frequencies[word] or is_known(word):
            continue
        near = {term: near_reference.likeness(word, term) for term in frequencies}
        louder = [term for term in near if near[term] > known_near(word)[0].silent]
        nearest = sorted(louder, key=lambda term: (-near[term], term))[:NEAREST]
        expected += [(position, term, near[term], frequencies[term]) for term in nearest]
    return expected
