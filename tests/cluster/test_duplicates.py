"""Near-duplicates: wording may differ, what is said may not."""

import time
from dataclasses import replace

import pytest
from hypothesis import given

from cluster.duplicate_text import gist_of
from cluster.duplicates import Reason, Verdict, canonical_of, judge
from shards.record import Access, Kind, Record, Status
from tests import worlds

BASE = Record(
    id="kb:tickets/vs-11",
    kind=Kind.PASSAGE,
    name="VS-11: upload stops at 99 percent",
    namespace="kb",
    description="The upload of large files stops at 99 percent. Restart the client; E-42 is repaired in release 3.1.1.",
    access=Access(tenant="acme"),
    product="sync",
    locale="en",
    release="3.1",
    tags=("resolution:fixed",),
)
REWORDED = replace(
    BASE,
    id="kb:tickets/vs-12",
    name="VS-12: large files hang",
    description="Large files stop at 99 percent of the upload. A restart of the client helps; 3.1.1 repairs E-42.",
)


def test_the_same_in_other_words_is_a_duplicate() -> None:
    judged = judge(BASE, REWORDED)
    assert (judged.verdict, judged.reasons) == (Verdict.DUPLICATE, (Reason.SAME_WORDS,))
    assert judged.likeness.pairs < judged.likeness.words <= judged.likeness.part


@pytest.mark.parametrize(
    ("change", "verdict", "reason"),
    [
        ({"locale": "fa"}, Verdict.DISTINCT, Reason.OTHER_LOCALE),
        ({"product": "server"}, Verdict.DISTINCT, Reason.OTHER_PRODUCT),
        ({"kind": Kind.TOOL}, Verdict.DISTINCT, Reason.OTHER_KIND),
        ({"access": Access(tenant="globex")}, Verdict.DISTINCT, Reason.OTHER_TENANT),
        ({"access": Access(tenant="acme", permissions=("admin",))}, Verdict.REVIEW, Reason.OTHER_ACCESS),
        ({"release": "3.0"}, Verdict.REVIEW, Reason.OTHER_RELEASE),
        ({"tags": ("resolution:open",)}, Verdict.REVIEW, Reason.OTHER_RESOLUTION),
        ({"tags": ()}, Verdict.REVIEW, Reason.OTHER_RESOLUTION),
        ({"status": Status.DEPRECATED}, Verdict.REVIEW, Reason.OTHER_STATUS),
        ({"parameters": '{"type":"object"}'}, Verdict.REVIEW, Reason.OTHER_PARAMETERS),
    ],
)
def test_what_lies_outside_the_text_outweighs_it(change: dict[str, object], verdict: Verdict, reason: Reason) -> None:
    judged = judge(BASE, replace(REWORDED, **change))  # type: ignore[arg-type]
    assert judged.verdict is verdict
    assert reason in judged.reasons


@pytest.mark.parametrize(
    ("old", "new", "verdict", "reason"),
    [
        ("99", "95", Verdict.REVIEW, Reason.OTHER_NUMBERS),
        ("3.1.1", "3.1.2", Verdict.REVIEW, Reason.OTHER_NUMBERS),
        ("E-42", "E-43", Verdict.DISTINCT, Reason.OTHER_CODES),
        ("E-42", "E-42 and E-43", Verdict.REVIEW, Reason.MORE_CODES),
        ("helps", "does not help", Verdict.REVIEW, Reason.NEGATED),
        ("helps", "doesn't help", Verdict.REVIEW, Reason.NEGATED),
    ],
)
def test_a_fact_that_differs_is_never_a_duplicate(old: str, new: str, verdict: Verdict, reason: Reason) -> None:
    judged = judge(BASE, replace(REWORDED, description=REWORDED.description.replace(old, new)))
    assert (judged.verdict, judged.reasons[0]) == (verdict, reason)


LONGER = replace(
    BASE,
    tags=(),
    description=(
        "Choose «Back up» in the menu of the server and wait until the copy is written. Run `tool copy --to /mnt/one` "
        "on every host but the gateway. Proxies with NTLM are supported, those with SOCKS are not. It takes three "
        "hours. The later copy takes the name, and the earlier one is kept beside it."
    ),
)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("--to", "--from", Reason.OTHER_LITERALS),
        ("/mnt/one", "/mnt/two", Reason.OTHER_LITERALS),
        ("«Back up»", "«Restore»", Reason.OTHER_QUOTES),
        ("three hours", "two hours", Reason.OTHER_NUMBERS),
        ("three hours", "three days", Reason.CONTRARY),
        (
            "NTLM are supported, those with SOCKS are not",
            "NTLM are not supported, those with SOCKS are",
            Reason.NEGATED,
        ),
        ("server", "printer", Reason.EXCHANGED),
        ("later copy takes the name, and the earlier", "earlier copy takes the name, and the later", Reason.EXCHANGED),
    ],
)
def test_one_word_in_the_place_of_another_is_left_to_a_person(old: str, new: str, reason: Reason) -> None:
    changed = replace(LONGER, id="kb:other", description=LONGER.description.replace(old, new))
    assert changed.description != LONGER.description
    judged = judge(LONGER, changed)
    assert (judged.verdict, judged.reasons[0]) == (Verdict.REVIEW, reason)


def test_words_that_are_said_for_each_other_make_no_difference() -> None:
    for old, new in (("Choose", "Press"), ("written.", "written, then stop."), ("`", "")):
        changed = replace(LONGER, id="kb:other", description=LONGER.description.replace(old, new))
        assert judge(LONGER, changed).verdict is Verdict.DUPLICATE, (old, new)


def test_texts_too_long_to_lay_side_by_side_are_left_to_a_person() -> None:
    letters = "bcdfghklmnprstvwz"
    text = " ".join(f"{one}a{other}ox" for one in letters for other in letters for _ in range(2))
    long = replace(BASE, description=text)
    assert judge(long, replace(long, id="kb:same")).verdict is Verdict.DUPLICATE
    moved = judge(long, replace(long, id="kb:moved", description=f"{text} moreover"))
    assert (moved.verdict, moved.reasons) == (Verdict.REVIEW, (Reason.EXCHANGED, Reason.SAME_WORDS))


@pytest.mark.parametrize("piece", ["./", "a.", "-a.", "/a", "«", "1,"])
def test_a_text_made_to_be_read_again_and_again_takes_no_time(piece: str) -> None:
    hostile = replace(BASE, description=("/" + piece * 32_768)[:65_000])
    began_s = time.process_time()
    gist_of(hostile)
    assert time.process_time() - began_s < 1


def test_notation_makes_no_difference() -> None:
    other = REWORDED.description.replace("99", "۹۹").replace("3.1.1", "۳٫۱٫۱").replace(" ", "  ")
    shouted = replace(BASE, description=BASE.description.upper())
    assert judge(shouted, replace(REWORDED, description=other)).verdict is Verdict.DUPLICATE
    assert gist_of(replace(BASE, description="1,024 files, 12,5")).numbers == {"1024", "12,5", "99"}


def test_alike_in_form_about_something_else_is_distinct() -> None:
    starter = replace(BASE, id="a", name="Starter", tags=(), description="Starter costs 6 euros a user and month.")
    team = replace(starter, id="b", name="Team", description="Team costs 11 euros, from three users on, with chat.")
    assert judge(starter, team).verdict is Verdict.DISTINCT


def test_vectors_ask_for_a_look_and_never_confirm() -> None:
    other = replace(REWORDED, description="Sending big documents ends at 99 %, E-42. See 3.1.1.")
    assert judge(BASE, other).verdict is Verdict.DISTINCT
    assert judge(BASE, other, 600).verdict is Verdict.DISTINCT
    looked = judge(BASE, other, 1024)
    assert (looked.verdict, looked.reasons[-1]) == (Verdict.REVIEW, Reason.SAME_MEANING)
    assert judge(BASE, replace(other, locale="fa"), 2047).verdict is Verdict.DISTINCT


def test_the_canonical_one_has_a_source_then_the_longer_text_then_the_smaller_id() -> None:
    sourced = replace(REWORDED, id="z", source_url="https://example.com", description="short")
    longer = replace(REWORDED, id="y", description="x" * 500)
    assert canonical_of([BASE, longer, sourced]) is sourced
    assert canonical_of([longer, BASE]) is longer
    twin = replace(BASE, id="kb:a")
    assert canonical_of([BASE, twin]) is twin


@given(one=worlds.any_record, other=worlds.any_record)
def test_the_order_of_two_records_makes_no_difference_and_each_is_its_own_duplicate(one: Record, other: Record) -> None:
    assert judge(one, other) == judge(other, one)
    if one.description:
        assert judge(one, replace(one, id="other")).verdict is Verdict.DUPLICATE
