"""Drawn searches: any caller, any question, any ceilings on counts."""

from dataclasses import replace

from hypothesis import strategies as st

from cluster.budget import Budget
from tests.indexes import LOOSE, Ask
from tests.worlds import callers, questions


def budget(evidence_k: int, more_rerank: int, more_candidates: int) -> Budget:
    """Ceilings that rise from stage to stage, as a budget demands; tokens and time decide nothing."""
    rerank_k = evidence_k + more_rerank
    return replace(LOOSE, evidence_k=evidence_k, rerank_k=rerank_k, candidate_k=rerank_k + more_candidates)


budgets = st.builds(budget, st.integers(1, 12), st.integers(0, 20), st.integers(0, 60))
asks = st.builds(Ask, scope=callers, question=questions(), budget=budgets)
