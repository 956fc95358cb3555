"""One shard against the oracle: rows, static values, frequencies, counts and threshold, and nothing hidden in any."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cluster.query import plan_query
from shards.messages import DocumentRequest, Outcome, ShardQuery
from shards.scope import Scope
from tests.depth import examples
from tests.indexes import RANKER, Ask, index_of, verdict_on
from tests.oracle import Oracle, postings_of
from tests.worlds import SENTINEL, Question, World, callers, hidden, questions, worlds


def shard_query(scope: Scope, question: Question, n: int) -> ShardQuery:
    plan = plan_query(question.text)
    return ShardQuery(
        scope=scope,
        terms=plan.terms,
        term_weights=plan.term_weights,
        mix=RANKER.mix(plan),
        mentions=plan.mentions,
        pinned=question.pinned,
        preferred=question.preferred,
        n=n,
        weights=None,
        remaining_ms=60_000.0,
        min_seq=0,
    )


@examples(40)
@given(
    world=worlds(),
    crowd=st.sampled_from((0, 1, 50)),
    asked=st.lists(st.tuples(callers, questions(), st.integers(1, 12)), min_size=1, max_size=6),
)
def test_rows_counts_and_threshold_are_those_of_the_oracle(
    world: World, crowd: int, asked: list[tuple[Scope, Question, int]], compared: Counter[str]
) -> None:
    oracle = Oracle((*world.records, *hidden(crowd)), world.grant_lists)
    (shard,) = index_of(world, more=hidden(crowd)).shards
    replies = shard.search(tuple(shard_query(*one) for one in asked))
    for (scope, question, n), hits in zip(asked, replies, strict=True):
        verdict = verdict_on(oracle, Ask(scope=scope, question=question))
        scores = dict(verdict.ranking)
        visible = {record.id for record in oracle.visible(scope)}
        top = [one for one, _ in verdict.ranking[:n]]
        kept = [one for one in dict.fromkeys((*question.pinned, *question.preferred)) if one in visible]
        left_out = [score for one, score in verdict.ranking if one not in {*top, *kept}]

        assert hits.outcome is Outcome.COMPLETE
        assert list(hits.ids[: len(top)]) == top
        assert sorted(hits.ids[len(top) :]) == sorted(set(kept) - set(top))
        assert hits.scores.tolist() == [scores.get(one, 0) for one in hits.ids]
        assert (hits.authorized, hits.matched) == (verdict.authorized, verdict.matched)
        assert tuple(hits.frequencies.tolist()) == verdict.frequencies
        assert hits.threshold == max(left_out, default=-1)
        terms = plan_query(question.text).terms
        held = [postings_of(oracle.records[one]) for one in hits.ids]
        assert hits.values.tolist() == [[list(row.get(term, (0, 0))) for term in terms] for row in held]
        assert hits.versions.tolist() == [oracle.records[one].version for one in hits.ids]
        compared["rows of a shard"] += len(hits.ids)


@examples(20)
@given(world=worlds(), scope=callers, asked=st.lists(st.integers(0, 39).map("r{:02d}".format), max_size=8))
def test_documents_are_those_of_asked_ids_that_are_visible(world: World, scope: Scope, asked: list[str]) -> None:
    oracle = Oracle((*world.records, *hidden(3)), world.grant_lists)
    (shard,) = index_of(world, more=hidden(3)).shards
    ids = (*asked, *(record.id for record in hidden(3)), "unknown")
    (found,) = shard.documents((DocumentRequest(scope=scope, ids=ids),))
    visible = {record.id: record for record in oracle.visible(scope)}
    assert {document.id: document.body for document in found} == {
        one: visible[one].to_json() for one in asked if one in visible
    }
    assert SENTINEL not in repr(found)
