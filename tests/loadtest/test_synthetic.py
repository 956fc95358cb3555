"""Copies of real records, which fill a catalogue up to any size."""

from itertools import islice

import pytest

from loadtest.scale import measured
from loadtest.synthetic import NAMESPACE, copies, grown
from tests.shards.makers import record

REAL = tuple(record(f"real{number}", "dapo veku", name=f"molo {number}", namespace="shop") for number in range(20))


def test_a_catalogue_grows_by_copies_that_say_what_they_are() -> None:
    records = list(grown(REAL, 50))
    assert records[:20] == list(REAL)
    assert all(one.namespace.startswith(NAMESPACE) and one.id.startswith("synthetic") for one in records[20:])
    assert len({one.id for one in records}) == len({(one.namespace, one.name) for one in records}) == 50


def test_fewer_records_than_there_are_need_no_copies() -> None:
    assert list(grown(REAL, 5)) == list(REAL[:5])


def test_rounds_of_copies_have_namespaces_of_their_own() -> None:
    assert {one.namespace for one in islice(copies(REAL), 40)} == {f"{NAMESPACE}{number}/shop" for number in (1, 2)}


def test_nothing_cannot_be_copied() -> None:
    with pytest.raises(ValueError, match="at least one to copy"):
        next(copies(()))


def test_a_scale_is_measured_of_all_shards() -> None:
    found = measured(REAL, 60, 2, ("dapo", "molo 3"))
    assert (found.records, found.synthetic, found.segments) == (60, 40, 2)
    # Sixty records are built in less time than a figure in seconds shows.
    assert min(found.index_bytes, found.document_bytes, found.search_ms, found.request_ms) > 0
