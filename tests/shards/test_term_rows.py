"""Dictionary rows of asked terms, remembered within bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.term_rows import TermRows, rows_of
from shards.text_table import TextTable
from shards.utf8 import encoded
from tests.depth import examples

texts = st.text("ab\ud800é", max_size=3)


@examples(100)
@given(held=st.sets(texts), asked=st.lists(st.lists(texts, max_size=6), max_size=6))
def test_a_term_has_the_same_row_however_often_it_is_asked(held: set[str], asked: list[list[str]]) -> None:
    table = TextTable.of(sorted(encoded(text) for text in held))
    rows = TermRows(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shards.term_rows.REMEMBERED", 4)
        for terms in (*asked, *asked):
            assert rows.of(terms).tolist() == table.find_all([encoded(term) for term in terms]).tolist()


@examples(100)
@given(
    held=st.lists(st.sets(texts), min_size=1, max_size=3),
    asked=st.lists(st.tuples(st.sets(st.integers(0, 2), min_size=1), st.lists(texts, max_size=6)), max_size=8),
)
def test_several_dictionaries_give_what_each_gives_whatever_they_were_asked_before(
    held: list[set[str]], asked: list[tuple[set[int], list[str]]]
) -> None:
    tables = [TextTable.of(sorted(encoded(text) for text in one)) for one in held]
    dictionaries = [TermRows(table) for table in tables]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shards.term_rows.REMEMBERED", 4)
        for places, terms in (*asked, *asked):
            chosen = [place for place in sorted(places) if place < len(tables)]
            found = rows_of([dictionaries[place] for place in chosen], terms)
            assert found.shape == (len(chosen), len(terms))
            expected = [tables[place].find_all([encoded(term) for term in terms]).tolist() for place in chosen]
            assert found.tolist() == expected


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.term_rows.REMEMBERED", 2)
    rows = TermRows(TextTable.of([b"a", b"b"]))
    for terms in ("ab", "cd", "e", "abc", "abcd", "e"):
        rows.of(terms)
        assert len(rows._known) + len(rows._before) <= 2 + 2 + len("abcd")


def test_what_is_asked_again_and_again_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.term_rows.REMEMBERED", 3)
    rows = TermRows(TextTable.of([b"a", b"b"]))
    for other in "bcdefgh":
        rows.of(("a", other))
        assert rows.forgotten(("a",)) == []
