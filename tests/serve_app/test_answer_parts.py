"""Parts of a score as an answer shows them."""

from cluster.contract import TermPart
from serve_app.answer import parts_view


def test_a_part_names_the_word_it_was_taken_for_only_where_it_was() -> None:
    known = TermPart(term="server", weight=2, impact=3, name=0, score=6)
    meant = TermPart(term="مشتری", weight=2, impact=3, name=0, score=6, instead_of="mshtri")
    numbers = {"weight": 2, "impact": 3, "name": 0, "score": 6}
    assert parts_view((known, meant)) == [
        {"term": "server", **numbers},
        {"term": "مشتری", **numbers, "instead_of": "mshtri"},
    ]
