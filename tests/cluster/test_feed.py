"""The feed loses nothing, repeats nothing, and gives each shard its own changes alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.errors import BrokenFeed
from cluster.feed import batches, steps
from cluster.partition import shard_of
from shards.messages import Change
from shards.record import bucket_of


def _changes(subjects: list[str], after_seq: int) -> list[Change]:
    """Record ``r…``, grant list ``l…`` or confirmed duplicate ``d…`` per entry, in order."""
    return [
        Change(seq=after_seq + 1 + position, grant_list=subject, grant_ids=(str(position),))
        if subject.startswith("l")
        else Change(seq=after_seq + 1 + position, duplicate=subject)
        if subject.startswith("d")
        else Change(seq=after_seq + 1 + position, record_id=subject, body=str(position).encode())
        for position, subject in enumerate(subjects)
    ]


def _subject(change: Change) -> str:
    return change.record_id or change.grant_list or change.duplicate


_subjects = st.lists(st.sampled_from([*(f"r{n}" for n in range(12)), "l0", "l1", "d0", "d1"]), max_size=40)


@given(subjects=_subjects, after_seq=st.integers(0, 1000), shards=st.integers(1, 9))
def test_each_subject_reaches_its_shards_once_with_its_last_change(
    subjects: list[str], after_seq: int, shards: int
) -> None:
    changes = _changes(subjects, after_seq)
    parts = batches(changes, after_seq, shards)
    assert [part.shard for part in parts] == list(range(shards))
    last = {_subject(change): change for change in changes}
    for part in parts:
        assert (part.after_seq, part.upto_seq) == (after_seq, after_seq + len(changes))
        own = {
            subject: change
            for subject, change in last.items()
            if subject.startswith("l") or shard_of(bucket_of(subject), shards) == part.shard
        }
        assert {_subject(change): change for change in part.changes} == own
        assert [change.seq for change in part.changes] == sorted(change.seq for change in own.values())


def test_no_changes_leave_every_shard_where_it_is() -> None:
    assert [(part.after_seq, part.upto_seq, part.changes) for part in batches([], 7, 2)] == [(7, 7, ()), (7, 7, ())]


@pytest.mark.parametrize(("seqs", "expected", "found"), [([9], 8, 9), ([8, 10], 9, 10), ([8, 8], 9, 8), ([3], 8, 3)])
def test_a_gap_or_a_repetition_is_refused_and_named(seqs: list[int], expected: int, found: int) -> None:
    with pytest.raises(BrokenFeed) as refused:
        batches([Change(seq=seq, record_id="r", body=b"") for seq in seqs], 7, 2)
    assert (refused.value.expected_seq, refused.value.found_seq) == (expected, found)


@given(sizes=st.lists(st.integers(0, 50), max_size=30), most_bytes=st.integers(1, 60))
def test_steps_are_all_changes_in_order_and_none_is_larger_than_asked_but_for_one_change(
    sizes: list[int], most_bytes: int
) -> None:
    changes = [Change(seq=number, record_id=f"r{number}", body=bytes(size)) for number, size in enumerate(sizes)]
    found = list(steps(changes, most_bytes))
    assert [change for step in found for change in step] == changes
    for step in found:
        assert len(step) == 1 or sum(len(change.body or b"") for change in step) <= most_bytes


def test_a_removal_weighs_nothing_and_a_grant_list_its_ids() -> None:
    changes = [
        Change(seq=1, record_id="r1"),
        Change(seq=2, grant_list="acme/l", grant_ids=("four", "more")),
        Change(seq=3, record_id="r2", body=b"12"),
    ]
    assert [len(step) for step in steps(changes, 8)] == [2, 1]
