"""Ceilings hold for random budgets, also tight ones on tokens and bytes, and answers account for what they spent."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cluster.contract import EvidenceForm
from cluster.evidence import piece_of
from tests.depth import examples
from tests.equalities.asks import budgets
from tests.indexes import Ask, answers, index_of, verdict_on
from tests.oracle import Oracle
from tests.worlds import World, callers, questions, worlds

tight = st.builds(
    lambda base, tokens, json_bytes: replace(base, evidence_tokens=tokens, evidence_bytes=json_bytes),
    budgets,
    st.integers(1, 300),
    st.integers(1, 3000),
)
asks = st.builds(Ask, scope=callers, question=questions(), budget=st.one_of(budgets, tight))


@examples(30)
@given(world=worlds(), shards=st.integers(1, 3), asked=st.lists(asks, min_size=4, max_size=8))
def test_no_stage_exceeds_its_ceiling_and_spent_adds_up(
    world: World, shards: int, asked: list[Ask], compared: Counter[str]
) -> None:
    oracle = Oracle(world.records, world.grant_lists)
    for ask, answer in zip(asked, answers(index_of(world, shards=shards), asked), strict=True):
        caps, spent = ask.budget, answer.spent
        assert answer.budget == caps
        assert spent.candidates <= caps.candidate_k
        assert spent.reranked <= min(caps.rerank_k, spent.candidates)
        assert spent.evidence == len(answer.hits) <= caps.evidence_k
        assert spent.evidence_tokens == sum(hit.evidence.tokens for hit in answer.hits) <= caps.evidence_tokens
        assert spent.evidence_bytes == sum(len(hit.evidence.json) for hit in answer.hits) <= caps.evidence_bytes
        assert len({hit.record.id for hit in answer.hits}) == len(answer.hits)
        assert (answer.miss is None) == bool(answer.hits)
        assert (answer.plan is None) == (answer.miss is not None)
        best = dict(verdict_on(oracle, ask).ranking)
        assert all(hit.score == best.get(hit.record.id, 0) for hit in answer.hits)
        assert all(hit.score > 0 or hit.pinned for hit in answer.hits)
        for hit in answer.hits:
            if hit.form is EvidenceForm.FULL:
                assert hit.record == piece_of(oracle.records[hit.record.id].to_json())
            assert hit.similarity is None
            assert hit.score == hit.bonus + sum(part.score for part in hit.parts)
        compared["budgets"] += 1
