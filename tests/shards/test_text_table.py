"""Sorted texts in one compressed table: each comes back, and no other is found."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from shards.text_table import TextTable
from shards.utf8 import encoded
from tests.depth import examples

alphabet = st.text(alphabet="abک中\x00", max_size=6)
long_prefix = st.builds(lambda length, tail: "p" * length + tail, st.sampled_from((0, 254, 255, 256, 300)), alphabet)
texts = st.sets(st.one_of(alphabet, long_prefix), max_size=80)


@examples(100)
@given(stored=texts, asked=texts)
@example(stored={""}, asked={"", "a"})
@example(stored=set(), asked={""})
@example(stored={"p" * 256, "p" * 257, "p" * 300 + "a"}, asked={"p" * 255, "p" * 256})
def test_every_text_comes_back_and_is_found_at_its_row_and_no_other_is(stored: set[str], asked: set[str]) -> None:
    ascending = sorted(stored)
    table = TextTable.of([encoded(text) for text in ascending])
    assert len(table) == len(stored)
    assert list(table) == ascending
    assert [table[row] for row in range(len(table))] == ascending
    assert table.texts_at(np.arange(len(table))[::-1]) == ascending[::-1]
    everything = [*ascending, *sorted(asked)]
    expected = [ascending.index(text) if text in stored else -1 for text in everything]
    assert table.find_all([encoded(text) for text in everything]).tolist() == expected
    assert [table.find(encoded(text)) for text in everything] == expected


def test_a_text_keeps_what_the_one_before_does_not_share() -> None:
    table = TextTable.of([b"aws.s3.copy", b"aws.s3.cut", b"aws.s3.list"])
    assert table.blob.tobytes() == b"\x0baws.s3.copy\x82ut\x74list"
    assert table.blocks.tolist() == [0]


def test_halves_of_a_header_that_overflow_go_on_behind_it() -> None:
    table = TextTable.of([b"a" * 15, b"a" * 15 + b"b" * 200])
    assert table.blob.tobytes() == b"\x0f\x00" + b"a" * 15 + b"\xff\x00\xb9\x01" + b"b" * 200


def test_a_lone_surrogate_is_not_found_instead_of_failing() -> None:
    assert TextTable.of([b"a"]).find(encoded("\ud800")) == -1


@examples(100)
@given(stored=texts, prefix=st.one_of(alphabet, long_prefix))
@example(stored={"a", "ab", "abک", "b"}, prefix="ab")
def test_the_texts_that_begin_with_a_prefix_stand_side_by_side(stored: set[str], prefix: str) -> None:
    ascending = sorted(stored)
    rows = TextTable.of([encoded(text) for text in ascending]).beginning_with(encoded(prefix))
    assert list(rows) == [row for row, text in enumerate(ascending) if text.startswith(prefix)]
