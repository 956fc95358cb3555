"""A whole index state beside a plain loop over its records."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import bundle
from shards.index import ShardIndex
from shards.mentions import MentionField
from shards.messages import DocumentRequest, Outcome, ShardQuery
from shards.record import Access
from shards.scope import Scope
from shards.vector_arrivals import arrived
from tests.depth import examples
from tests.shards.makers import (
    ALL,
    DIMS,
    EMBEDDER,
    EVERYTHING,
    MIX,
    MIX_OF_BOTH,
    Naive,
    index_of,
    mentions_of,
    new_vector,
    plain,
    query,
    record,
    vector_query,
)
from tests.worlds import DOMAINS, UNKNOWN_WORD, WORDS, World, callers, worlds

mentions = st.tuples(
    st.sampled_from(MentionField),
    st.sampled_from((*WORDS, *DOMAINS, "goli")),
    st.integers(1, 5000),
)
ids = st.lists(st.integers(0, 39).map("r{:02d}".format), max_size=3, unique=True).map(tuple)
terms = st.lists(st.sampled_from((*WORDS, UNKNOWN_WORD)), max_size=6, unique=True)


MIXES = (MIX, MIX_OF_BOTH, replace(MIX, impact=15, name=15), replace(MIX, name=0, presence=0, similarity=65_535))


@st.composite
def queries(draw: st.DrawFn) -> ShardQuery:
    asked = draw(terms)
    per_term = st.lists(st.integers(1, 256), min_size=len(asked), max_size=len(asked)).map(tuple)
    return replace(
        query(*asked, scope=draw(callers)),
        term_weights=draw(per_term),
        mix=draw(st.sampled_from(MIXES)),
        vector=draw(st.one_of(st.none(), st.builds(vector_query, st.integers(0, 99), st.sampled_from((0, 60_000))))),
        mentions=mentions_of(*draw(st.lists(mentions, max_size=3))),
        pinned=draw(ids),
        preferred=draw(ids),
        n=draw(st.integers(1, 12)),
        weights=draw(st.one_of(st.none(), per_term)),
    )


def never() -> bool:
    return False


@examples(120)
@given(
    world=worlds(), asked=queries(), segment_rows=st.sampled_from((1, 3, 7, 50)), share=st.sampled_from((0, 1, 2, 3))
)
def test_any_layout_of_segments_answers_as_a_plain_loop_does(
    world: World, asked: ShardQuery, segment_rows: int, share: int
) -> None:
    index = index_of(world.records, segment_rows, world.grant_lists)
    # Of every third record, of two of three, of all: embedding goes on while searches are answered.
    given = [new_vector(one) for place, one in enumerate(world.records) if place % 3 < share]
    index = index.with_parts(arrived(index.parts, EMBEDDER, given).parts)
    vectors = {one.record_id: one.values for one in given}
    naive = Naive(records=world.records, lists=world.grant_lists, vectors=vectors)
    assert plain(index.search(asked, never)) == naive.answer(asked)


@examples(60)
@given(
    world=worlds(),
    asked=st.lists(queries(), min_size=1, max_size=bundle.MOST + 9),
    shared=st.booleans(),
    segment_rows=st.sampled_from((2, 7, 50)),
    share=st.sampled_from((0, 2, 3)),
)
def test_queries_of_a_batch_answer_as_a_plain_loop_does_for_each(
    world: World, asked: list[ShardQuery], *, shared: bool, segment_rows: int, share: int
) -> None:
    index = index_of(world.records, segment_rows, world.grant_lists)
    given = [new_vector(one) for place, one in enumerate(world.records) if place % 3 < share]
    index = index.with_parts(arrived(index.parts, EMBEDDER, given).parts)
    naive = Naive(records=world.records, lists=world.grant_lists, vectors={one.record_id: one.values for one in given})
    batch = [replace(one, scope=asked[0].scope) for one in asked] if shared else asked
    together = index.search_batch(batch, lambda _: never)
    assert [plain(hits) for hits in together] == [naive.answer(one) for one in batch]
    assert [plain(index.search(one, never)) for one in batch] == [plain(hits) for hits in together]


@examples(40)
@given(world=worlds(), scope=callers, asked=ids, segment_rows=st.sampled_from((3, 50)))
def test_documents_are_those_of_authorized_ids_in_the_order_asked(
    world: World, scope: Scope, asked: tuple[str, ...], segment_rows: int
) -> None:
    index = index_of(world.records, segment_rows, world.grant_lists)
    naive = Naive(records=world.records, lists=world.grant_lists)
    visible = naive.answer(query(scope=scope, pinned=asked))["ids"]
    documents = index.documents(DocumentRequest(scope=scope, ids=(*asked, "unknown", *asked)))
    bodies = {one.id: one.to_json() for one in world.records}
    assert tuple(document.id for document in documents) == visible
    assert all(document.body == bodies[document.id] for document in documents)


CATALOGUE = tuple(record(f"r{number:02}", "dapo " * (1 + number % 3)) for number in range(12))


@pytest.mark.parametrize("segment_rows", [2, 5, 50])
def test_a_pinned_row_that_did_not_make_it_follows_with_its_own_score(segment_rows: int) -> None:
    asked = query("dapo", pinned=("r00", "unknown"), preferred=("r00", "r03"), n=2)
    hits = index_of(CATALOGUE, segment_rows).search(asked, never)
    # Three sizes of the same description: r02, r05, r08 and r11 have the longest.
    assert hits.ids == ("r02", "r05", "r00", "r03")
    assert hits.scores[0] == hits.scores[1] > hits.scores[2] == hits.scores[3] > 0
    assert hits.threshold == hits.scores[0]
    assert (hits.matched, hits.authorized) == (12, 12)


def test_nothing_scored_is_left_out_when_all_that_matched_is_shown() -> None:
    catalogue = (*CATALOGUE[:3], record("zz", "veku"))
    hits = index_of(catalogue, 2).search(query("dapo", pinned=("zz",), n=3), never)
    assert (len(hits.ids), hits.matched, hits.threshold) == (4, 3, -1)
    assert hits.scores[3] == 0
    hits = index_of(catalogue, 2).search(query("dapo", preferred=("r00", "r01", "r02"), n=1), never)
    assert (len(hits.ids), hits.threshold) == (3, -1)


@pytest.mark.parametrize(("bodies", "brought"), [(0, 0), (2, 2), (9, 4)])
def test_the_first_rows_bring_as_many_documents_as_are_asked_for(bodies: int, brought: int) -> None:
    hits = index_of(CATALOGUE, 5).search(query("dapo", n=3, pinned=("r00",), bodies=bodies), never)
    documents = {one.id: one.to_json() for one in CATALOGUE}
    assert len(hits.ids) == 4
    assert hits.bodies == tuple(documents[one] for one in hits.ids[:brought])


@pytest.mark.parametrize("segment_rows", [1, 2, 100])
def test_a_repeated_id_in_a_load_replaces_the_earlier_record(segment_rows: int) -> None:
    loads = (("a", "dapo"), ("b", "dapo"), ("a", "veku"), ("b", "molo"), ("a", "ruxo"))
    index = index_of([record(one, words) for one, words in loads], segment_rows)
    found = [index.search(query(word), never).ids for word in ("dapo", "veku", "molo", "ruxo")]
    assert found == [(), (), ("b",), ("a",)]
    assert index.records == 2


def test_a_mention_alone_makes_a_candidate() -> None:
    mentions = mentions_of((MentionField.NAME, "tool", 5))
    hits = index_of(CATALOGUE[:2], 50).search(query("xaxo", mentions=mentions), never)
    assert hits.ids == ("r00", "r01")
    assert hits.scores.tolist() == hits.bonuses.tolist() == [5, 5]
    assert (hits.matched, hits.weights.tolist()) == (2, [0])


def test_weights_of_a_second_round_replace_the_own_but_count_only_for_terms_that_are_here() -> None:
    hits = index_of(CATALOGUE[:1], 50).search(query("dapo", "veku", weights=(10, 99)), never)
    impact, name = hits.values[0, 0].tolist()
    assert hits.scores.tolist() == [10 * (MIX.impact * impact + MIX.name * name + MIX.presence)]
    assert (hits.weights.tolist(), hits.frequencies.tolist()) == ([10, 99], [1, 0])


def test_hidden_records_change_nothing() -> None:
    hidden = [
        record(f"{place}{number}", "dapo " * 9, access=Access(tenant="other")) for place in "a~" for number in "12"
    ]
    asked = query("dapo", pinned=tuple(one.id for one in hidden), n=4)
    for vector in (None, vector_query(1, 0)):
        opened, private = (
            index.with_parts(arrived(index.parts, EMBEDDER, [new_vector(one) for one in (*hidden, *CATALOGUE)]).parts)
            for index in (index_of((*hidden, *CATALOGUE), 5), index_of(CATALOGUE, 5))
        )
        one = replace(asked, vector=vector, mix=MIX_OF_BOTH)
        assert plain(opened.search(one, never)) == plain(private.search(one, never))


def test_a_likeness_alone_makes_a_candidate() -> None:
    index = index_of(CATALOGUE[:3], 50)
    index = index.with_parts(arrived(index.parts, EMBEDDER, [new_vector(CATALOGUE[1])]).parts)
    asked = query("xaxo", vector=vector_query(1, -(10**7)), mix=MIX_OF_BOTH, pinned=("r02",))
    hits = index.search(asked, never)
    assert (hits.ids, hits.matched, hits.unembedded, hits.threshold) == (("r01", "r02"), 1, 2, -1)
    assert (hits.likenesses.tolist(), hits.scores.tolist()) == ([2047, 0], [900 * 2047, 0])


def test_an_empty_authorized_set_answers_without_touching_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(CATALOGUE, 5)
    monkeypatch.setattr("shards.term_rows.TermRows.of", None)
    monkeypatch.setattr("shards.pruned.top_rows", None)
    hits = index.search(query("dapo", scope=Scope(grants=())), never)
    assert (hits.outcome, hits.authorized, hits.ids) == (Outcome.COMPLETE, 0, ())
    assert (hits.values.shape, hits.frequencies.tolist(), hits.weights.tolist()) == ((0, 1, 2), [0], [0])


def test_an_index_without_records_answers() -> None:
    assert ShardIndex().search(query("dapo"), never).outcome is Outcome.COMPLETE
    assert ShardIndex().documents(DocumentRequest(scope=EVERYTHING, ids=("a",))) == ()


def test_a_long_scan_looks_at_the_clock_between_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shards.vectors._STEP_VALUES", 4 * DIMS)
    index = index_of(CATALOGUE, 50)
    index = index.with_parts(arrived(index.parts, EMBEDDER, [new_vector(one) for one in CATALOGUE]).parts)
    asked = query("dapo", vector=vector_query(1), mix=MIX_OF_BOTH)
    # Once each before authorization, frequencies and candidates, then before the second and third of three steps.
    for checks in range(5):
        left = [False] * checks + [True]
        assert index.search(asked, lambda: left.pop(0)).outcome is Outcome.EXPIRED  # noqa: B023 -- called at once
        assert left == []
    assert index.search(asked, never).outcome is Outcome.COMPLETE


@pytest.mark.parametrize("checks", range(4))
def test_time_that_runs_out_between_any_two_parts_gives_an_empty_expired_answer(checks: int) -> None:
    left = [False] * checks + [True]
    hits = index_of(CATALOGUE, 4).search(query("dapo"), lambda: left.pop(0))
    assert (hits.outcome, hits.ids, hits.authorized, hits.matched) == (Outcome.EXPIRED, (), 0, 0)
    assert (hits.threshold, hits.frequencies.tolist(), hits.values.shape) == (-1, [0], (0, 1, 2))


def test_time_that_runs_out_over_one_query_of_a_batch_ends_that_one_alone() -> None:
    index = index_of(CATALOGUE, 4)
    # Its caller is known after the first query, so that it is looked at twice: before rows are chosen by words, and
    # again before those that mention something are.
    mentioning = query("dapo", mentions=mentions_of((MentionField.NAME, "tool", 5)))
    for checks in range(2):
        left = [False] * checks + [True]
        late = replace(mentioning, remaining_ms=1.0)
        batch = (query("dapo"), late, mentioning)
        hits = index.search_batch(batch, lambda one: (lambda: left.pop(0)) if one is late else never)  # noqa: B023
        assert [one.outcome for one in hits] == [Outcome.COMPLETE, Outcome.EXPIRED, Outcome.COMPLETE]
        assert [plain(one) for one in hits[::2]] == [plain(index.search(one, never)) for one in batch[::2]]
        assert (hits[1].ids, hits[1].authorized, hits[1].frequencies.tolist()) == ((), 0, [0])


def test_queries_that_see_much_share_a_call_with_few_and_each_looks_at_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = index_of(CATALOGUE, 4)
    batch = [query("dapo")] * 5
    alone = index.search(batch[0], never)
    # Two of them fit into a call, so that the third and the fifth are looked at once more before theirs.
    monkeypatch.setattr(bundle, "MOST_ROWS", 2 * alone.authorized)
    looks: list[ShardQuery] = []
    index.search(batch[0], lambda: bool(looks.append(batch[0])))
    each, looks[:] = len(looks), []
    together = index.search_batch(batch, lambda one: lambda: bool(looks.append(one)))
    assert [plain(hits) for hits in together] == [plain(alone)] * 5
    assert len(looks) == 5 * each + 2


def test_a_scope_narrowed_by_a_list_uses_the_list_of_its_own_generation() -> None:
    scope = Scope(grants=(replace(ALL, grant_list="mine"),))
    before = index_of(CATALOGUE, 5, {"mine": ("r01",)})
    after = before.changed((), (), {"mine": ("r02", "r03")}, 2)
    assert before.search(query("dapo", scope=scope), never).ids == ("r01",)
    assert after.search(query("dapo", scope=scope), never).ids == ("r02", "r03")
    assert before.search(query("dapo", scope=scope), never).ids == ("r01",)
