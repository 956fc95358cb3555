import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.term_rows import TermRows
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


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.term_rows.REMEMBERED", 2)
    rows = TermRows(TextTable.of([b"a", b"b"]))
    for terms in ("ab", "cd", "e"):
        rows.of(terms)
        assert len(rows._known) <= 2
