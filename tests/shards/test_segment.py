"""What a segment holds of its records: rows, postings, columns, documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards.columns import Column, Field
from shards.impacts import postings_of
from shards.record import Record
from shards.segment import Segment, narrowed
from shards.segment_builder import SegmentBuilder
from shards.segment_layout import arrays_of
from shards.segment_merge import merged
from tests.depth import examples
from tests.shards.makers import record
from tests.worlds import records


def built(*given_records: Record) -> Segment:
    builder = SegmentBuilder()
    for one in given_records:
        builder.add(one, one.to_json())
    return builder.build()


def content(segment: Segment) -> dict[str, object]:
    arrays = {name: (array.dtype.str, array.tolist()) for name, array in arrays_of(segment).items()}
    return arrays | {"bodies": [segment.documents.body(row) for row in range(len(segment))]}


def test_rows_are_sorted_by_id_whatever_came_first() -> None:
    segment = built(record("b", version=2), record("a", version=1), record("ز", version=3))
    assert list(segment.ids) == ["a", "b", "ز"]
    assert segment.versions.tolist() == [1, 2, 3]
    assert [segment.ordinal_of(record_id) for record_id in ("a", "b", "ز", "c")] == [0, 1, 2, -1]
    assert segment.documents.body(1) == record("b", version=2).to_json()


def test_postings_hold_the_static_values_of_each_record() -> None:
    catalogue = [record("b", "dapo veku dapo", name="veku"), record("a", "veku")]
    segment = built(*catalogue)
    terms = list(segment.postings.terms)
    found = {}
    for row, term in enumerate(terms):
        start, end = segment.postings.offsets[row : row + 2]
        for ordinal, impact in zip(
            segment.postings.ordinals[start:end].tolist(), segment.postings.impacts[start:end].tolist(), strict=True
        ):
            found[ordinal, term] = impact
    assert terms == sorted(terms)
    assert found == {
        (ordinal, term): impact
        for ordinal, one in enumerate(reversed(catalogue))
        for term, (impact, _) in postings_of(one).items()
    }
    assert 0 < len(segment.postings.names) < len(segment.postings.impacts)


def test_a_repeated_id_replaces_the_earlier_record_in_every_part_of_the_segment() -> None:
    old = record("a", "dapo", name="veku", domain="old", aliases=("molo",))
    assert content(built(old, record("b"), record("a", "ruxo"))) == content(built(record("b"), record("a", "ruxo")))


@examples(100)
@given(catalogue=records(max_size=12), cuts=st.lists(st.integers(0, 2), min_size=12, max_size=12))
def test_merging_segments_gives_what_building_from_the_kept_records_gives(
    catalogue: tuple[Record, ...], cuts: list[int]
) -> None:
    homes = list(zip(catalogue, cuts, strict=False))
    # Records of home 2 live in the first segment but are dead there.
    segments = [built(*(one for one, home in homes if home in allowed)) for allowed in ((0, 2), (1,))]
    dead = {one.id for one, home in homes if home == 2}
    kept = [np.array([record_id not in dead for record_id in segment.ids], np.bool_) for segment in segments]
    assert content(merged(segments, kept).segment) == content(built(*(one for one, home in homes if home != 2)))


def test_no_records_make_an_empty_segment() -> None:
    segment = built()
    assert len(segment) == 0
    assert len(segment.postings.terms) == 0
    assert segment.columns[Field.TENANT].where(lambda _: True).tolist() == []


def test_a_full_builder_refuses_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.segment_builder.SEGMENT_ROWS", 1)
    builder = SegmentBuilder()
    builder.add(record("a"), b"")
    builder.add(record("a"), b"")
    with pytest.raises(ValueError, match="2 records"):
        builder.add(record("b"), b"")


@pytest.mark.parametrize(("distinct", "dtype", "codes"), [(1, "uint8", 0), (256, "uint8", 300), (257, "uint16", 300)])
def test_a_column_takes_as_few_bytes_as_its_values_allow(distinct: int, dtype: str, codes: int) -> None:
    values = [f"v{number}" for number in range(distinct)]
    column = Column.of(values, np.arange(300, dtype=np.uint32) % distinct)
    assert (column.codes.dtype.name, len(column.codes)) == (dtype, codes)
    assert column.where(lambda value: value == "v0").tolist() == [row % distinct == 0 for row in range(300)]


@pytest.mark.parametrize(
    ("top", "dtype"),
    [(255, "uint8"), (256, "uint16"), (2**16, "uint32"), (2**32 - 1, "uint32"), (2**32, "int64")],
)
def test_versions_of_any_size_are_kept(top: int, dtype: str) -> None:
    versions = narrowed(np.array([1, top], np.int64))
    assert (versions.tolist(), versions.dtype.name) == ([1, top], dtype)
