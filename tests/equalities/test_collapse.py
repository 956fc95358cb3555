"""Confirmed duplicates: an answer shows one record of several, and hidden ones neither take a place nor show a trace.

The right hits are worked out anew, from the oracle's ranking and the pairs that the caller may see.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from cluster.contract import Answer
from cluster.language import language_of
from cluster.local import LocalIndex
from shards.messages import Change, Twin
from shards.record import Record
from shards.scope import Scope
from tests.depth import examples
from tests.equalities.asks import asks
from tests.equalities.test_exact import Nudged, best_of_all
from tests.equalities.test_uneven_shards import ASKED, uneven
from tests.indexes import LOOSE, Ask, answers, index_of, verdict_on
from tests.oracle import Oracle
from tests.worlds import SENTINEL, WIDE, Question, World, hidden, worlds

Pairs = Mapping[str, str]


def drawn_pairs(seed: int, records: Sequence[Record]) -> dict[str, str]:
    """Duplicate -> canonical, for many records, of near-by texts; chains and rings are among them."""
    chance = random.Random(seed)  # noqa: S311 -- replayable, no secret
    ids = [one.id for one in sorted(records, key=lambda one: (sorted(one.description.split()), one.id))]
    share = chance.choice((0.3, 0.9))
    near = {place: place + chance.choice((-3, -1, -1, 1, 1, 2)) for place in range(len(ids)) if chance.random() < share}
    return {ids[one]: ids[other] for one, other in near.items() if 0 <= other < len(ids)}


def labels_of(record: Record) -> tuple[str, str, str]:
    return (record.locale, record.release, record.product)


def with_pairs(index: LocalIndex, said: Pairs, records: Sequence[Record]) -> LocalIndex:
    """The index after somebody confirmed these pairs, of records that are there."""
    known = {record.id: labels_of(record) for record in records}
    twins = [
        Twin(duplicate=one, canonical=other, own=known[one], its=known[other])
        for one, other in sorted(said.items())
        if one in known and other in known
    ]
    first = index.seq + 1
    index.apply([Change(seq=first + place, duplicate=twin.duplicate, twin=twin) for place, twin in enumerate(twins)])
    return index


def asked(query: str, mine: Record, other: Record) -> bool:
    """By words of one letter or four, none of which is part of another one."""
    words = query.replace(",", " ").replace("_", " ").split() if "_" not in query else [query]
    own = [(mine.release, other.release), (mine.product, other.product)]
    spoken = mine.locale and mine.locale != other.locale and mine.locale == language_of(query)
    return bool(spoken) or any(one and one != another and one in words for one, another in own)


def shown_of(
    oracle: Oracle, ask: Ask, said: Pairs, ranking: Sequence[tuple[str, int]] = ()
) -> list[tuple[str, tuple[str, ...]]]:
    """The hits and what each stands for, by ever longer starts of the ranking: the oracle's, unless one is given."""
    k, query, records = ask.budget.evidence_k, ask.question.text, oracle.records
    scores = dict(ranking or verdict_on(oracle, ask).ranking)
    pinned = {one for one in ask.question.pinned[:k] if oracle.sees(ask.scope, one)}
    order = sorted({*scores, *pinned}, key=lambda one: (-scores.get(one, 0), one))
    if not pinned and not ask.question.preferred:
        order = order[: ask.budget.rerank_k]
    for places in range(k, len(order) + k + 1):
        free = [one for one in order if one not in pinned][: places - len(pinned)]
        window = [one for one in order if one in pinned or one in free]
        links = _links(window, said, query, records)
        shown: dict[str, tuple[str, ...]] = {}
        for members in _groups(window, links):
            top = _top(members, links)
            wanted = [one for one in members if one != top and asked(query, records[one], records[links[one]])]
            higher = 2 * scores.get(members[0], 0) > 3 * scores.get(top, 0)
            cited = wanted[0] if wanted else members[0] if higher else top
            forced = [one for one in members if one in pinned]
            cited = forced[0] if forced and cited not in forced else cited
            shown |= dict.fromkeys(forced, ())
            shown[cited] = tuple(sorted(one for one in members if one != cited and one not in forced))
        if len(shown) >= k:
            break
    return [(one, shown[one]) for one in window if one in shown]


def _links(window: Sequence[str], said: Pairs, query: str, records: Mapping[str, Record]) -> dict[str, str]:
    """The pairs that count: of rows that would be shown, and not both asked for."""
    return {
        one: said[one]
        for one in window
        if said.get(one) in window
        and not (asked(query, records[one], records[said[one]]) and asked(query, records[said[one]], records[one]))
    }


def _groups(window: Sequence[str], links: Mapping[str, str]) -> list[list[str]]:
    groups: list[set[str]] = [{one} for one in window]
    for one, other in links.items():
        first = next(group for group in groups if one in group)
        second = next(group for group in groups if other in group)
        if first is not second:
            groups.remove(second)
            first |= second
    return [[one for one in window if one in group] for group in groups]


def _top(members: Sequence[str], links: Mapping[str, str]) -> str:
    """The one that stands for nothing else, or the best one of the ring."""
    tops = [one for one in members if one not in links]
    if not tops:
        ring = members[0]
        for _ in members:
            ring = links[ring]
        tops = [ring]
        while (ring := links[ring]) != tops[0]:
            tops.append(ring)
    return min(tops, key=members.index)


def _count(answer: Answer, compared: Counter[str]) -> None:
    single = any(hit.duplicates for hit in answer.hits)
    compared["collapsed answers" if single else "answers without a pair"] += 1


@examples(25, deep=2000)
@given(
    world=worlds(),
    seed=st.integers(0, 2**32),
    shards=st.integers(1, 3),
    asked_for=st.lists(asks, min_size=4, max_size=8),
    places=st.integers(1, 6),
)
def test_an_answer_shows_one_of_several_and_hidden_pairs_change_nothing(  # noqa: PLR0917 -- Hypothesis draws them
    world: World, seed: int, shards: int, asked_for: list[Ask], places: int, compared: Counter[str]
) -> None:
    crowd = hidden(20)
    everything = (*world.records, *crowd)
    said = drawn_pairs(seed, world.records)
    # Hidden records stand for what is seen, and what is seen for hidden ones.
    secret = {one.id: other.id for one, other in zip(crowd[:5], world.records, strict=False)}
    secret |= {one.id: crowd[5 + place].id for place, one in enumerate(world.records[:9]) if one.id not in said}
    whole = with_pairs(index_of(world, more=crowd, shards=shards), {**said, **secret}, everything)
    oracle = Oracle(everything, world.grant_lists)
    tight = [
        replace(ask, budget=ask.budget.lowered(evidence_k=min(places, ask.budget.evidence_k))) for ask in asked_for
    ]
    wide = [replace(ask, budget=replace(ask.budget, candidate_k=100, rerank_k=100)) for ask in tight]
    for ask, answer in zip([*tight, *wide], answers(whole, [*tight, *wide]), strict=True):
        seen = tuple(oracle.visible(ask.scope))
        alone = with_pairs(index_of(World(records=seen, grant_lists=world.grant_lists)), said, seen)
        assert [answer] == answers(alone, [ask])
        assert SENTINEL not in repr(answer)
        assert answer.exact
        verdict = verdict_on(oracle, ask)
        assert (answer.spent.matched, answer.coverage.authorized) == (verdict.matched, verdict.authorized)
        if ask.budget.rerank_k == 100:
            assert [(hit.record.id, hit.duplicates) for hit in answer.hits] == shown_of(oracle, ask, said)
        _count(answer, compared)


@examples(15, deep=500)
# Without proof of more places than are shown, these go wrong.
@example(seed=40, size=60, shards=3, evidence_k=2, more=1)
@example(seed=130, size=60, shards=3, evidence_k=3, more=3)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from((60, 120, 25)),
    shards=st.sampled_from((2, 3, 5)),
    evidence_k=st.sampled_from((1, 2, 3, 10)),
    more=st.sampled_from((0, 2, 8, 30)),
)
def test_free_places_are_filled_with_the_right_rows_over_uneven_shards(  # noqa: PLR0917 -- Hypothesis draws them
    seed: int, size: int, shards: int, evidence_k: int, more: int, compared: Counter[str]
) -> None:
    world = uneven(seed, size, shards)
    said = drawn_pairs(seed, world.records)
    oracle = Oracle(world.records, world.grant_lists)
    index = with_pairs(index_of(world, shards=shards), said, world.records)
    room = evidence_k + more
    budget = replace(LOOSE, candidate_k=room, rerank_k=room, evidence_k=evidence_k)
    asked_for = [
        Ask(scope=Scope(grants=(WIDE,)), question=Question(text=text), budget=budget)
        for text in (*ASKED, " ".join(ASKED), " ".join(ASKED[:2]))
    ]
    for ask, answer in zip(asked_for, answers(index, asked_for), strict=True):
        assert [(hit.record.id, hit.duplicates) for hit in answer.hits] == shown_of(oracle, ask, said)
        assert answer.exact
        _count(answer, compared)


@examples(15, deep=500)
@given(
    seed=st.integers(0, 2**32),
    shards=st.sampled_from((1, 3)),
    evidence_k=st.sampled_from((2, 3, 10)),
    more=st.sampled_from((2, 30, 60)),
)
def test_what_a_ranker_that_is_no_sum_claims_to_be_exact_is(
    seed: int, shards: int, evidence_k: int, more: int, compared: Counter[str]
) -> None:
    world = uneven(seed, 60, shards)
    said = drawn_pairs(seed, world.records)
    oracle = Oracle(world.records, world.grant_lists)
    step = 20_000
    index = with_pairs(index_of(world, shards=shards, ranker=Nudged(step, step)), said, world.records)
    room = evidence_k + more
    budget = replace(LOOSE, candidate_k=room, rerank_k=room, evidence_k=evidence_k)
    ask = Ask(scope=Scope(grants=(WIDE,)), question=Question(text=" ".join(ASKED)), budget=budget)
    (answer,) = answers(index, [ask])
    if answer.exact:
        everything = replace(ask, budget=replace(budget, candidate_k=100, rerank_k=100))
        ranking = best_of_all(world, replace(ask, budget=replace(budget, evidence_k=1000)), step)
        right = shown_of(oracle, everything, said, ranking)
        assert [(hit.record.id, hit.duplicates) for hit in answer.hits] == right
        _count(answer, compared)
