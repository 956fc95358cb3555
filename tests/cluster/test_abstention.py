"""The rule that tells requests from talk, by hand-worked numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.abstention import UNIT, WHOLE, Rule, Strictness, Suspicion, Weights, suspicion_of
from cluster.contract import TalkSignals
from cluster.errors import InvalidConfiguration
from cluster.merge import Pool
from cluster.query import NAMED, AnalyzedRequest, Meant
from cluster.smalltalk import Nearest, SmallTalk, Topic
from shards.mentions import NO_MENTIONS
from shards.statistics import frequency_weight

BY_WORDS = Weights(
    shared=2, likeness=0, words=1, nearer=0, least_words=50, least_nearer=1,
    thresholds={Strictness.CAUTIOUS: -900, Strictness.BALANCED: 0, Strictness.STRICT: 100},
)  # fmt: skip
HYBRID = Weights(
    shared=2, likeness=1, words=1, nearer=3, least_words=50, least_nearer=20,
    thresholds={Strictness.CAUTIOUS: -900, Strictness.BALANCED: 0, Strictness.STRICT: 100},
)  # fmt: skip
RULE = Rule(version="test-1", words=BY_WORDS, hybrid=HYBRID)

TALK = SmallTalk.of(
    [
        Topic(name="greeting", social=True, terms=frozenset({"hello"}), names=(), concepts=(), phrases=()),
        Topic(name="weather", social=False, terms=frozenset({"rain"}), names=(), concepts=(), phrases=()),
    ],
    [],
)


def signals(**more: int) -> TalkSignals:
    return TalkSignals(**{"shared": 0, "likeness": 0, "words": 0, "nearer": 0, "named": False} | more)


def pool(rows: list[list[int]], weights: list[int], *, authorized: int = 100, bonuses: list[int] | None = None) -> Pool:
    """Rows of impacts, best first, under summed weights."""
    count = len(rows)
    values = np.zeros((count, len(weights), 2), np.uint8)
    values[:, :, 0] = np.array(rows, np.uint8).reshape(count, len(weights))
    return Pool(
        ids=tuple(f"t{row}" for row in range(count)),
        shards=(0,) * count,
        versions=np.ones(count, np.int64),
        scores=np.arange(count, 0, -1, dtype=np.int64),
        values=values,
        bonuses=np.array(bonuses or [0] * count, np.int32),
        likenesses=np.full(count, 700, np.int32),
        weights=np.array(weights, np.int64),
        authorized=authorized,
        matched=count,
    )


def asked(*terms: str) -> AnalyzedRequest:
    return AnalyzedRequest(terms=terms, term_weights=(256,) * len(terms), mentions=NO_MENTIONS, length=len(terms))


def test_talk_with_a_weak_record_is_turned_away_and_says_why() -> None:
    verdict = RULE.judge(signals(words=600, shared=256), Strictness.BALANCED, vectors=False)
    assert (verdict.score, verdict.threshold, verdict.abstained) == (2 * 256 - 600, 0, True)
    assert verdict.rule == "test-1"


def test_talk_with_a_strong_record_is_a_request() -> None:
    assert not RULE.judge(signals(words=600, shared=400), Strictness.BALANCED, vectors=False).abstained


def test_where_nothing_speaks_for_talk_the_weakest_record_is_better_than_none() -> None:
    assert not RULE.judge(signals(), Strictness.STRICT, vectors=False).abstained
    assert not RULE.judge(signals(words=49, nearer=19), Strictness.STRICT, vectors=True).abstained
    assert RULE.judge(signals(words=50), Strictness.STRICT, vectors=True).abstained
    assert RULE.judge(signals(nearer=20), Strictness.STRICT, vectors=True).abstained


def test_a_named_record_always_stays() -> None:
    assert not RULE.judge(signals(words=WHOLE, named=True), Strictness.STRICT, vectors=False).abstained


def test_the_weights_of_an_answer_with_vectors_are_those_of_the_hybrid_rule() -> None:
    verdict = RULE.judge(signals(shared=10, likeness=300, words=100, nearer=90), Strictness.BALANCED, vectors=True)
    assert (verdict.score, verdict.abstained) == (20 + 300 - 100 - 270, True)


@given(
    first=st.builds(
        TalkSignals,
        shared=st.integers(0, 1024), likeness=st.integers(0, 2047), words=st.integers(0, 1024),
        nearer=st.integers(0, 2047), named=st.booleans(),
    ),
    less_words=st.integers(0, 1024),
    less_nearer=st.integers(0, 2047),
    vectors=st.booleans(),
)  # fmt: skip
def test_less_talk_never_turns_a_request_away(
    first: TalkSignals, less_words: int, less_nearer: int, *, vectors: bool
) -> None:
    """Why shards are asked for the served topics only on suspicion."""
    second = TalkSignals(
        shared=first.shared,
        likeness=first.likeness,
        words=max(0, first.words - less_words),
        nearer=max(0, first.nearer - less_nearer),
        named=first.named,
    )
    shipped = Rule.from_config()
    for strictness in Strictness:
        if not shipped.judge(first, strictness, vectors=vectors).abstained:
            assert not shipped.judge(second, strictness, vectors=vectors).abstained


def test_a_stricter_rule_turns_away_whatever_a_milder_one_does() -> None:
    shipped = Rule.from_config()
    for weights in (shipped.words, shipped.hybrid):
        assert list(weights.thresholds.values()) == sorted(weights.thresholds.values())


def test_a_word_of_talk_counts_only_where_no_authorized_record_holds_it() -> None:
    unheld = suspicion_of(asked("hello", "invoice"), pool([[0, 9]], [0, 400]), [0, 3], TALK, None)
    rarest = frequency_weight(100, 1, 256)
    assert unheld.signals(()).words == WHOLE * rarest // (rarest + 400)
    held = suspicion_of(asked("hello", "invoice"), pool([[0, 9]], [300, 400]), [2, 3], TALK, None)
    assert held.signals(()).words == 0
    assert held.topics == set()


def test_a_social_word_that_hardly_any_record_of_a_large_catalogue_holds_is_talk_all_the_same() -> None:
    large = pool([[9, 9]], [900, 400], authorized=100_000)
    assert suspicion_of(asked("hello", "invoice"), large, [150, 900], TALK, None).signals(()).words > 0
    assert suspicion_of(asked("hello", "invoice"), large, [200, 900], TALK, None).signals(()).words == 0
    assert suspicion_of(asked("rain", "invoice"), large, [1, 900], TALK, None).signals(()).words == 0


def test_what_the_best_record_shares_counts_in_words_that_one_record_alone_would_hold() -> None:
    rarest = frequency_weight(100, 1, 256)
    suspicion = suspicion_of(
        asked("a", "b", "c"), pool([[9, 9, 0], [9, 9, 9]], [rarest, rarest // 2, 50]), [1, 9, 60], TALK, None
    )
    assert suspicion.shared == UNIT * (rarest + rarest // 2) // rarest


def test_an_answer_without_any_record_shares_nothing() -> None:
    suspicion = suspicion_of(asked("hello"), pool([], [0]), [0], TALK, None)
    assert suspicion.signals(()) == signals(words=WHOLE)


def test_a_whole_saying_is_talk_though_records_hold_its_words() -> None:
    talk = SmallTalk.of([replace(TALK.topics[0], says=frozenset({"howareyou"}))], [])
    common = pool([[9, 9]], [40, 30])
    question = asked("how", "are")
    assert suspicion_of(question, common, [60, 70], talk, None, text="How are you?").signals(()).words == WHOLE
    assert suspicion_of(question, common, [60, 70], talk, None, text="How are they?").signals(()).words == 0


def test_a_sure_name_is_seen_by_its_bonus() -> None:
    suspicion = suspicion_of(asked("hello"), pool([[0]], [0], bonuses=[NAMED]), [0], TALK, None)
    assert suspicion.named


def test_the_words_and_the_nearest_phrase_of_a_served_topic_are_no_talk() -> None:
    suspicion = Suspicion(
        words=((frozenset({0}), 100), (frozenset({1}), 300)),
        weight=1000,
        shared=0,
        likeness=200,
        nearest=Nearest(topic=1, talk=900, work=250),
        named=False,
    )
    assert suspicion.topics == {0, 1}
    assert suspicion.signals(()) == signals(likeness=200, words=WHOLE * 400 // 1000, nearer=650)
    assert suspicion.signals({1}) == signals(likeness=200, words=WHOLE * 100 // 1000)
    assert suspicion.signals({0, 1}) == signals(likeness=200)


def test_a_request_that_is_as_near_to_work_as_to_talk_is_not_nearer_to_talk() -> None:
    suspicion = Suspicion(
        words=(), weight=1, shared=0, likeness=0, nearest=Nearest(topic=0, talk=500, work=500), named=False
    )
    assert suspicion.topics == set()
    assert suspicion.signals(()).nearer == 0


def test_terms_that_were_only_guessed_do_not_thin_the_talk() -> None:
    question = replace(asked("hello", "help"), meant=(Meant(word="hello", term="help", likeness=200),))
    suspicion = suspicion_of(question, pool([[0, 9]], [0, 400]), [0, 3], TALK, None)
    assert suspicion.signals(()).words == WHOLE
    assert suspicion.shared > 0


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("words:\n  shared: 64", "words:\n  shared: 256", "0 to 255"),
        ("  least_nearer: 1\n", "  least_nearer: 0\n", "1 to 255"),
        ("name: talk\n", "", "name, words and hybrid"),
        ("  likeness: 0\n", "", "the keys shared"),
        ("cautious: -1", "cautious: 900001", "rise with strictness"),
        ("strict: 2", "strictest: 2", "thresholds"),
    ],
)
def test_a_file_with_a_fault_is_refused_with_what_is_allowed(tmp_path: Path, old: str, new: str, match: str) -> None:
    section = (
        "  shared: 64\n  likeness: 0\n  words: 26\n  nearer: 0\n  least_words: 1\n  least_nearer: 1\n"
        "  thresholds: {cautious: -1, balanced: 1, strict: 2}\n"
    )
    text = f"name: talk\nwords:\n{section}hybrid:\n{section}"
    path = tmp_path / "abstention.yaml"
    path.write_text(text)
    assert Rule.from_config(path).version.startswith("talk-")
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidConfiguration, match=match):
        Rule.from_config(path)
