"""The yardstick itself is checked: its formula by hand, its order by a second implementation."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evals.bm25 import Bm25Index, _best_rows
from shards.analyzer import terms_of
from shards.record import Access, Kind, Record
from tests.depth import examples


def tool(number: int, text: str) -> Record:
    return Record(
        id=f"t{number}", kind=Kind.TOOL, name="zib", namespace="", description=text, access=Access(tenant="*")
    )


def test_the_record_that_holds_the_rarer_word_comes_first_and_strangers_stay_out() -> None:
    index = Bm25Index([tool(1, "dap dap"), tool(2, "vek dap"), tool(3, "dap")])
    assert index.search("vek dap", 5) == ("t2", "t1", "t3")
    assert index.search("vek", 5) == ("t2",)
    assert index.search("qux", 5) == ()


def test_equal_scores_come_in_id_order() -> None:
    assert Bm25Index([tool(3, "dap"), tool(1, "dap"), tool(2, "dap")]).search("dap", 2) == ("t1", "t2")


words = st.lists(st.sampled_from(("dap", "vek", "mol", "rux")), max_size=6).map(" ".join)


@examples(100)
@given(st.lists(words, min_size=1, max_size=8), words)
def test_the_order_equals_the_formula_written_out(texts: list[str], query: str) -> None:
    records = [tool(number, text) for number, text in enumerate(texts)]
    docs = {record.id: Counter(terms_of(f"zib {record.description} {record.parameters}")) for record in records}
    average = sum(doc.total() for doc in docs.values()) / len(docs)

    def score(doc: Counter[str]) -> float:
        total = 0.0
        for term in dict.fromkeys(terms_of(query)):
            frequency = sum(term in other for other in docs.values())
            idf = math.log1p((len(docs) - frequency + 0.5) / (frequency + 0.5))
            total += idf * doc[term] * 2.5 / (doc[term] + 1.5 * (0.25 + 0.75 * doc.total() / average))
        return total

    found = Bm25Index(records).search(query, 20)
    scores = {name: score(doc) for name, doc in docs.items() if score(doc) > 0}
    assert set(found) == set(scores)
    assert all(scores[one] >= scores[two] - 1e-9 for one, two in pairwise(found))


@examples(100)
@given(st.lists(st.integers(0, 3), max_size=20), st.integers(1, 25))
def test_best_rows_is_a_stable_sort_cut_at_k(values: list[int], k: int) -> None:
    expected = sorted((row for row, value in enumerate(values) if value > 0), key=lambda row: (-values[row], row))[:k]
    assert _best_rows(np.array(values, np.float64), k) == expected
