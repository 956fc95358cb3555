"""Queries of files and of the gold set, in rounds that repeat none too early."""

from itertools import islice
from pathlib import Path

import pytest

from loadtest.queries import non_repeating, read_queries


def test_the_gold_set_is_there_without_a_file() -> None:
    assert len(read_queries()) > 100


def test_a_file_without_queries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ValueError, match="holds no query"):
        read_queries(tmp_path / "empty.jsonl")


def test_the_first_round_holds_every_query_once() -> None:
    queries = ("list buckets", "send an e-mail", "read a file")
    assert sorted(islice(non_repeating(queries, 1), 3)) == sorted(queries)


def test_later_rounds_add_words_of_other_queries_and_no_invented_ones() -> None:
    queries = read_queries()
    known = {word for query in queries for word in query.split()}
    asked = list(islice(non_repeating(queries, 2), 3 * len(queries)))
    assert {word for query in asked for word in query.split()} <= known
    assert len(set(asked)) > 0.98 * len(asked)
