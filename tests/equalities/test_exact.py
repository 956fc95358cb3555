"""``exact`` never lies: what claims it holds the top K of ranking everything; what cannot know it says so."""

from collections import Counter
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from cluster.query import AnalyzedRequest, plan_query
from cluster.ranker import Candidates
from shards.messages import ScoreMix
from shards.record import Access, Kind, Record
from shards.scope import Scope
from tests.depth import examples
from tests.equalities.asks import budget
from tests.indexes import RANKER, Ask, answers, index_of, verdict_on
from tests.oracle import Oracle, postings_of
from tests.worlds import WIDE, Question, World, callers, questions, worlds

small = st.builds(budget, st.integers(1, 6), st.integers(0, 4), st.integers(0, 8))
plain_questions = questions().map(lambda question: replace(question, pinned=(), preferred=()))
asks = st.builds(Ask, scope=callers, question=plain_questions, budget=small, explain=st.booleans())


class Nudged:
    """The built-in ranker plus ``step`` for records that hold an odd number of the terms: no sum over terms."""

    version = "nudged"

    def __init__(self, step: int, bound: int | None) -> None:
        self.step = step
        self.bound = bound

    def mix(self, request: AnalyzedRequest) -> ScoreMix:
        return RANKER.mix(request)

    def rank(self, request: AnalyzedRequest, candidates: Candidates) -> npt.NDArray[np.int64]:
        held = (candidates.values[:, :, 0] > 0).sum(axis=1)
        scores: npt.NDArray[np.int64] = RANKER.rank(request, candidates) + self.step * (held % 2)
        return scores


def alike(number: int) -> Record:
    return Record(
        id=f"r{number:02d}", kind=Kind.TOOL, name="dapo", namespace="", description="", access=Access(tenant="acme")
    )


def best_of_all(world: World, ask: Ask, step: int) -> list[tuple[str, int]]:
    """The top K by the nudged score over everything the caller may see."""
    oracle = Oracle(world.records, world.grant_lists)
    plan = plan_query(ask.question.text)
    asked = {*plan.terms, *oracle.meant(ask.scope, plan.terms, plan.term_weights)}
    nudged = [
        (one, score + step * (len(asked & postings_of(oracle.records[one]).keys()) % 2))
        for one, score in verdict_on(oracle, ask).ranking
    ]
    return sorted(nudged, key=lambda row: (-row[1], row[0]))[: ask.budget.evidence_k]


@examples(30)
@given(
    world=worlds(),
    shards=st.integers(1, 3),
    asked=st.lists(asks, min_size=4, max_size=8),
    step=st.sampled_from((20_000, 400_000, 500, 1, 0)),
)
def test_an_answer_that_claims_to_be_exact_equals_the_ranking_of_everything(
    world: World, shards: int, asked: list[Ask], step: int, compared: Counter[str]
) -> None:
    index = index_of(world, shards=shards, ranker=Nudged(step, bound=step))
    for ask, answer in zip(asked, answers(index, asked), strict=True):
        compared[f"exact claims, {'kept' if answer.exact else 'withheld'}"] += 1
        if answer.exact:
            assert [(hit.record.id, hit.score) for hit in answer.hits] == best_of_all(world, ask, step)
        else:
            assert step > 0


@examples(5)
@given(world=worlds(), asked=st.lists(asks, min_size=4, max_size=8))
def test_a_ranker_without_a_stated_bound_never_gives_an_exact_answer(world: World, asked: list[Ask]) -> None:
    index = index_of(world, ranker=Nudged(500, bound=None))
    for ask, answer in zip(asked, answers(index, asked), strict=True):
        assert not (answer.hits and answer.exact), ask


def test_the_cut_grows_until_a_bounded_ranker_is_proved_or_says_that_it_is_not() -> None:
    # 60 records that score alike: no cut below all of them separates a nudge of 1 from the rest.
    drawn = World(records=tuple(alike(number) for number in range(60)), grant_lists={})
    for candidates, exact in ((100, True), (40, False)):
        ask = Ask(scope=Scope(grants=(WIDE,)), question=Question(text="dapo veku"), budget=budget(5, candidates - 5, 0))
        (answer,) = answers(index_of(drawn, ranker=Nudged(1, bound=1)), [ask])
        assert (answer.exact, answer.spent.candidates) == (exact, min(60, candidates))
