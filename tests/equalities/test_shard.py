"""One shard against the oracle: rows, static values, frequencies, counts and threshold, and nothing hidden in any."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.query import plan_query
from shards.analyzer import name_key
from shards.mentions import MentionField, Mentions
from shards.messages import DocumentRequest, Outcome, ShardHits, ShardQuery
from shards.postings import Postings
from shards.scope import Scope
from tests.depth import examples
from tests.indexes import RANKER, index_of
from tests.oracle import Asked, Mentioned, Mix, Oracle, Verdict, postings_of
from tests.worlds import SENTINEL, WIDE, Question, World, callers, hidden, questions, worlds


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A question with mentions of its own: any field, any spelling, bonuses between the scores of terms and above."""

    scope: Scope
    question: Question
    mentions: tuple[Mentioned, ...]
    weights: bool
    n: int

    @property
    def query(self) -> ShardQuery:
        plan = plan_query(self.question.text)
        return ShardQuery(
            scope=self.scope,
            terms=plan.terms,
            term_weights=plan.term_weights,
            mix=RANKER.mix(plan),
            mentions=Mentions.of(
                {field: [(one.key, one.bonus) for one in self.mentions if one.field == field] for field in MentionField}
            ),
            pinned=self.question.pinned,
            preferred=self.question.preferred,
            n=self.n,
            weights=tuple(SECOND_ROUND[: len(plan.terms)]) if self.weights else None,
            remaining_ms=60_000.0,
            min_seq=0,
        )

    def verdict(self, oracle: Oracle) -> Verdict:
        query = self.query
        mix = Mix(impact=query.mix.impact, name=query.mix.name, presence=query.mix.presence)
        asked = Asked(
            terms=query.terms, weights=query.term_weights, mentions=self.mentions, mix=mix, given=query.weights
        )
        return oracle.judge(self.scope, asked)


SECOND_ROUND = (1, 2047, 90, 91, 500, 3, 700, 12)
"""Weights as a router might sum them over shards: they need not resemble the shard's own."""

MENTIONED = ("dapo", "veku", "keno fado", "keno_fado", "Hutu-Jomo", "goli", "molo ruxo", "zibu")
mentions = st.builds(
    Mentioned,
    field=st.sampled_from([field.value for field in MentionField]),
    key=st.sampled_from(MENTIONED).map(name_key),
    bonus=st.sampled_from((1, 700, 30_000, 200_000_000)),
)
drawn = st.builds(
    Drawn,
    scope=callers,
    question=questions(),
    mentions=st.lists(mentions, max_size=4).map(tuple),
    weights=st.booleans(),
    n=st.integers(1, 12),
)


@examples(40)
@given(world=worlds(), crowd=st.sampled_from((0, 1, 50)), asked=st.lists(drawn, min_size=1, max_size=6))
def test_rows_counts_and_threshold_are_those_of_the_oracle(
    world: World, crowd: int, asked: list[Drawn], compared: Counter[str]
) -> None:
    oracle = Oracle((*world.records, *hidden(crowd)), world.grant_lists)
    (shard,) = index_of(world, more=hidden(crowd)).shards
    replies = shard.search(tuple(one.query for one in asked))
    for one, hits in zip(asked, replies, strict=True):
        assert_hits(hits, one, oracle)
        compared["rows of a shard"] += len(hits.ids)


def assert_hits(hits: ShardHits, asked: Drawn, oracle: Oracle) -> None:
    verdict, query = asked.verdict(oracle), asked.query
    scores = dict(verdict.ranking)
    top = [one for one, _ in verdict.ranking[: asked.n]]
    kept = {one for one in (*query.pinned, *query.preferred) if oracle.sees(asked.scope, one)}
    left_out = [score for one, score in verdict.ranking if one not in {*top, *kept}]

    assert hits.outcome is Outcome.COMPLETE
    assert list(hits.ids[: len(top)]) == top
    assert sorted(hits.ids[len(top) :]) == sorted(kept - set(top))
    assert hits.scores.tolist() == [scores.get(one, 0) for one in hits.ids]
    assert (hits.authorized, hits.matched) == (verdict.authorized, verdict.matched)
    assert tuple(hits.frequencies.tolist()) == verdict.frequencies
    assert hits.threshold == max(left_out, default=-1)
    held = [postings_of(oracle.records[one]) for one in hits.ids]
    assert hits.values.tolist() == [[list(row.get(term, (0, 0))) for term in query.terms] for row in held]
    assert hits.versions.tolist() == [oracle.records[one].version for one in hits.ids]


def test_an_empty_authorized_set_is_answered_without_touching_a_posting(monkeypatch: pytest.MonkeyPatch) -> None:
    (shard,) = index_of(World(records=(), grant_lists={}), more=hidden(50)).shards
    touched: list[object] = []
    methods = [name for name, member in vars(Postings).items() if callable(member) and not name.startswith("__")]
    assert methods
    for name in methods:
        monkeypatch.setattr(Postings, name, lambda *arguments: touched.append(arguments))
    for scope in (Scope(grants=()), Scope(grants=(WIDE,))):
        asked = Drawn(scope=scope, question=Question(text="dapo veku"), mentions=(), weights=False, n=10)
        (hits,) = shard.search((asked.query,))
        assert (hits.authorized, hits.matched, hits.ids, hits.threshold) == (0, 0, (), -1)
    assert touched == []


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
