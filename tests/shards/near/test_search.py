from dataclasses import replace

import pytest

from shards.messages import NearTerm
from shards.near.search import MOST_WORDS, NEAREST
from shards.record import Access
from shards.scope import Scope
from shards.shard import Shard
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
    clock = iter([False] * 3)
    # Once each before authorization, frequencies and candidates; then time is up.
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
    monkeypatch.setattr("shards.near.search.REMEMBERED", 2)
    shard = loaded([record("a", "zorbalinkot"), record("b", "venturika", access=HIDDEN)])
    for _ in range(2):
        for word in ("zorbalinkat", "venturike", "zorbolinkot"):
            assert near(shard, word) == ([] if word == "venturike" else [(0, "zorbalinkot", 1)])
