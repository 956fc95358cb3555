"""Masks and frequencies of scopes, as they are cached and as parts change beneath them."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from shards.authorization import AuthorizedRows, Authorizer
from shards.frequency_kernel import count
from shards.grants import GrantLists
from shards.mask import NamespaceRows
from shards.part import Part
from shards.scope import Scope
from shards.segment_builder import SegmentBuilder
from tests.shards.makers import ALL, EVERYTHING, record


@pytest.fixture
def part() -> Part:
    builder = SegmentBuilder()
    for number, words in enumerate(("dapo veku", "dapo", "molo dapo", "veku")):
        builder.add(record(f"r{number}", words), b"")
    return Part.of(builder.build())


def terms(part: Part, *texts: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return part.segment.postings.terms.find_all(texts)


def frequencies(part: Part, authorized: AuthorizedRows, asked: npt.NDArray[np.int64]) -> list[int]:
    """Authorized records that hold each term, as a search counts them."""
    counts = np.zeros(len(asked), np.int64)
    count(counts, asked, part.segment.postings.lists, authorized.bits, authorized.count, authorized.rows)
    return counts.tolist()


def test_frequencies_are_those_of_the_authorized_rows_also_when_asked_again(part: Part) -> None:
    scope = Scope(grants=(replace(ALL, ids=frozenset({"r0", "r2"})),))
    authorized = Authorizer().authorize(scope, part, GrantLists())
    for _ in range(2):
        assert frequencies(part, authorized, terms(part, b"veku", b"dapo", b"xaxo", b"dapo")) == [1, 2, 0, 2]


def test_equal_scopes_share_a_mask_and_others_never_do(part: Part) -> None:
    authorizer = Authorizer()
    mine = authorizer.authorize(EVERYTHING, part, GrantLists())
    again = authorizer.authorize(Scope(grants=(replace(ALL, reason="another rule"),)), part, GrantLists())
    other = authorizer.authorize(Scope(grants=(replace(ALL, ids=frozenset({"r1"})),)), part, GrantLists())
    assert again is mine
    assert (mine.count, other.count) == (4, 1)


def test_rows_that_died_are_out_of_mask_and_frequencies_while_the_old_part_keeps_its_own(part: Part) -> None:
    authorizer = Authorizer()
    before = authorizer.authorize(EVERYTHING, part, GrantLists())
    later = part.without(["r0", "unknown"])
    after = authorizer.authorize(EVERYTHING, later, GrantLists())
    asked = terms(part, b"dapo", b"veku")
    assert frequencies(part, before, asked) == [3, 2]
    assert frequencies(part, after, asked) == [2, 1]
    assert (before.count, after.count) == (4, 3)
    assert later.without(["r0"]) is later


def test_a_changed_grant_list_is_seen_at_once_and_a_removed_one_admits_nothing(part: Part) -> None:
    authorizer = Authorizer()
    scope = Scope(grants=(replace(ALL, grant_list="mine"),))
    lists = GrantLists().changed({"mine": ("r0",)}, 1)
    counts = [authorizer.authorize(scope, part, lists).count]
    for version, ids in ((2, ("r0", "r1")), (3, None), (4, ("r3",))):
        lists = lists.changed({"mine": ids}, version)
        counts.append(authorizer.authorize(scope, part, lists).count)
    assert counts == [1, 2, 0, 1]


def test_masks_are_read_only(part: Part) -> None:
    for one in (part, part.without(["r0"])):
        authorized = Authorizer().authorize(EVERYTHING, one, GrantLists())
        with pytest.raises(ValueError, match="read-only"):
            authorized.bits[0] = 0


def test_the_mask_says_what_the_bits_say(part: Part) -> None:
    scope = Scope(grants=(replace(ALL, ids=frozenset({"r0", "r3"})),))
    authorized = Authorizer().authorize(scope, part.without(["r3"]), GrantLists())
    assert authorized.mask.tolist() == [True, False, False, False]
    assert [authorized.holds(row) for row in range(4)] == [True, False, False, False]
    assert (authorized.count, authorized.rows) == (1, 4)


def test_more_callers_than_a_large_cache_of_masks_would_hold_are_kept() -> None:
    builder = SegmentBuilder()
    for number in range(4_096):
        builder.add(record(f"r{number}", "dapo", namespace=f"srv/{number}"), b"")
    part, authorizer = Part.of(builder.build()), Authorizer(ceiling_bytes=2 << 20)
    scopes = [Scope(grants=(replace(ALL, permissions=frozenset({f"p{number}"})),)) for number in range(1_000)]
    first = [authorizer.authorize(scope, part, GrantLists()) for scope in scopes]
    assert all(authorizer.authorize(one, part, GrantLists()) is held for one, held in zip(scopes, first, strict=True))


def test_patterns_are_decided_once_for_all_callers_of_a_role_and_anew_for_each_segment() -> None:
    namespaces = NamespaceRows()
    for names in (("srv/a", "srv/b", "other"), ("other", "srv/c")):
        builder = SegmentBuilder()
        for number, name in enumerate(names):
            builder.add(record(f"r{number}", "dapo", namespace=name), b"")
        segment = builder.build()
        for _ in range(2):
            found = namespaces.of(frozenset({"srv/*", "srv/b"}), segment).tolist()
            assert found == [name.startswith("srv/") for name in names]
