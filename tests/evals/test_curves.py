"""Curves against hand-worked points and against the metric; dilution adds strangers and nothing else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from evals.curves import longest_list, recall_by_k, recall_by_n
from evals.dilution import diluting_tools, recall_by_size
from evals.evaluation import Plan
from evals.metrics import recall
from evals.run import Found, Outcome, Run
from tests.evals.catalogues import gold_set, question, setup, tool


def outcome(candidates: tuple[str, ...], relevant: set[str]) -> Outcome:
    found = Found(
        ranked=candidates[:2], scores=(), candidates=candidates, miss=None, exact=None, elapsed_ms=1.0
    )  # fmt: skip
    return Outcome(question=question("q", relevant), found=found, parity=None)


RUN = Run(
    system="s", identity={}, k=3, tools=4, joined=0, unknown_labels=0,
    outcomes=(outcome(("a", "b", "c", "d"), {"b", "d"}), outcome(("c",), {"c"}), outcome(("a",), set())),
)  # fmt: skip


def test_recall_by_k_is_worked_by_hand_and_stays_where_answers_end() -> None:
    # K=1: (0 + 1) / 2; K=2: (1/2 + 1) / 2; K=3: answers hold two records.
    assert recall_by_k(RUN) == [(1, 0.5), (2, 0.75), (3, 0.75)]


def test_recall_by_n_equals_the_metric_at_every_cut() -> None:
    answerable = [one for one in RUN.outcomes if one.question.relevant]
    curve = recall_by_n(RUN, 6)
    assert longest_list([RUN]) == 4
    assert curve == [
        (n, pytest.approx(sum(recall(one.found.candidates, one.question.relevant, n) for one in answerable) / 2))
        for n in range(1, 7)
    ]


def test_without_an_answerable_question_there_is_no_curve() -> None:
    unanswerable = Run(
        system="s", identity={}, k=3, tools=4, joined=0, unknown_labels=0, outcomes=(outcome(("a",), set()),)
    )
    assert recall_by_k(unanswerable) == []


@contextmanager
def silent(_title: str, _total: int) -> Iterator[Callable[[int], None]]:
    yield lambda _: None


def test_a_catalogue_grows_by_strangers_in_steps_and_recall_falls_where_they_look_alike() -> None:
    gold = gold_set([tool("a:pay", "pay"), tool("a:ask", "ask")], [question("pay", ["a:pay"])])
    rivals = [tool(f"b:pay_{number:03}", "pay pay") for number in range(30)]
    plan = Plan(systems=("lexical", "bm25"), setup=setup(), ks=(5,), cuts=(10,), parity=0)
    points = recall_by_size(gold, [*rivals, gold.tools[0]], 5, plan, silent)
    assert [(point.system, point.tools) for point in points] == [
        (system, size) for size in (2, 8, 32) for system in ("lexical", "bm25")
    ]
    assert points[0].recall == points[1].recall == 1.0
    assert points == recall_by_size(gold, [*rivals, gold.tools[0]], 5, plan, silent)


def test_without_anything_to_dilute_with_there_is_one_size() -> None:
    gold = gold_set([tool("a:pay", "pay")], [question("pay", ["a:pay"])])
    plan = Plan(systems=("lexical",), setup=setup(), ks=(5,), cuts=(10,), parity=0)
    assert [point.tools for point in recall_by_size(gold, (), 5, plan, silent)] == [1]


def test_diluting_tools_come_from_the_files_named(tmp_path: Path) -> None:
    path = tmp_path / "more.jsonl"
    path.write_bytes(orjson.dumps({"id": "x", "name": "x"}))
    assert [record.id for record in diluting_tools([path])] == ["x"]
